// The members of a group, read once for all dumps that repeat them.
//
// Every dump lists the members of every group of its rank: with 16,384 ranks that are 100 kB of
// digits in each, nearly all bytes of a short dump. Long lists are therefore found by the bytes of
// their text, compared and not parsed, and shared by the pools of all parts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::inputs::flight_recorder {

class MemberList {
 public:
  struct Kept;

  MemberList() = default;
  // In any order.
  explicit MemberList(std::vector<int64_t> ranks);
  // Of the text "[0, 1, 2]"; without members when it is something else.
  static MemberList OfText(std::string_view text);

  // The members in order.
  ListId InternInto(Pools& pools) const;

 private:
  const Kept* kept_ = nullptr;  // lives as long as the program
  std::vector<int64_t> ranks_;  // unless kept_
};

}  // namespace debrief::inputs::flight_recorder

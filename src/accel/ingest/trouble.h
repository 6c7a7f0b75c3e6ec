// What was wrong with events of one file: counted by kind, the first of each kind with its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accel/pass.h"

namespace debrief::accel {

// Kinds that the reference leaves out as well; others stop it.
inline constexpr std::string_view kNoName = "has no name";
inline constexpr std::string_view kNoTime = "has no time (`ts`)";
inline constexpr std::string_view kNoDurationNumber = "has a duration (`dur`) that is no number";

class Trouble {
 public:
  // `what` stands behind "an event": "has no phase (`ph`)". `offset` is -1 where it is not known.
  void Add(std::string_view what, int64_t offset, int64_t count = 1);
  void Append(const Trouble& other);
  // A line a kind: "x.json: 3 events left out, it has no phase (`ph`) (the first at byte 17)".
  void Tell(std::string_view file, Console& console) const;
  bool StopsReference() const;

 private:
  struct Kind {
    std::string what;
    int64_t offset = -1;
    int64_t count = 0;
  };
  std::vector<Kind> kinds_;  // few
};

}  // namespace debrief::accel

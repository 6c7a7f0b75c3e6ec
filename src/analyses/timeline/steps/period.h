// A period in a sequence of names: where a name that occurs once a period stands.
//
//   a b b c  a b b c  a b b c        anchors a: 0 4 8, the same names between them each time
//
// A name is a candidate when it occurs three times or more, equally far apart. The best of them is
// believed when the names between its places are the same, order aside, for almost all periods and
// when these cover most of the sequence. Cost: linear, for at most kMostTried candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace debrief::analyses::timeline_steps {

inline constexpr size_t kMostTried = 16;

// Places of the anchors, in order; empty when there is no period. `names` are any numbers below
// `name_count`.
std::vector<size_t> FindAnchors(std::span<const uint32_t> names, size_t name_count);

}  // namespace debrief::analyses::timeline_steps

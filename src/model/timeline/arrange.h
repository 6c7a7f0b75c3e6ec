// The steps that turn the slices of a whole file, in the order of the file, into the order and with
// the links that tables.def promises. For TimelineJoiner; each is linear but for sorting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/model.h"

namespace debrief::timeline {

// timeline_slice.duration_ns of a begin or end event that waits for its partner.
inline constexpr int64_t kBegins = std::numeric_limits<int64_t>::min() + 1;
inline constexpr int64_t kEnds = std::numeric_limits<int64_t>::min() + 2;

// timeline_slice.depth of such an event whose external_id is that of its pair, and not of an op.
inline constexpr int32_t kPairedById = -1;

struct EdgeCounts;

// The open begin that an end closes, of those of its track from the outermost to the innermost: the
// innermost of its name, or else the innermost; end() where none is open. Only so many are looked
// at, since a file may be made to have thousands open.
template <typename T, typename HasName>
typename std::vector<T>::iterator BeginOf(std::vector<T>& open, HasName has_name) {
  constexpr size_t kMostTried = 64;
  const size_t tried = std::min(open.size(), kMostTried);
  for (size_t back = 1; back <= tried; ++back) {
    auto begin = open.end() - static_cast<std::ptrdiff_t>(back);
    if (has_name(*begin)) return begin;
  }
  return open.empty() ? open.end() : open.end() - 1;
}

// Gives begins the duration until their end. Ends stay, for SortSlices to drop. An end that stands
// right behind a begin of its track and name belongs to it: some writers put a slice down as a
// whole, so that those of one track may overlap. The others pair up like brackets in time; among
// the innermost that are open, one of the same name is preferred.
EdgeCounts PairEdges(TableSet& tables);

// Adds `by` to every time.
void ShiftTimes(int64_t by, TableSet& tables);

// Sorts by track, start and falling duration, drops ends, renumbers and sorts the tables of
// details, and tells every track where its slices lie.
void SortSlices(TableSet& tables);

// Fills parent and depth on threads.
void NestSlices(Part& whole);

// Binds arrows to the innermost slice that holds their time.
void BindFlows(Part& whole);

// Of all slices that are no spans of the profiler; none of none.
struct Extent {
  int64_t start_ns = kNone64;
  int64_t end_ns = kNone64;
};
Extent ExtentOfSlices(const Part& whole);

}  // namespace debrief::timeline

// Sets of time: sorted, disjoint half-open intervals [begin, end) of integer nanoseconds.
//
//   Union of what ran        ###  ####      ##
//   Intersect, Subtract      two such sets, by one merge                   linear
//
// Integers add up exactly: |A| = |A and B| + |A without B|, always.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace debrief {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t length() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

using IntervalSet = std::vector<Interval>;  // disjoint, sorted, none empty, none touching

// The set of all points in any of `intervals`, which come in any order and may overlap. Those that
// are empty or end before they begin are left out. Linear when they are sorted by begin.
IntervalSet Union(std::vector<Interval> intervals);

// Adds an interval that begins no earlier than all before it.
void AppendToUnion(IntervalSet& set, Interval interval);

IntervalSet Union(const IntervalSet& a, const IntervalSet& b);
IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b);
IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b);

// The part of `set` inside of `window`.
IntervalSet Clip(const IntervalSet& set, Interval window);

int64_t Length(std::span<const Interval> set);

}  // namespace debrief

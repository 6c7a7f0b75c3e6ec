#include "base/stats/intervals.h"

#include <algorithm>
#include <iterator>

namespace debrief {

namespace {

bool BeginsBefore(const Interval& a, const Interval& b) { return a.begin < b.begin; }

// The first interval of `set` that ends behind `time`.
IntervalSet::const_iterator FirstEndingAfter(const IntervalSet& set, int64_t time) {
  return std::partition_point(set.begin(), set.end(),
                              [&](const Interval& each) { return each.end <= time; });
}

}  // namespace

void AppendToUnion(IntervalSet& set, Interval interval) {
  if (interval.end <= interval.begin) return;
  if (set.empty() || interval.begin > set.back().end) {
    set.push_back(interval);
  } else {
    set.back().end = std::max(set.back().end, interval.end);
  }
}

IntervalSet Union(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), BeginsBefore))
    std::sort(intervals.begin(), intervals.end(), BeginsBefore);
  IntervalSet set;
  for (const Interval& each : intervals) AppendToUnion(set, each);
  return set;
}

IntervalSet Union(const IntervalSet& a, const IntervalSet& b) {
  std::vector<Interval> both;
  both.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), BeginsBefore);
  return Union(std::move(both));
}

IntervalSet Intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    int64_t begin = std::max(a[i].begin, b[j].begin);
    int64_t end = std::min(a[i].end, b[j].end);
    if (begin < end) both.push_back({begin, end});
    (a[i].end < b[j].end) ? ++i : ++j;
  }
  return both;
}

IntervalSet Subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet rest;
  size_t j = 0;
  for (Interval each : a) {
    while (j < b.size() && b[j].end <= each.begin) ++j;
    for (size_t k = j; k < b.size() && b[k].begin < each.end; ++k) {
      if (b[k].begin > each.begin) rest.push_back({each.begin, b[k].begin});
      each.begin = std::max(each.begin, b[k].end);
    }
    if (each.begin < each.end) rest.push_back(each);
  }
  return rest;
}

IntervalSet Clip(const IntervalSet& set, Interval window) {
  IntervalSet inside;
  for (auto each = FirstEndingAfter(set, window.begin);
       each != set.end() && each->begin < window.end; ++each) {
    inside.push_back({std::max(each->begin, window.begin), std::min(each->end, window.end)});
  }
  return inside;
}

int64_t Length(std::span<const Interval> set) {
  int64_t length = 0;
  for (const Interval& each : set) length += each.length();
  return length;
}

}  // namespace debrief

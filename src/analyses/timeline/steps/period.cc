#include "analyses/timeline/steps/period.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace debrief::analyses::timeline_steps {

namespace {

constexpr size_t kFewestAnchors = 4;    // three periods between them
constexpr size_t kShortestPeriod = 4;   // of fewer names no more is known than that one repeats
constexpr size_t kGapTolerance = 10;    // distances differ by a tenth of the shortest at most
constexpr size_t kNameTolerance = 20;   // a twentieth of the names may differ between periods
constexpr size_t kOddPeriods = 10;      // one period in ten may differ more
constexpr double kCoveredShare = 0.75;  // of the sequence, by the periods

struct Candidate {
  uint32_t name = 0;
  size_t count = 0, first = 0, last = 0;
  size_t shortest = static_cast<size_t>(-1), longest = 0;  // distance of neighbours

  size_t covered() const { return last - first; }
  bool IsEven() const {
    return count >= kFewestAnchors && shortest >= kShortestPeriod &&
           (longest - shortest) * kGapTolerance <= shortest;
  }
};

std::vector<Candidate> Distances(std::span<const uint32_t> names, size_t name_count) {
  std::vector<Candidate> all(name_count);
  for (size_t i = 0; i < names.size(); ++i) {
    Candidate& each = all[names[i]];
    if (each.count++ == 0) {
      each.name = names[i];
      each.first = i;
    } else {
      each.shortest = std::min(each.shortest, i - each.last);
      each.longest = std::max(each.longest, i - each.last);
    }
    each.last = i;
  }
  return all;
}

// Even ones that cover enough; those of the longest period first: what repeats within a step must
// not be taken for steps.
std::vector<Candidate> Candidates(std::span<const uint32_t> names, size_t name_count) {
  std::vector<Candidate> all = Distances(names, name_count);
  std::erase_if(all, [&](const Candidate& each) {
    return !each.IsEven() ||
           static_cast<double>(each.covered()) < kCoveredShare * static_cast<double>(names.size());
  });
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.count, a.first) < std::tuple(b.count, b.first);
  });
  if (all.size() > kMostTried) all.resize(kMostTried);
  return all;
}

std::vector<size_t> PlacesOf(std::span<const uint32_t> names, uint32_t name) {
  std::vector<size_t> places;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) places.push_back(i);
  }
  return places;
}

// How many names two periods do not share, order aside. `counts` is all zero before and after.
size_t Difference(std::span<const uint32_t> a, std::span<const uint32_t> b,
                  std::vector<int32_t>& counts) {
  for (uint32_t name : a) ++counts[name];
  for (uint32_t name : b) --counts[name];
  size_t difference = 0;
  for (auto period : {a, b}) {
    for (uint32_t name : period) {
      difference += static_cast<size_t>(std::abs(counts[name]));
      counts[name] = 0;
    }
  }
  return difference;
}

// Each period is compared with the one before it.
bool AreAlike(std::span<const uint32_t> names, const std::vector<size_t>& places,
              std::vector<int32_t>& counts) {
  size_t odd = 0, periods = places.size() - 1;
  for (size_t i = 2; i < places.size(); ++i) {
    auto before = names.subspan(places[i - 2], places[i - 1] - places[i - 2]);
    auto period = names.subspan(places[i - 1], places[i] - places[i - 1]);
    if (Difference(before, period, counts) * kNameTolerance > before.size() + period.size()) ++odd;
  }
  return odd * kOddPeriods <= periods;
}

}  // namespace

std::vector<size_t> FindAnchors(std::span<const uint32_t> names, size_t name_count) {
  std::vector<int32_t> counts(name_count, 0);
  for (const Candidate& candidate : Candidates(names, name_count)) {
    std::vector<size_t> places = PlacesOf(names, candidate.name);
    if (AreAlike(names, places, counts)) return places;
  }
  return {};
}

}  // namespace debrief::analyses::timeline_steps

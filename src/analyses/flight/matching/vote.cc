#include "analyses/flight/matching/vote.h"

#include <algorithm>
#include <map>
#include <optional>

namespace debrief::analyses::flight {

namespace {

// A share of cases, or nothing when there are none.
struct Share {
  int64_t yes = 0;
  int64_t all = 0;
  void Add(bool is_yes) {
    ++all;
    yes += is_yes;
  }
  double value() const {
    return all == 0 ? 0 : static_cast<double>(yes) / static_cast<double>(all);
  }
};

// Groups of the same description and size, itself included. A few hundred tell all there is.
std::span<const int32_t> SiblingsOf(const Index& index, const Group& group) {
  constexpr size_t kMost = 512;
  std::span<const int32_t> alike = index.Alike(group);
  return alike.first(std::min(alike.size(), kMost));
}

// Do sibling groups do the same at this sequence number?
Share Siblings(const Index& index, const Group& group, const Unit& unit) {
  Share share;
  for (int32_t sibling : SiblingsOf(index, group)) {
    const Group& other = index.GroupAt(sibling);
    const SeqRow* row = &group == &other ? nullptr : index.FindRow(other, unit.seq);
    if (row == nullptr) continue;
    for (int32_t at : index.UnitsOf(other, *row)) {
      share.Add(index.UnitAt(at).signature == unit.signature);
    }
  }
  return share;
}

// The signatures of one rank in one group, up to and including `unit`.
std::vector<Signature> Past(const Index& index, const Unit& unit) {
  std::vector<Signature> past;
  for (const Unit& other : index.UnitsOf(unit.rank)) {
    if (other.group == unit.group && !other.p2p) past.push_back(other.signature);
    if (&other == &unit) break;
  }
  return past;
}

// After the same few ops in its own past, did the rank go on in the same way? The longest context
// that occurred before decides.
Share OwnHabit(const Index& index, const Unit& unit) {
  std::vector<Signature> past = Past(index, unit);
  size_t now = past.size() - 1;
  for (size_t length : {size_t{8}, size_t{4}, size_t{2}, size_t{1}}) {
    Share share;
    if (now < length) continue;
    auto context = past.begin() + static_cast<std::ptrdiff_t>(now - length);
    for (size_t i = length; i < now; ++i) {
      auto before = past.begin() + static_cast<std::ptrdiff_t>(i - length);
      if (std::equal(before, before + static_cast<std::ptrdiff_t>(length), context)) {
        share.Add(past[i] == unit.signature);
      }
    }
    if (share.all > 0) return share;
  }
  return {};
}

struct Elsewhere {
  Share same_line;     // other calls from the same stack
  bool known = false;  // anybody ever did this in groups of that description
};

Elsewhere LookElsewhere(const Index& index, const Group& group, const Unit& unit) {
  Elsewhere elsewhere;
  StackId site = index.Site(unit);
  for (const Unit& other : index.units) {
    const Group& its = index.GroupOf(other);
    if (other.p2p || its.description != group.description ||
        (other.group == unit.group && other.seq == unit.seq)) {
      continue;
    }
    bool same = other.signature == unit.signature;
    elsewhere.known |= same;
    if (site != StackId::kNone && index.Site(other) == site) elsewhere.same_line.Add(same);
  }
  return elsewhere;
}

double Usualness(const Index& index, const Group& group, const Unit& unit) {
  Elsewhere elsewhere = LookElsewhere(index, group, unit);
  return 2 * Siblings(index, group, unit).value() + OwnHabit(index, unit).value() +
         elsewhere.same_line.value() + (elsewhere.known ? 0.5 : 0);
}

// What more than half of the members did; of many members what most did, since looking into the
// past of hundreds costs too much.
std::optional<Signature> Majority(const Index& index, std::span<const int32_t> row) {
  constexpr size_t kMany = 16;
  std::map<Signature, size_t> counts;
  for (int32_t at : row) ++counts[index.UnitAt(at).signature];
  auto most = std::max_element(counts.begin(), counts.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  bool clear = most->second * 2 > row.size() || row.size() > kMany;
  return clear ? std::optional(most->first) : std::nullopt;
}

Verdict ByMajority(const Index& index, std::span<const int32_t> row, Signature majority) {
  Verdict verdict;
  verdict.by_majority = true;
  for (int32_t at : row) {
    if (index.UnitAt(at).signature != majority) {
      verdict.blamed.push_back(at);
    } else if (verdict.reference < 0) {
      verdict.reference = at;
    }
  }
  return verdict;
}

Verdict ByUsualness(const Index& index, const Group& group, std::span<const int32_t> row) {
  constexpr double kClear = 0.25;  // a smaller difference tells nothing
  Verdict verdict;
  std::map<Signature, double> scores;  // a call is as usual as it is for any who made it
  double best = -1;
  for (int32_t at : row) {
    const Unit& unit = index.UnitAt(at);
    double score = Usualness(index, group, unit);
    double& known = scores.try_emplace(unit.signature, score).first->second;
    known = std::max(known, score);
    if (score > best) verdict.reference = at;
    best = std::max(best, score);
  }
  for (int32_t at : row) {
    if (scores[index.UnitAt(at).signature] < best - kClear) verdict.blamed.push_back(at);
  }
  if (verdict.blamed.empty()) {
    verdict.undecided = true;
    verdict.blamed.assign(row.begin(), row.end());
  }
  return verdict;
}

}  // namespace

// Members whose region is cut have no vote, and nobody can blame them.
Verdict Vote(const Index& index, const Group& group, const SeqRow& row) {
  std::vector<int32_t> units;
  for (int32_t at : index.UnitsOf(group, row)) {
    if (index.UnitAt(at).signature != Signature{}) units.push_back(at);
  }
  if (auto majority = Majority(index, units)) return ByMajority(index, units, *majority);
  return ByUsualness(index, group, units);
}

int32_t OddOneOut(const Index& index, const Group& group, const Unit& unit, size_t& looks) {
  constexpr size_t kMostLooks = 1024;  // into the past of a rank
  Share siblings = Siblings(index, group, unit);
  if (siblings.all < 2 || siblings.yes > 0 || ++looks > kMostLooks) return -1;
  Share habit = OwnHabit(index, unit);
  if (habit.all == 0 || habit.yes > 0) return -1;
  for (int32_t sibling : SiblingsOf(index, group)) {
    const Group& other = index.GroupAt(sibling);
    const SeqRow* row = &group == &other ? nullptr : index.FindRow(other, unit.seq);
    if (row != nullptr) return index.UnitsOf(other, *row).front();
  }
  return -1;
}

}  // namespace debrief::analyses::flight

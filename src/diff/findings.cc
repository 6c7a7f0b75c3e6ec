// Findings that appeared, are gone, or weigh differently.
//
// Two findings are the same when rule, ranks, groups, op and lines of source are: numbers inside of
// headlines change from run to run. What is merely told (info) often names the worst of many ranks,
// which chance decides: of those the rule alone is enough.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/strings.h"
#include "diff/run_diff.h"

namespace debrief::diff {

namespace {

bool ConcernsSide(const Finding& finding, const Side& side) {
  if (!side.compile_id.empty() || !side.HasAttempt(finding.attempt)) return false;
  if (finding.ranks.empty()) return true;
  return std::any_of(finding.ranks.begin(), finding.ranks.end(),
                     [&](int32_t rank) { return side.Has(rank); });
}

std::string KeyOf(const Finding& finding, const Side& side) {
  std::string key = finding.rule + "|" + finding.op;
  if (side.rank == kNone32)
    for (int32_t rank : finding.ranks) key += fmt::format("|r{}", rank);
  for (const GroupRef& group : finding.groups) {
    key += "|g" + (group.desc.empty() ? group.name : group.desc);
    if (side.rank == kNone32)
      for (int32_t rank : group.ranks) key += fmt::format(",{}", rank);
  }
  for (const SourceLine& line : finding.source)
    key += fmt::format("|{}:{}", FileName(line.file), line.line);
  return key;
}

using Found = std::vector<const Finding*>;

Found FindingsOf(const Side& side) {
  Found found;
  for (const Finding& finding : side.model.findings)
    if (ConcernsSide(finding, side)) found.push_back(&finding);
  return found;
}

class Matcher {
 public:
  Matcher(const Side& a, const Side& b)
      : a_(a), b_(b), left_a_(FindingsOf(a)), left_b_(FindingsOf(b)) {}

  std::vector<Row> Match() {
    Pair([this](const Finding& f, bool first) { return KeyOf(f, first ? a_ : b_); });
    // What weighs more gets keys that the other side cannot have.
    Pair([](const Finding& f, bool first) {
      return f.severity == Severity::kInfo ? f.rule : std::string(first ? "|a" : "|b");
    });
    for (const Finding* finding : left_b_) Add("new", *finding);
    for (const Finding* finding : left_a_) Add("gone", *finding);
    return std::move(rows_);
  }

 private:
  // Takes out of both lists what has the same key.
  template <typename Key>
  void Pair(Key key) {
    std::multimap<std::string, const Finding*> of_a;
    for (const Finding* finding : left_a_) of_a.emplace(key(*finding, true), finding);
    Found rest;
    for (const Finding* finding : left_b_) {
      auto same = of_a.find(key(*finding, false));
      if (same == of_a.end()) {
        rest.push_back(finding);
        continue;
      }
      if (same->second->severity != finding->severity) AddChanged(*same->second, *finding);
      left_a_.erase(std::find(left_a_.begin(), left_a_.end(), same->second));
      of_a.erase(same);
    }
    left_b_ = std::move(rest);
  }

  void Add(std::string_view change, const Finding& finding) {
    rows_.push_back({.change = std::string(change),
                     .name = finding.headline,
                     .ranks = finding.ranks,
                     .note = std::string(SeverityName(finding.severity))});
  }

  void AddChanged(const Finding& before, const Finding& now) {
    Add("changed", now);
    rows_.back().note =
        fmt::format("{} -> {}", SeverityName(before.severity), SeverityName(now.severity));
  }

  const Side& a_;
  const Side& b_;
  Found left_a_, left_b_;
  std::vector<Row> rows_;
};

}  // namespace

void DiffFindings(const Side& a, const Side& b, RunDiff& diff) {
  AddSection("findings", "Findings", Matcher(a, b).Match(), diff);
}

}  // namespace debrief::diff

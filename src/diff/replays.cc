// What replays of both runs say a step would gain without a straggler, without waiting for data and
// so on: a gain that B has and A has not is what makes B's steps longer.
//
// A gain is a difference between two steps, so it scatters as steps do: what their noise covers is
// not told.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "diff/run_diff.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"

namespace debrief::diff {

namespace {

constexpr int64_t kSmallestGainPercent = 2;  // of a step of A
constexpr int64_t kLeastPart = 1000;         // of a step: a smaller gain is none

// Those that name a cause. Links or kernels of one name do not.
constexpr std::array<std::string_view, 9> kCauses = {
    "rank", "even", "stage", "overlap", "data", "compile", "allocation", "sync", "host"};

struct ReplayedRun {
  int64_t step_ns = 0;  // 0: not replayed
  std::map<std::string, int64_t> gains;
  std::map<std::string, int32_t> ranks;  // of changes to one rank
};

ReplayedRun ReplayedRunOf(const Side& side) {
  ReplayedRun run;
  const auto& jobs = side.model.tables.Get<WhatIfJobTable>();
  for (size_t row = 0; row < jobs.size(); ++row) {
    const bool is_replayed =
        side.Text(jobs.source[row]) == "profiles" && jobs.replayed_ns[row] != kNone64;
    if (is_replayed && side.HasAttempt(jobs.attempt[row])) run.step_ns = jobs.replayed_ns[row];
  }
  const auto& changes = side.model.tables.Get<WhatIfChangeTable>();
  for (size_t row = 0; row < changes.size(); ++row) {
    if (!side.HasAttempt(changes.attempt[row]) || !side.Has(changes.worker_rank[row])) continue;
    if (std::ranges::find(kCauses, side.Text(changes.kind[row])) == kCauses.end()) continue;
    const std::string name(side.Text(changes.name[row]));
    const bool is_nothing = changes.gain_ns[row] < run.step_ns / kLeastPart;
    run.gains[name] = is_nothing ? 0 : changes.gain_ns[row];
    if (changes.worker_rank[row] != kNone32) run.ranks[name] = changes.worker_rank[row];
  }
  return run;
}

}  // namespace

void DiffReplays(const Side& a, const Side& b, RunDiff& diff) {
  // Two ranks of one run were replayed together.
  if (a.rank != kNone32 || b.rank != kNone32 || !diff.steps) return;
  const ReplayedRun of_a = ReplayedRunOf(a), of_b = ReplayedRunOf(b);
  const int64_t noise = diff.steps->job.total.noise;
  if (of_a.step_ns == 0 || of_b.step_ns == 0 || noise == kNone64) return;
  std::map<std::string, Change> gains;
  for (const auto& [name, ns] : of_a.gains) gains[name].a = ns;
  for (const auto& [name, ns] : of_b.gains) gains[name].b = ns;
  const int64_t least = std::max(noise, PercentOf(of_a.step_ns, kSmallestGainPercent));
  std::vector<Row> rows;
  for (auto& [name, change] : gains) {
    change.noise = least;
    change.is_real = std::abs(change.difference()) > least;
    if (!change.is_real) continue;
    Row row = RowOf(name, Unit::kNanoseconds, change);
    for (const auto* ranks : {&of_a.ranks, &of_b.ranks}) {
      const auto found = ranks->find(name);
      if (found == ranks->end()) continue;
      row.name = "like the other ranks";
      row.ranks = {found->second};
    }
    rows.push_back(std::move(row));
  }
  AddSection("replays", "What a step would gain by a change (replayed)", std::move(rows), diff);
}

}  // namespace debrief::diff

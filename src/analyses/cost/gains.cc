#include "analyses/cost/gains.h"

#include <algorithm>

#include "analyses/cost/fixes.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"

namespace debrief::analyses::cost {

namespace {

constexpr std::string_view kHostPart = "host", kKernelPart = "kernels";

// The replay without idle time of a reason.
std::string_view KindOfIdle(State reason) {
  switch (reason) {
    case State::kData:
      return "data";
    case State::kSync:
      return "sync";
    case State::kAllocation:
      return "allocation";
    case State::kHost:
      return "host";
    default:
      return {};
  }
}

}  // namespace

ReplayedGains::ReplayedGains(const Model& model, int32_t job, int32_t attempt) {
  const auto& jobs = model.tables.Get<WhatIfJobTable>();
  for (size_t row = 0; row < jobs.size(); ++row) {
    if (jobs.job[row] != job || jobs.attempt[row] != attempt) continue;
    if (model.pools.Text(jobs.source[row]) != "profiles" || jobs.replayed_ns[row] == kNone64)
      continue;
    steps_ = jobs.steps[row];
    step_ns_ = jobs.replayed_ns[row];
    ranks_ = static_cast<size_t>(jobs.workers[row]);
  }
  least_of_ranks_ = step_ns_;
  const auto& changes = model.tables.Get<WhatIfChangeTable>();
  for (size_t row = 0; exists() && row < changes.size(); ++row) {
    if (changes.job[row] != job || changes.attempt[row] != attempt) continue;
    const int64_t gain = std::max<int64_t>(0, changes.gain_ns[row]);
    const std::string_view kind = model.pools.Text(changes.kind[row]);
    if (kind == "rank") least_of_ranks_ = std::min(least_of_ranks_, gain);
    if (kind == "rank" || kind == "rank_part")
      by_rank_.emplace(std::pair(changes.worker_rank[row], model.pools.Text(changes.part[row])),
                       gain);
    else
      by_kind_.emplace(kind, gain);
  }
}

std::optional<int64_t> ReplayedGains::OfRank(const FixKey& key) const {
  const bool is_compute = key.reason == State::kCompute;
  const bool is_other = key.reason == State::kTransfer || key.reason == State::kPace;
  const std::string_view part = is_compute ? kKernelPart : is_other ? "" : kHostPart;
  for (std::string_view each : {part, std::string_view()}) {
    const auto found = by_rank_.find({key.culprit, each});
    if (found != by_rank_.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<int64_t> ReplayedGains::GainOf(const FixKey& key) const {
  if (!exists()) return std::nullopt;
  if (key.kind == FixKind::kLateRank) return OfRank(key);
  const std::string_view kind = key.kind == FixKind::kCompile
                                    ? "compile"
                                    : (key.kind == FixKind::kIdle ? KindOfIdle(key.reason) : "");
  const auto found = by_kind_.find(kind);
  if (found == by_kind_.end()) return std::nullopt;
  return found->second;
}

}  // namespace debrief::analyses::cost

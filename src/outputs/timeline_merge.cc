#include "outputs/timeline_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_process.h"

namespace debrief {

namespace {

void ApplyClock(const Model& model, MergedTimeline& merged) {
  const auto& clocks = model.tables.Get<TimelineClockTable>();
  const auto& timelines = model.tables.Get<TimelineTable>();
  const int64_t start = timelines.start_ns[merged.view.row];
  const int64_t end = timelines.end_ns[merged.view.row];
  if (start != kNone64 && end != kNone64) merged.middle_ns = start + (end - start) / 2;
  for (size_t row = 0; row < clocks.size(); ++row) {
    if (clocks.input[row] != merged.view.who.input || clocks.offset_ns[row] == kNone64) continue;
    merged.offset_ns = clocks.offset_ns[row];
    if (std::isfinite(clocks.drift_ppb[row])) merged.drift = clocks.drift_ppb[row] * 1e-9;
  }
}

// One more than the largest id of a timeline.
int64_t IdsOf(const timeline::TimelineView& view) {
  int64_t most = 0;
  for (int64_t id : view.correlation) most = std::max(most, id);
  for (int64_t id : view.external_id) most = std::max(most, id);
  const auto& flows = view.model.tables.Get<TimelineFlowTable>();
  for (size_t row = view.flows.begin; row < view.flows.end; ++row)
    most = std::max(most, flows.id[row]);
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  for (size_t row = view.ops.begin; row < view.ops.end; ++row)
    most = std::max(most, ops.sequence[row]);
  // Ids are small or hashes; above this there is nothing to be moved out of the way.
  constexpr int64_t kMostIds = int64_t{1} << 44;
  return std::min(most, kMostIds) + 1;
}

}  // namespace

std::string RankName(const Identity& who) {
  return who.rank == kNone32 ? fmt::format("input {}", who.input)
                             : fmt::format("rank {}", who.rank);
}

int64_t MergedTimeline::TimeOf(int64_t time) const {
  if (drift == 0) return time + offset_ns;
  return time + offset_ns + std::llround(static_cast<double>(time - middle_ns) * drift);
}

bool MergedTimeline::IsIdKey(std::string_view key) {
  return key == "Sequence number" || key == "wait_on_cuda_event_record_corr_id";
}

std::vector<MergedTimeline> MergeTimelines(const Model& model) {
  std::vector<MergedTimeline> all;
  int64_t ids = 0;
  int32_t processes = 0, tracks = 0;
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    MergedTimeline& merged = all.emplace_back(view);
    ApplyClock(model, merged);
    merged.first_id = ids;
    merged.first_process = processes;
    merged.first_track = tracks;
    ids += IdsOf(view);
    processes += static_cast<int32_t>(
        timeline::RowsOf(model.tables.Get<TimelineProcessTable>(), view.who.input).size());
    tracks += static_cast<int32_t>(view.tracks.size());
  }
  if (all.size() < 2) return all;
  for (MergedTimeline& merged : all) {
    const Identity& who = merged.view.who;
    merged.name_prefix = RankName(who) + ": ";
    // Two timelines may be of the same rank: the input tells them apart.
    const bool is_first = std::none_of(&all.front(), &merged, [&](const MergedTimeline& other) {
      return other.view.who.rank == who.rank;
    });
    const bool is_known = who.rank != kNone32 && is_first;
    merged.pid_prefix = is_known ? fmt::format("{}:", who.rank) : fmt::format("i{}:", who.input);
  }
  return all;
}

}  // namespace debrief

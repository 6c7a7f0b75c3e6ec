// How long does it take from a launch to its work, and how many launches wait?
//
// A long delay with a deep queue is good: the host is ahead. Short delays and an empty queue mean
// that the device waits for the host. Cost: sorts the launches.
#include "analyses/analysis.h"

#include "analyses/profile/launches/launches.h"
#include "base/stats/statistics.h"
#include "compat/hta/tables.h"
#include "model/timeline/view.h"
#include "tables/profile_launch_stats.h"
#include "tables/profile_queue.h"
#include "tables/timeline_launch.h"

namespace debrief::analyses::profile_launches {

namespace {

using timeline::TimelineView;

// One for each call: the first stream of a graph stands for all.
std::vector<Launch> OnePerCall(const std::vector<Launch>& launches) {
  std::vector<Launch> calls;
  for (const Launch& launch : launches) {
    if (calls.empty() || calls.back().call != launch.call) {
      calls.push_back(launch);
    } else {
      calls.back().work_start = std::min(calls.back().work_start, launch.work_start);
      calls.back().work_time += launch.work_time;
    }
  }
  return calls;
}

class Writer {
 public:
  Writer(const TimelineView& view, Part& part) : view_(view), part_(part) {}

  ProfileLaunchStatsRow StatsRow(std::string_view definition, LaunchStats stats) {
    auto row = NewRow<ProfileLaunchStatsRow>(definition);
    const Summary delays = Summarise(stats.delays);
    row.launches = stats.launches;
    row.short_works = stats.short_works;
    row.slow_calls = stats.slow_calls;
    row.slow_starts = stats.slow_starts;
    row.mean_delay_ns = delays.mean;
    if (definition == "hta" || stats.launches == 0) return row;
    row.median_delay_ns = delays.median;
    row.max_delay_ns = delays.max;
    return row;
  }

  void Add(const ProfileLaunchStatsRow& row) {
    part_.tables.Edit<ProfileLaunchStatsTable>().Add(row);
  }

  void AddQueues(std::string_view definition, const std::vector<Launch>& launches) {
    for (const Queue& queue : QueuesOf(launches)) {
      auto row = NewRow<ProfileQueueRow>(definition);
      row.device = queue.device;
      row.stream = queue.stream;
      row.launches = queue.launches;
      row.max_depth = queue.max_depth;
      if (queue.span > 0) row.mean_depth = queue.depth_time / static_cast<double>(queue.span);
      row.full_ns = queue.full_time;
      row.span_ns = queue.span;
      part_.tables.Edit<ProfileQueueTable>().Add(row);
    }
  }

 private:
  template <typename Row>
  Row NewRow(std::string_view definition) {
    auto row = view_.NewRow<Row>();
    row.definition = part_.pools.Intern(definition);
    return row;
  }

  const TimelineView& view_;
  Part& part_;
};

Status Run(const Model& model, AnalysisResult& result) {
  hta::Names hta_names(model);
  for (const TimelineView& view : timeline::Timelines(model)) {
    Writer writer(view, result.part);
    const Launches ours = LaunchesOf(view);
    if (ours.launches.empty() && ours.unlinked == 0) continue;  // nothing ran on a device
    auto stats = writer.StatsRow("debrief", StatsOf(OnePerCall(ours.launches)));
    stats.unlinked = ours.unlinked;
    writer.Add(stats);
    writer.AddQueues("debrief", ours.launches);
    writer.AddQueues("debrief", QueuedWorksOf(view));
    const hta::Launches theirs = hta::LaunchesOf(view, hta_names);
    writer.Add(writer.StatsRow("hta", StatsOf(theirs.for_statistics)));
    writer.AddQueues("hta", theirs.for_queues);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_launches",
               .scope = AnalysisScope::kRank,
               .sentence = "How long from a launch to its work, and how many launches wait?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineLaunchTable>,
               .makes = kTableNames<ProfileLaunchStatsTable, ProfileQueueTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_launches

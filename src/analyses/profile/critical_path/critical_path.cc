// What makes the last whole step as long as it is? Its critical path: the host, kernels,
// communication, or the time between a launch and its kernel.
//
// A step's path ends with the last thing that it launched and leads back to its beginning. Without
// the profiler's synchronisation events it is not known what waits for what on several streams:
// then there is no path, and the reason is told. Cost: linear in the slices of the step, a sort of
// the work on devices.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/profile/critical_path/path.h"
#include "base/text/strings.h"
#include "model/timeline/launches.h"
#include "model/timeline/view.h"
#include "tables/profile_critical_path.h"
#include "tables/profile_critical_summary.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_critical_path {

namespace {

using timeline::TimelineView;

struct Window {
  int32_t step = kNone32;  // kNone32: the whole timeline
  Interval host;           // calls that begin in it, work that was launched in it or before
  Interval time;           // until the last of that work is done
};

// The last step that the recording did not cut.
std::optional<Window> LastStep(const TimelineView& view) {
  const auto& steps = view.model.tables.Get<TimelineStepTable>();
  const timeline::RowRange rows = timeline::RowsOf(steps, view.who.input);
  for (size_t row = rows.end; row-- > rows.begin;) {
    if (!steps.whole[row] || steps.start_ns[row] >= steps.end_ns[row]) continue;
    const Interval host = {steps.start_ns[row], steps.end_ns[row]};
    const int64_t end = std::max(host.end, steps.device_end_ns[row]);
    return Window{steps.step[row], host, {host.begin, end}};
  }
  return std::nullopt;
}

Window WindowOf(const TimelineView& view) {
  if (auto step = LastStep(view)) return *step;
  const auto& timelines = view.model.tables.Get<TimelineTable>();
  const Interval all = {timelines.start_ns[view.row], timelines.end_ns[view.row]};
  return {kNone32, all, all};
}

// A call that waits for a stream or an event without telling for which; null when there is none.
std::string_view UntoldWait(const TimelineView& view, Interval host) {
  timeline::OfName<bool> waits(view.model.pools, [](std::string_view name) {
    return Contains(name, "StreamSynchronize") || Contains(name, "EventSynchronize");
  });
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    if (view.kind[at] != view.kinds.runtime || view.start[at] < host.begin ||
        view.start[at] >= host.end)
      continue;
    if (waits(view.name[at])) return view.NameOf(slice);
  }
  return {};
}

struct Verdict {
  bool is_computable = false;
  std::string reason;
};

constexpr std::string_view kHowToRecord =
    "record with torch.profiler.profile(experimental_config=torch._C._profiler._ExperimentalConfig("
    "enable_cuda_sync_events=True))";

Verdict Judge(const TimelineView& view, const timeline::DeviceClasses& classes,
              const Window& window, const HostRuns& host, const DeviceOrder& devices) {
  if (host.empty() && devices.works().empty()) return {false, "nothing ran in the window"};
  if (devices.works().empty()) return {true, "no work on a device: the order of calls of the host"};
  if (devices.linked() == 0)
    return {false,
            "no launch of any work on a device is shown: when the host let it begin is not "
            "known"};
  const auto unseen =
      timeline::UnseenGraphLaunches(view, timeline::DeviceWorksOf(view, classes).works);
  if (timeline::AnyWithin(unseen, window.host.begin, window.host.end))
    return {false, "a graph was launched whose kernels the timeline does not show"};
  if (devices.has_sync_events()) return {true, "launches, streams and synchronisation events"};
  if (devices.streams() > 1)
    return {
        false,
        fmt::format("work on {} streams and no synchronisation events (category cuda_sync): what "
                    "waits for what is not known; {}",
                    devices.streams(), kHowToRecord)};
  if (const std::string_view call = UntoldWait(view, window.host); !call.empty())
    return {false, fmt::format("{} waits and there are no synchronisation events (category "
                               "cuda_sync): what it waits for is not known; {}",
                               call, kHowToRecord)};
  return {true,
          "one stream: launches and the order of the stream; there are no synchronisation "
          "events and none are needed"};
}

using Sums = std::array<int64_t, kBounds>;

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : kNoDouble;
}

void SetShares(const Sums& sums, ProfileCriticalSummaryRow& row) {
  auto of = [&](Bound bound) { return sums[static_cast<size_t>(bound)]; };
  row.cpu_ns = of(Bound::kCpu);
  row.data_loading_ns = of(Bound::kDataLoading);
  row.gpu_compute_ns = of(Bound::kGpuCompute);
  row.gpu_communication_ns = of(Bound::kGpuCommunication);
  row.gpu_memcpy_ns = of(Bound::kGpuMemcpy);
  row.kernel_launch_delay_ns = of(Bound::kKernelLaunchDelay);
  row.kernel_kernel_delay_ns = of(Bound::kKernelKernelDelay);
  row.cpu_pct = Percent(row.cpu_ns, row.total_ns);
  row.data_loading_pct = Percent(row.data_loading_ns, row.total_ns);
  row.gpu_compute_pct = Percent(row.gpu_compute_ns, row.total_ns);
  row.gpu_communication_pct = Percent(row.gpu_communication_ns, row.total_ns);
  row.gpu_memcpy_pct = Percent(row.gpu_memcpy_ns, row.total_ns);
  row.kernel_launch_delay_pct = Percent(row.kernel_launch_delay_ns, row.total_ns);
  row.kernel_kernel_delay_pct = Percent(row.kernel_kernel_delay_ns, row.total_ns);
}

// Adds the rows of the path; returns its time by what bounds it.
Sums AddPath(const TimelineView& view, const std::vector<Segment>& path, Part& part) {
  auto& table = part.tables.Edit<ProfileCriticalPathTable>();
  Sums sums = {};
  for (const Segment& segment : path) {
    auto row = view.NewRow<ProfileCriticalPathRow>();
    row.definition = part.pools.Intern("debrief");
    row.segment = static_cast<int32_t>(&segment - path.data());
    row.start_ns = segment.time.begin;
    row.end_ns = segment.time.end;
    row.duration_ns = segment.time.length();
    row.slice = segment.slice;
    if (segment.slice != kNone32) row.name = part.pools.Intern(view.NameOf(segment.slice));
    row.track = segment.track;
    row.bound = part.pools.Intern(BoundName(segment.bound));
    row.edge = part.pools.Intern(segment.edge);
    table.Add(row);
    sums[static_cast<size_t>(segment.bound)] += segment.time.length();
  }
  return sums;
}

void AddTimeline(const TimelineView& view, const timeline::DeviceClasses& classes, Part& part) {
  const Window window = WindowOf(view);
  const HostRuns host(view, window.host);
  const DeviceOrder devices(view, classes, window.time, window.host.end);
  const Verdict verdict = Judge(view, classes, window, host, devices);
  auto row = view.NewRow<ProfileCriticalSummaryRow>();
  row.definition = part.pools.Intern("debrief");
  row.window = part.pools.Intern(window.step == kNone32 ? "timeline" : "step");
  row.step = window.step;
  row.state = part.pools.Intern(verdict.is_computable ? "computed" : "not_computable");
  row.reason = part.pools.Intern(verdict.reason);
  row.nodes = host.calls() + static_cast<int64_t>(devices.works().size());
  row.edges = host.order_edges() + devices.edges();
  if (verdict.is_computable) {
    const std::vector<Segment> path = CriticalPath(view, host, devices, window.time);
    if (!path.empty()) {
      row.start_ns = path.front().time.begin;
      row.end_ns = path.back().time.end;
    }
    row.path_nodes = static_cast<int64_t>(path.size());
    row.total_ns = path.empty() ? 0 : row.end_ns - row.start_ns;
    SetShares(AddPath(view, path, part), row);
  }
  part.tables.Edit<ProfileCriticalSummaryTable>().Add(row);
}

Status Run(const Model& model, AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  for (const TimelineView& view : timeline::Timelines(model))
    AddTimeline(view, classes, result.part);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_critical_path",
               .scope = AnalysisScope::kRank,
               .sentence = "What makes the last whole step as long as it is?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineSliceTable>,
               .makes = kTableNames<ProfileCriticalPathTable, ProfileCriticalSummaryTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_critical_path

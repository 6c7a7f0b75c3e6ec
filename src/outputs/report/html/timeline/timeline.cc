#include "outputs/report/html/timeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "outputs/report/html/timeline/watched_gpus.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/compile_phase.h"
#include "tables/host_sample.h"
#include "tables/progress.h"
#include "tables/text_event.h"
#include "tables/timeline.h"
#include "tables/timeline_step.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kSlicesToShare = 20'000;  // of an island of several logs
constexpr size_t kMostDumps = 1024;        // nobody looks at the lanes of ten thousand ranks

using LogMaker = void (*)(std::span<const uint32_t> rows, TimelineMaker& maker);

// One island: a profile, logs of one kind, or GPUs that were watched.
struct IslandPlan {
  const timeline::TimelineView* profile = nullptr;
  LogMaker log_maker = nullptr;
  std::vector<std::vector<uint32_t>> logs;  // rows of each input
  std::vector<const WatchedGpu*> gpus;
  size_t slices = 0;
};

struct IslandResult {
  Status status;
  std::vector<TimelineProcess> processes;
};

// Makers that are not in use: one has vectors as long as the model's pool.
class Makers {
 public:
  explicit Makers(const TimelineContext& context) : context_(context) {}

  std::unique_ptr<TimelineMaker> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<TimelineMaker>(context_);
    auto maker = std::move(free_.back());
    free_.pop_back();
    return maker;
  }
  void Return(std::unique_ptr<TimelineMaker> maker) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(maker));
  }

 private:
  const TimelineContext& context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TimelineMaker>> free_;
};

class TimelinePlanner {
 public:
  TimelinePlanner(const Model& model, const TimelineLimits& limits)
      : context_{.model = model, .limits = limits}, views_(timeline::Timelines(model)) {}

  Status Make(ThreadPool& pool, const IslandSink& sink) {
    PlanProfiles();
    const TableSet& tables = context_.model.tables;
    const auto& phases = tables.Get<CompilePhaseTable>();
    PlanLogs(phases, phases.start_ns, AddCompilePhases);
    const auto& ops = tables.Get<CommOpTable>();
    RowsByInput dumps = RowsWithTimes(ops, ops.created_ns);
    KeepSomeDumps(ops, dumps);
    PlanRows(std::move(dumps), ops.created_ns, AddCollectives);
    const auto& events = tables.Get<TextEventTable>();
    const RowsByInput lines = PlanLogs(events, events.time_ns, AddOutputLines);
    PlanSteps(lines);
    PlanGpus();
    if (plans_.empty()) return SayNothingHasATime(sink);
    context_.ends = FindAttemptEnds(context_.model);
    FindKinds();
    const auto& compilations = tables.Get<CompilationTable>();
    for (size_t row = 0; row < compilations.size(); ++row)
      context_.compilations[compilations.input[row]].push_back(static_cast<uint32_t>(row));
    return MakeIslands(pool, sink);
  }

 private:
  void Count(size_t slices, int64_t earliest, int64_t latest) {
    context_.slices += slices;
    if (!CountsFrom1970(earliest)) return;
    context_.base = context_.base == 0 ? earliest : std::min(context_.base, earliest);
    latest_ = std::max(latest_, latest);
  }

  // The view is there as soon as one of its tables has rows, and says so itself.
  Status SayNothingHasATime(const IslandSink& sink) const {
    const TableSet& tables = context_.model.tables;
    const bool has_rows = tables.Get<CommOpTable>().size() + tables.Get<TextEventTable>().size() +
                              tables.Get<CompilePhaseTable>().size() + views_.size() +
                              tables.Get<HostSampleTable>().size() >
                          0;
    TimelineOutline outline;
    return has_rows ? sink("timeline", OutlineJson(context_.model, outline)) : Status();
  }

  void PlanProfiles() {
    const auto& timelines = context_.model.tables.Get<TimelineTable>();
    const auto& steps = context_.model.tables.Get<TimelineStepTable>();
    for (const timeline::TimelineView& view : views_) {
      const size_t slices = view.slices.size() + timeline::RowsOf(steps, view.who.input).size();
      const size_t points = view.counters.size() + 2 * view.memory.size();
      if (slices + points == 0) continue;
      const bool counts_from_1970 = timelines.base_ns[view.row] != kNone64;
      Count(slices, counts_from_1970 ? EarliestOf(view) : kNone64, timelines.end_ns[view.row]);
      context_.points += points;
      plans_.push_back({.profile = &view, .slices = slices});
    }
  }

  template <typename Table>
  static RowsByInput RowsWithTimes(const Table& table, const std::vector<int64_t>& times) {
    RowsByInput rows_of;
    std::vector<uint32_t>* rows = nullptr;  // of the input of the row before
    for (size_t row = 0; row < table.size(); ++row) {
      if (times[row] < 0) continue;
      if (rows == nullptr || table.input[rows->back()] != table.input[row])
        rows = &rows_of[table.input[row]];
      rows->push_back(static_cast<uint32_t>(row));
    }
    return rows_of;
  }

  template <typename Table>
  RowsByInput PlanLogs(const Table& table, const std::vector<int64_t>& times, LogMaker maker) {
    RowsByInput rows_of = RowsWithTimes(table, times);
    PlanRows(rows_of, times, maker);
    return rows_of;
  }

  // Of very many dumps of a job those of ranks that findings name, causes first, and every so
  // many-th of the others.
  void KeepSomeDumps(const CommOpTable& ops, RowsByInput& dumps) {
    if (dumps.size() <= kMostDumps) return;
    const std::set<std::pair<int32_t, int32_t>> named = NamedRanks(kMostDumps / 2);
    std::map<int32_t, size_t> count, number;  // by job
    for (const auto& [input, rows] : dumps) ++count[ops.job[rows.front()]];
    std::erase_if(dumps, [&](const auto& dump) {
      const std::vector<uint32_t>& rows = dump.second;
      const int32_t job = ops.job[rows.front()];
      if (count[job] <= kMostDumps) return false;
      const size_t every = 2 * count[job] / kMostDumps + 1;
      const bool is_named = named.contains({job, ops.rank[rows.front()]});
      const bool is_left_out = number[job]++ % every != 0 && !is_named;
      if (is_left_out) left_out_ += rows.size();
      return is_left_out;
    });
  }

  // Jobs and ranks; findings are in the order of their weight.
  std::set<std::pair<int32_t, int32_t>> NamedRanks(size_t most) const {
    std::set<std::pair<int32_t, int32_t>> named;
    const auto add = [&](const Finding& finding, const std::vector<int32_t>& ranks) {
      for (int32_t rank : ranks) {
        if (named.size() < most) named.emplace(finding.job, rank);
      }
    };
    for (const Finding& finding : context_.model.findings) add(finding, finding.ranks);
    for (const Finding& finding : context_.model.findings) {
      for (const GroupRef& group : finding.groups) add(finding, group.ranks);
    }
    return named;
  }

  // Steps stand among the other lines of their output, where it has any.
  void PlanSteps(const RowsByInput& lines) {
    const auto& progress = context_.model.tables.Get<ProgressTable>();
    context_.progress = RowsWithTimes(progress, progress.time_ns);
    RowsByInput alone;
    for (const auto& [input, rows] : context_.progress) {
      if (!lines.contains(input))
        alone[input] = rows;
      else
        context_.slices += rows.size();
    }
    PlanRows(std::move(alone), progress.time_ns, AddStepLines);
  }

  void PlanRows(RowsByInput rows_of, const std::vector<int64_t>& times, LogMaker maker) {
    IslandPlan* plan = nullptr;
    for (auto& [input, rows] : rows_of) {
      if (plan == nullptr || plan->slices + rows.size() > kSlicesToShare)
        plan = &plans_.emplace_back(IslandPlan{.log_maker = maker});
      int64_t earliest = times[rows.front()];
      int64_t latest = earliest;
      for (uint32_t row : rows) {
        earliest = std::min(earliest, times[row]);
        latest = std::max(latest, times[row]);
      }
      Count(rows.size(), earliest, latest);
      plan->slices += rows.size();
      plan->logs.push_back(std::move(rows));
    }
  }

  void PlanGpus() {
    TimeSpan others;
    if (context_.base != 0) others = {context_.base, latest_};
    gpus_ = WatchedGpus(context_.model, others);
    IslandPlan* plan = nullptr;
    size_t points = 0;  // of the plan
    for (const WatchedGpu& gpu : gpus_) {
      if (plan == nullptr || points + gpu.points() > kSlicesToShare) {
        plan = &plans_.emplace_back();
        points = 0;
      }
      Count(gpu.events.size(), gpu.earliest_ns, gpu.earliest_ns);
      points += gpu.points();
      context_.points += gpu.points();
      plan->slices += gpu.events.size();
      plan->gpus.push_back(&gpu);
    }
  }

  void FindKinds() {
    const Pools& pools = context_.model.pools;
    context_.kind_of.assign(pools.strings.size(), SliceKind::kOther);
    for (size_t kind = 0; kind < SliceKindNames().size(); ++kind) {
      const StringId id = pools.strings.Find(SliceKindNames()[kind]);
      if (id != StringId::kNone)
        context_.kind_of[static_cast<size_t>(id)] = static_cast<SliceKind>(kind);
    }
  }

  Status MakeIslands(ThreadPool& pool, const IslandSink& sink) {
    Makers makers(context_);
    TimelineOutline outline{.base = context_.base, .slices = context_.slices + left_out_};
    Status first_error;
    pool.MapInOrder<IslandResult>(
        plans_.size(), [&](size_t i) { return MakeIsland(i, makers, sink); },
        [&](size_t, IslandResult&& result) {
          if (first_error.ok()) first_error = std::move(result.status);
          std::move(result.processes.begin(), result.processes.end(),
                    std::back_inserter(outline.processes));
        });
    TRY(std::move(first_error));
    if (outline.processes.empty()) return {};
    size_t shown = 0;
    for (const TimelineProcess& process : outline.processes)
      for (const TimelineLane& lane : process.lanes) shown += lane.slices;
    outline.left_out = outline.slices - shown;
    return sink("timeline", OutlineJson(context_.model, outline));
  }

  IslandResult MakeIsland(size_t number, Makers& makers, const IslandSink& sink) const {
    const IslandPlan& plan = plans_[number];
    const std::string name = fmt::format("timeline/{}", number);
    auto maker = makers.Take();
    maker->Begin(name, plan.slices);
    if (plan.profile != nullptr) AddProfile(*plan.profile, *maker);
    for (const std::vector<uint32_t>& rows : plan.logs) plan.log_maker(rows, *maker);
    for (const WatchedGpu* gpu : plan.gpus) AddWatchedGpu(*gpu, *maker);
    const std::string bytes = maker->TakeBytes();
    IslandResult result;
    result.processes = maker->TakeProcesses();
    makers.Return(std::move(maker));
    if (!bytes.empty()) result.status = sink(name, bytes);
    return result;
  }

  TimelineContext context_;
  std::vector<timeline::TimelineView> views_;
  std::vector<WatchedGpu> gpus_;
  std::vector<IslandPlan> plans_;
  int64_t latest_ = 0;   // of what counts from 1970
  size_t left_out_ = 0;  // slices of dumps that get no lanes
};

}  // namespace

Status MakeTimeline(const Model& model, const TimelineLimits& limits, ThreadPool& pool,
                    const IslandSink& sink) {
  return TimelinePlanner(model, limits).Make(pool, sink);
}

Status AddTimeline(const Model& model, ThreadPool& pool, Islands& islands) {
  return MakeTimeline(model, {}, pool, islands.Sink());
}

}  // namespace debrief::outputs::html

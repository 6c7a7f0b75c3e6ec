// Rows about the critical path of a job: its segments, its steps by cause, and what stands on it by
// name.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "analyses/what_if/job_path.h"
#include "analyses/what_if/what_if.h"
#include "model/timeline/host_activity.h"
#include "tables/job_path.h"
#include "tables/job_path_cause.h"
#include "tables/job_path_name.h"
#include "tables/job_path_step.h"

namespace debrief::analyses::what_if {

namespace {

constexpr size_t kMostSegments = 500'000;  // of a job; sums are of all
constexpr size_t kMostNames = 100;

// What hosts were in; looked up only for ranks that the path comes to.
class HostOnPath {
 public:
  HostOnPath(const Model& model, const std::vector<timeline::TimelineView>& views)
      : views_(views), names_(model), lanes_(views.size()) {}

  int32_t SliceIn(uint32_t lane, int32_t track, Interval time) {
    if (!lanes_[lane])
      lanes_[lane] = std::make_unique<timeline::HostActivity>(views_[lane], names_);
    return lanes_[lane]->BusiestSlice(track, time);
  }

 private:
  const std::vector<timeline::TimelineView>& views_;
  timeline::HostNames names_;
  std::vector<std::unique_ptr<timeline::HostActivity>> lanes_;
};

bool IsOfHost(PathCause cause) {
  return cause == PathCause::kHost || cause == PathCause::kData || cause == PathCause::kCompile;
}

double ShareOf(int64_t ns, int64_t whole) {
  return whole > 0 ? static_cast<double>(ns) / static_cast<double>(whole) : 0;
}

struct PathSum {
  int64_t ns = 0, segments = 0;
  void Add(int64_t length) {
    ns += length;
    ++segments;
  }
};

class PathRows {
 public:
  PathRows(const ProfileGraph& graph, const JobPath& path,
           const std::vector<timeline::TimelineView>& views, const Identity& who, Part& part)
      : graph_(graph),
        path_(path),
        views_(views),
        who_(who),
        part_(part),
        hosts_(views.front().model, views) {
    for (const PathStep& step : path.steps) all_ns_ += step.time.length();
  }

  void Add() {
    for (size_t i = 0; i < path_.segments.size(); ++i) AddSegment(i);
    AddSteps();
    AddCauses();
    AddNames();
  }

 private:
  // Cause; of what others wait for: true, its rank.
  using CauseKey = std::tuple<bool, int32_t, PathCause>;
  using ByCause = std::map<CauseKey, PathSum>;
  struct OfName {
    PathSum sum;
    std::set<int64_t> ranks;
  };

  template <typename Row>
  Row NewRow() const {
    Row row;
    row.job = who_.job;
    row.attempt = who_.attempt;
    return row;
  }

  int32_t RankOf(const PathSegment& segment) const { return graph_.lanes[segment.lane].rank; }

  // What ran: the call or the work, or what its thread was in.
  int32_t SliceOf(const PathSegment& segment, int32_t track, Interval own_time) {
    const int32_t slice = graph_.slice[segment.moment];
    if (slice == kNone32 || !IsOfHost(segment.cause)) return slice;
    if (graph_.kinds[segment.moment] == Moment::kCall) return slice;
    return hosts_.SliceIn(segment.lane, track, own_time);
  }

  void AddSegment(size_t number) {
    const PathSegment& segment = path_.segments[number];
    const timeline::TimelineView& view = views_[segment.lane];
    const LaneClock& clock = graph_.lanes[segment.lane].clock;
    const Interval own = {clock.FromCommon(segment.time.begin), clock.FromCommon(segment.time.end)};
    const int32_t of_moment = graph_.slice[segment.moment];
    auto row = NewRow<JobPathRow>();
    if (of_moment != kNone32) row.track = view.track[timeline::TimelineView::At(of_moment)];
    row.slice = SliceOf(segment, row.track, own);
    row.name = view.CopyName(row.slice, part_);
    row.step = path_.steps[segment.step].label;
    row.segment = static_cast<int32_t>(number);
    row.rank = RankOf(segment);
    row.input = graph_.lanes[segment.lane].input;
    row.start_ns = own.begin;
    row.end_ns = own.end;
    row.duration_ns = segment.time.length();
    row.at_ns = segment.time.begin - path_.steps.front().time.begin;
    row.cause = part_.pools.Intern(PathCauseName(segment.cause));
    row.waiting = static_cast<int32_t>(segment.waiting);
    row.edge = part_.pools.Intern(PathEdgeName(segment.edge));
    Count(segment, row.name);
    if (number < kMostSegments) part_.tables.Edit<JobPathTable>().Add(row);
  }

  void Count(const PathSegment& segment, StringId name) {
    const bool is_waited_for = segment.waiting > 0;
    const CauseKey key = {is_waited_for, is_waited_for ? RankOf(segment) : kNone32, segment.cause};
    causes_[key].Add(segment.time.length());
    steps_[segment.step][key].Add(segment.time.length());
    OfName& of_name = names_[{segment.cause, name}];
    of_name.sum.Add(segment.time.length());
    of_name.ranks.insert(RankOf(segment));
  }

  void AddSteps() {
    for (const auto& [step, causes] : steps_) {
      std::array<int64_t, kPathCauses> ns = {};
      std::map<int32_t, int64_t> waits;
      auto row = NewRow<JobPathStepRow>();
      row.wait_ns = 0;
      for (const auto& [key, sum] : causes) {
        const auto& [is_waited_for, rank, cause] = key;
        ns[static_cast<size_t>(cause)] += sum.ns;
        if (!is_waited_for) continue;
        row.wait_ns += sum.ns;
        const int64_t of_rank = waits[rank] += sum.ns;
        if (row.wait_rank != kNone32 && of_rank <= row.wait_rank_ns) continue;
        row.wait_rank = rank;
        row.wait_rank_ns = of_rank;
      }
      row.step = path_.steps[step].label;
      row.total_ns = path_.steps[step].time.length();
      row.kernel_ns = ns[static_cast<size_t>(PathCause::kKernel)];
      row.copy_ns = ns[static_cast<size_t>(PathCause::kCopy)];
      row.communication_ns = ns[static_cast<size_t>(PathCause::kCommunication)];
      row.launch_ns = ns[static_cast<size_t>(PathCause::kLaunch)];
      row.host_ns = ns[static_cast<size_t>(PathCause::kHost)];
      row.data_ns = ns[static_cast<size_t>(PathCause::kData)];
      row.compile_ns = ns[static_cast<size_t>(PathCause::kCompile)];
      row.unknown_ns = ns[static_cast<size_t>(PathCause::kUnknown)];
      part_.tables.Edit<JobPathStepTable>().Add(row);
    }
  }

  void AddCauses() {
    AddCauses("job", kNone64, causes_, all_ns_);
    for (const auto& [step, causes] : steps_)
      AddCauses("step", path_.steps[step].label, causes, path_.steps[step].time.length());
  }

  void AddCauses(std::string_view scope, int64_t step, const ByCause& causes, int64_t whole) {
    for (const auto& [key, sum] : causes) {
      const auto& [is_waited_for, rank, cause] = key;
      auto row = NewRow<JobPathCauseRow>();
      row.scope = part_.pools.Intern(scope);
      row.step = step;
      row.cause = part_.pools.Intern(is_waited_for ? "wait" : PathCauseName(cause));
      if (is_waited_for) {
        row.wait_rank = rank;
        row.reason = part_.pools.Intern(PathCauseName(cause));
      }
      row.duration_ns = sum.ns;
      row.share = ShareOf(sum.ns, whole);
      row.segments = sum.segments;
      part_.tables.Edit<JobPathCauseTable>().Add(row);
    }
  }

  void AddNames() {
    std::vector<std::pair<std::pair<PathCause, StringId>, const OfName*>> order;
    for (const auto& [key, of_name] : names_) order.emplace_back(key, &of_name);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [](const auto& each) { return each.second->sum.ns; });
    order.resize(std::min(order.size(), kMostNames));
    for (const auto& [key, of_name] : order) {
      auto row = NewRow<JobPathNameRow>();
      row.cause = part_.pools.Intern(PathCauseName(key.first));
      row.name = key.second;
      row.duration_ns = of_name->sum.ns;
      row.share = ShareOf(of_name->sum.ns, all_ns_);
      row.segments = of_name->sum.segments;
      row.path_ranks = part_.pools.lists.Intern(
          std::vector<int64_t>(of_name->ranks.begin(), of_name->ranks.end()));
      part_.tables.Edit<JobPathNameTable>().Add(row);
    }
  }

  const ProfileGraph& graph_;
  const JobPath& path_;
  const std::vector<timeline::TimelineView>& views_;
  Identity who_;
  Part& part_;
  HostOnPath hosts_;
  int64_t all_ns_ = 0;
  ByCause causes_;
  std::map<uint32_t, ByCause> steps_;
  std::map<std::pair<PathCause, StringId>, OfName> names_;
};

}  // namespace

void AddPathRows(const ProfileGraph& graph, const JobPath& path,
                 const std::vector<timeline::TimelineView>& views, const Identity& who,
                 Part& part) {
  if (!path.segments.empty()) PathRows(graph, path, views, who, part).Add();
}

}  // namespace debrief::analyses::what_if

#include "analyses/what_if/job_path.h"

#include <algorithm>
#include <array>

#include "model/timeline/host_activity.h"

namespace debrief::analyses::what_if {

namespace {

using timeline::DeviceClass;

std::vector<PathStep> StepsOf(const ProfileGraph& graph) {
  std::vector<PathStep> steps;
  for (int64_t label : graph.steps) steps.push_back({label, {INT64_MAX, kNone64}});
  for (const ProfileLane& lane : graph.lanes) {
    for (size_t step = 0; step < steps.size(); ++step) {
      if (lane.step_begins[step] == kNoMoment) continue;
      int64_t& begin = steps[step].time.begin;
      begin = std::min(begin, graph.time_ns[lane.step_begins[step]]);
    }
  }
  for (size_t moment = 0; moment < graph.size(); ++moment) {
    if (graph.step_of[moment] < 0) continue;
    int64_t& end = steps[static_cast<size_t>(graph.step_of[moment])].time.end;
    end = std::max(end, graph.time_ns[moment]);
  }
  int64_t before = kNone64;
  for (PathStep& step : steps) {
    step.time.begin = std::max(step.time.begin, before);
    step.time.end = std::max(step.time.begin, step.time.end);
    before = step.time.end;
  }
  return steps;
}

class JobPathWalk {
 public:
  JobPathWalk(const ProfileGraph& graph, const std::vector<timeline::TimelineView>& views,
              const timeline::DeviceClasses& classes)
      : graph_(graph), views_(views), classes_(classes) {}

  JobPath Run() {
    JobPath path = {.steps = StepsOf(graph_), .segments = {}};
    if (path.steps.empty()) return path;
    begin_ = path.steps.front().time.begin;
    seen_.resize(graph_.size());
    for (uint32_t at = LastMoment(); at != kNoMoment && time_ > begin_;) {
      // Times that contradict each other could lead to the same moments again and again.
      const bool is_seen = seen_[at];
      seen_[at] = true;
      at = is_seen ? FollowUnknown(at) : Follow(at);
    }
    CutIntoSteps(path);
    return path;
  }

 private:
  uint32_t LastMoment() {
    uint32_t last = kNoMoment;
    for (uint32_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.step_of[moment] < 0) continue;
      if (last == kNoMoment || graph_.time_ns[moment] > graph_.time_ns[last]) last = moment;
    }
    if (last != kNoMoment) time_ = graph_.time_ns[last];
    return last;
  }

  // The one of those it waits for that came last; the meeting, where it came no later.
  uint32_t Binding(uint32_t moment) const {
    uint32_t binding = kNoMoment;
    for (uint32_t i = graph_.first_wait[moment]; i < graph_.first_wait[moment + 1]; ++i) {
      const uint32_t before = graph_.waits_for[i];
      if (binding == kNoMoment || graph_.time_ns[before] >= graph_.time_ns[binding])
        binding = before;
    }
    return binding;
  }

  // Adds what passed before the moment; returns where the path comes from.
  uint32_t Follow(uint32_t moment) {
    const uint32_t before = Binding(moment);
    if (graph_.kinds[moment] == Moment::kMeeting) {
      NoteWaiting(moment, before);
      return before;
    }
    if (before == kNoMoment) return FollowUnknown(moment);
    const int64_t ready = graph_.time_ns[before];
    const PathEdge edge = EdgeBetween(before, moment);
    if (graph_.kinds[moment] == Moment::kHost || graph_.kinds[moment] == Moment::kMark)
      AddHost(ready, moment, edge);
    else
      Add(ready, moment, CauseOf(moment), edge);
    return before;
  }

  // Nothing tells why it came when it did: what its rank finished last before.
  uint32_t FollowUnknown(uint32_t moment) {
    const uint32_t before = LastEndOf(graph_.lane_of[moment]);
    Add(before == kNoMoment ? begin_ : graph_.time_ns[before], moment, PathCause::kUnknown,
        PathEdge::kNone);
    return before;
  }

  // The last end of a call or of work of a lane, before the time of the path.
  uint32_t LastEndOf(uint32_t lane) {
    if (ends_.empty()) {
      ends_.resize(graph_.lanes.size());
      for (uint32_t moment = 0; moment < graph_.size(); ++moment) {
        const Moment kind = graph_.kinds[moment];
        if (kind == Moment::kCall || kind == Moment::kWork || kind == Moment::kTransfer)
          ends_[graph_.lane_of[moment]].push_back(moment);
      }
      for (auto& ends : ends_)
        std::ranges::stable_sort(ends, {}, [&](uint32_t each) { return graph_.time_ns[each]; });
    }
    const auto& ends = ends_[lane];
    const auto later = std::ranges::lower_bound(
        ends, time_, {}, [&](uint32_t each) { return graph_.time_ns[each]; });
    return later == ends.begin() ? kNoMoment : *(later - 1);
  }

  // All members but the last wait from when the last but one has come.
  void NoteWaiting(uint32_t meeting, uint32_t last) {
    int64_t others = kNone64;
    uint32_t members = 0;
    for (uint32_t i = graph_.first_wait[meeting]; i < graph_.first_wait[meeting + 1]; ++i) {
      const uint32_t member = graph_.waits_for[i];
      ++members;
      if (member != last) others = std::max(others, graph_.time_ns[member]);
    }
    if (others >= time_ || members < 2) return;
    waiting_ = std::max(waiting_, members - 1);
    wait_since_ = wait_since_ < time_ ? std::min(wait_since_, others) : others;
  }

  PathEdge EdgeBetween(uint32_t before, uint32_t moment) const {
    const Moment from = graph_.kinds[before];
    if (from == Moment::kMeeting) return PathEdge::kArrival;
    const bool from_device = from == Moment::kWork || from == Moment::kTransfer;
    switch (graph_.kinds[moment]) {
      case Moment::kCall:
        return from_device ? PathEdge::kWait : PathEdge::kThread;
      case Moment::kWorkBegin:
        return from_device ? PathEdge::kStream : PathEdge::kLaunch;
      case Moment::kWork:
      case Moment::kTransfer:
        return PathEdge::kStream;
      default:
        return from_device ? PathEdge::kStream : PathEdge::kThread;
    }
  }

  PathCause CauseOf(uint32_t moment) const {
    const int32_t slice = graph_.slice[moment];
    const timeline::TimelineView& view = views_[graph_.lane_of[moment]];
    switch (graph_.kinds[moment]) {
      case Moment::kCall:
        return timeline::HostClassOf(view.NameOf(slice), true) == timeline::HostClass::kSync
                   ? PathCause::kHost
                   : PathCause::kLaunch;
      case Moment::kWorkBegin:
        return PathCause::kLaunch;
      case Moment::kTransfer:
        return PathCause::kCommunication;
      default:
        break;
    }
    switch (classes_.Of(view, slice)) {
      case DeviceClass::kCommunication:
        return PathCause::kCommunication;
      case DeviceClass::kMemcpy:
      case DeviceClass::kMemset:
        return PathCause::kCopy;
      default:
        return PathCause::kKernel;
    }
  }

  // What the host did since `ready`, cut where it loads data or compiles.
  void AddHost(int64_t ready, uint32_t moment, PathEdge edge) {
    const ProfileLane& lane = graph_.lanes[graph_.lane_of[moment]];
    const int32_t slice = graph_.slice[moment];
    const bool is_work = slice != kNone32 &&
                         classes_.Of(views_[graph_.lane_of[moment]], slice) != DeviceClass::kNone;
    if (is_work) return Add(ready, moment, PathCause::kUnknown, edge);
    while (time_ > std::max(ready, begin_)) {
      int64_t since = ready;
      PathCause cause = PathCause::kHost;
      for (const auto& [times, of_times] : {std::pair(&lane.loading, PathCause::kData),
                                            std::pair(&lane.compiling, PathCause::kCompile)}) {
        const auto later = std::ranges::lower_bound(*times, time_, {}, &Interval::begin);
        if (later == times->begin()) continue;
        const Interval& last = *(later - 1);
        const bool is_inside = last.end >= time_;
        since = std::max(since, is_inside ? last.begin : last.end);
        if (!is_inside) continue;
        cause = of_times;
        break;
      }
      Add(since, moment, cause, edge);
    }
  }

  void Add(int64_t begin, uint32_t moment, PathCause cause, PathEdge edge) {
    begin = std::max(begin, begin_);
    if (begin >= time_) return;
    PathSegment segment = {.time = {begin, time_},
                           .moment = moment,
                           .lane = graph_.lane_of[moment],
                           .cause = cause,
                           .edge = edge};
    time_ = begin;
    // While data moves nobody is waited for.
    const bool is_waited_for = waiting_ > 0 && cause != PathCause::kCommunication;
    if (is_waited_for && wait_since_ < segment.time.end) {
      const int64_t cut = std::max(begin, wait_since_);
      segment.waiting = waiting_;
      segment.time.begin = cut;
      segments_.push_back(segment);
      segment.waiting = 0;
      segment.time = {begin, cut};
    }
    if (segment.time.length() > 0) segments_.push_back(segment);
    if (time_ <= wait_since_) waiting_ = 0;
  }

  void CutIntoSteps(JobPath& path) {
    std::ranges::reverse(segments_);
    size_t step = 0;
    for (const PathSegment& segment : segments_) {
      while (step < path.steps.size() && path.steps[step].time.end <= segment.time.begin) ++step;
      for (size_t each = step; each < path.steps.size(); ++each) {
        PathSegment inside = segment;
        inside.time = {std::max(segment.time.begin, path.steps[each].time.begin),
                       std::min(segment.time.end, path.steps[each].time.end)};
        if (path.steps[each].time.begin >= segment.time.end) break;
        inside.step = static_cast<uint32_t>(each);
        if (inside.time.length() > 0) path.segments.push_back(inside);
      }
    }
  }

  const ProfileGraph& graph_;
  const std::vector<timeline::TimelineView>& views_;
  const timeline::DeviceClasses& classes_;
  std::vector<PathSegment> segments_;        // the last first
  std::vector<std::vector<uint32_t>> ends_;  // by lane, by time
  std::vector<bool> seen_;
  int64_t begin_ = 0;               // where the path ends, going back
  int64_t time_ = kNone64;          // where it is
  int64_t wait_since_ = INT64_MAX;  // from here on members of a collective wait for it
  uint32_t waiting_ = 0;            // how many
};

}  // namespace

std::string_view PathCauseName(PathCause cause) {
  static constexpr std::array<std::string_view, kPathCauses> kNames = {
      "kernel", "copy", "communication", "launch", "host", "data", "compile", "unknown"};
  return kNames[static_cast<size_t>(cause)];
}

std::string_view PathEdgeName(PathEdge edge) {
  static constexpr std::array<std::string_view, 6> kNames = {"thread", "launch",  "stream",
                                                             "wait",   "arrival", "none"};
  return kNames[static_cast<size_t>(edge)];
}

JobPath FindJobPath(const ProfileGraph& graph, const std::vector<timeline::TimelineView>& views,
                    const timeline::DeviceClasses& classes) {
  return JobPathWalk(graph, views, classes).Run();
}

}  // namespace debrief::analyses::what_if

#include "analyses/profile/critical_path/path.h"

#include <algorithm>

namespace debrief::analyses::profile_critical_path {

namespace {

using timeline::DeviceClass;
using timeline::TimelineView;

constexpr std::string_view kBegin = "begin", kSameThread = "thread", kOtherThread = "other_thread",
                           kLaunch = "launch", kStream = "stream", kEvent = "event", kWait = "wait";

Bound BoundOf(DeviceClass device_class) {
  if (device_class == DeviceClass::kCommunication) return Bound::kGpuCommunication;
  return device_class == DeviceClass::kCompute ? Bound::kGpuCompute : Bound::kGpuMemcpy;
}

// Every move leads to an earlier time, which is why the walk ends.
class Walk {
 public:
  Walk(const TimelineView& view, const HostRuns& host, const DeviceOrder& devices, Interval window)
      : view_(view), host_(host), devices_(devices), window_(window) {}

  std::vector<Segment> Run() {
    Start();
    while (time_ > window_.begin && (work_ != kNone32 || track_ != kNone32)) {
      if (work_ != kNone32) {
        FollowWork();
      } else {
        FollowThread();
      }
    }
    std::reverse(path_.begin(), path_.end());
    if (!path_.empty()) path_.front().edge = kBegin;
    return std::move(path_);
  }

 private:
  // At the last end of all.
  void Start() {
    const auto& works = devices_.works();
    auto last = std::max_element(works.begin(), works.end(), [](const Work& a, const Work& b) {
      return a.time.end < b.time.end;
    });
    const HostRun* run = host_.Last();
    if (last != works.end() && (run == nullptr || run->end <= last->time.end)) {
      GoToWork(static_cast<int32_t>(last - works.begin()), last->time.end);
    } else if (run != nullptr) {
      GoToThread(run->track, run->end);
    }
  }

  void GoToWork(int32_t work, int64_t time) {
    work_ = work;
    time_ = time;
  }

  void GoToThread(int32_t track, int64_t time) {
    work_ = kNone32;
    track_ = track;
    time_ = time;
  }

  void Stop() { work_ = track_ = kNone32; }

  // What is from `begin` until now.
  void Add(int64_t begin, int32_t slice, int32_t track, Bound bound, std::string_view edge) {
    begin = std::max(begin, window_.begin);
    if (begin >= time_) return;
    path_.push_back({{begin, time_}, slice, track, bound, edge});
    time_ = begin;
  }

  void FollowThread() {
    const HostRun* run = host_.Before(track_, time_);
    if (run == nullptr || run->end < time_) return FollowGap(run);
    const int32_t awaited = devices_.AwaitedByCall(run->slice);
    if (awaited != kNone32 && devices_[awaited].time.end > run->begin &&
        devices_[awaited].time.begin < time_) {
      const int64_t done = std::min(devices_[awaited].time.end, time_);
      Add(done, run->slice, track_, Bound::kCpu, kWait);
      return GoToWork(awaited, done);
    }
    Add(run->begin, run->slice, track_, run->is_loading ? Bound::kDataLoading : Bound::kCpu,
        kSameThread);
  }

  // The thread had nothing to do since `before`: it waited for the thread that last finished
  // something and went idle, else it ran code of its own.
  void FollowGap(const HostRun* before) {
    const HostRun* other = host_.LastHandover(track_, time_);
    if (other != nullptr && (before == nullptr || other->end > before->end)) {
      Add(other->end, kNone32, track_, Bound::kCpu, kOtherThread);
      return GoToThread(other->track, std::min(other->end, time_));
    }
    Add(before == nullptr ? window_.begin : before->end, kNone32, track_, Bound::kCpu, kSameThread);
  }

  void FollowWork() {
    const Work& work = devices_[work_];
    const int32_t track = view_.track[TimelineView::At(work.slice)];
    const Reason reason = ReasonOf(work);
    Add(work.time.begin, work.slice, track, BoundOf(work.device_class), reason.edge);
    if (reason.edge.empty()) return Stop();
    const bool is_launch = reason.edge == kLaunch;
    Add(reason.ready, work.slice, track,
        is_launch ? Bound::kKernelLaunchDelay : Bound::kKernelKernelDelay, reason.edge);
    if (is_launch) return GoToThread(view_.track[TimelineView::At(work.launch)], reason.ready);
    GoToWork(reason.work, reason.ready);
  }

  struct Reason {
    std::string_view edge;
    int64_t ready = kNone64;  // when it no longer held the work up; not behind its begin
    int32_t work = kNone32;
  };

  Reason ReasonOf(const Work& work) const {
    Reason reason;
    auto consider = [&](std::string_view edge, int64_t ready, int32_t other) {
      ready = std::min(ready, work.time.begin);
      if (ready > reason.ready) reason = {edge, ready, other};
    };
    const int32_t previous = work.previous;
    if (previous != kNone32 && devices_[previous].time.begin < work.time.begin)
      consider(kStream, devices_[previous].time.end, previous);
    const int32_t awaited = devices_.AwaitedByWork(work_);
    if (awaited != kNone32) consider(kEvent, devices_[awaited].time.end, awaited);
    if (work.launch != kNone32) consider(kLaunch, SubmittedBy(work), kNone32);
    return reason;
  }

  // Work may begin before the call that launches it returns: then only the call's begin is sure.
  int64_t SubmittedBy(const Work& work) const {
    const int64_t returned = view_.end(work.launch);
    return returned <= work.time.begin ? returned : view_.start[TimelineView::At(work.launch)];
  }

  const TimelineView& view_;
  const HostRuns& host_;
  const DeviceOrder& devices_;
  Interval window_;
  std::vector<Segment> path_;  // last first
  int64_t time_ = kNone64;
  int32_t track_ = kNone32;  // where it is: on this thread,
  int32_t work_ = kNone32;   // or at this work
};

}  // namespace

std::string_view BoundName(Bound bound) {
  static constexpr std::string_view kNames[kBounds] = {
      "cpu",        "data_loading",        "gpu_compute",        "gpu_communication",
      "gpu_memcpy", "kernel_launch_delay", "kernel_kernel_delay"};
  return kNames[static_cast<size_t>(bound)];
}

std::vector<Segment> CriticalPath(const TimelineView& view, const HostRuns& host,
                                  const DeviceOrder& devices, Interval window) {
  return Walk(view, host, devices, window).Run();
}

}  // namespace debrief::analyses::profile_critical_path

// The order in which devices had to do their work: streams, waits for events, launches, and the
// calls of the host that wait for work.
//
// With the profiler's synchronisation events (category cuda_sync) it is known which work a wait is
// for: that which was launched before the event was recorded, on the stream of the event. A call
// that waits for the device (cudaDeviceSynchronize) or for its own copy tells by itself.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_critical_path {

struct Work {
  Interval time;
  int32_t slice = kNone32;
  int32_t launch = kNone32;    // call of the host; kNone32 when not shown
  int32_t previous = kNone32;  // work of the same stream before it
  size_t stream = 0;
  timeline::DeviceClass device_class = timeline::DeviceClass::kNone;
};

class DeviceOrder {
 public:
  // Of work that runs in `window` and was launched before `launched_before`.
  DeviceOrder(const timeline::TimelineView& view, const timeline::DeviceClasses& classes,
              Interval window, int64_t launched_before);

  const std::vector<Work>& works() const { return works_; }
  const Work& operator[](int32_t work) const { return works_[static_cast<size_t>(work)]; }

  // Work of another stream that this one had to wait for, that which ends last; kNone32: none.
  int32_t AwaitedByWork(int32_t work) const;
  // The work that a call of the host waits for, that which ends last; kNone32: none.
  int32_t AwaitedByCall(int32_t slice) const;

  size_t streams() const { return streams_.size(); }
  bool has_sync_events() const { return has_sync_events_; }
  int64_t linked() const { return linked_; }
  int64_t edges() const;

 private:
  struct Wait {
    int64_t called = 0;
    int32_t work = kNone32;
    bool operator<(const Wait& other) const { return called < other.called; }
  };
  struct Stream {
    std::vector<int32_t> works;        // by begin
    std::vector<int64_t> launched_by;  // by which time all works up to this one were launched
    std::vector<Wait> waits;           // by call
  };
  using StreamKey = std::pair<int32_t, int64_t>;  // device and number

  void AddWorks(Interval window, int64_t launched_before);
  void AddSyncs();
  void AddSync(size_t work_row, int32_t sync, const std::unordered_map<int64_t, int32_t>& calls);
  int64_t LaunchedAt(const Work& work) const;
  int32_t LastLaunchedBefore(const Stream& stream, int64_t time) const;
  int32_t LastOfStream(StreamKey key, int64_t launched_before) const;
  int32_t LastOfAll(int64_t launched_before) const;

  const timeline::TimelineView& view_;
  const timeline::DeviceClasses& classes_;
  std::vector<Work> works_;
  std::vector<Stream> streams_;
  std::map<StreamKey, size_t> stream_of_;
  std::unordered_map<int32_t, int32_t> awaited_by_call_;  // slice -> work
  bool has_sync_events_ = false;
  int64_t linked_ = 0;
};

}  // namespace debrief::analyses::profile_critical_path

#include "model/accel/flex_slices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text/strings.h"
#include "model/accel/counter_rate.h"
#include "model/accel/cycle_clock.h"
#include "model/timeline/arrange.h"
#include "model/timeline/kinds.h"
#include "model/timeline/writer.h"
#include "model/trace_events/diagnostics.h"
#include "tables/accel_rate.h"
#include "tables/accel_stamp.h"
#include "tables/timeline_device.h"
#include "tables/timeline_device_work.h"

namespace debrief::accel {

namespace {

// One event with stamps.
struct Event {
  size_t row;    // of accel_stamp
  size_t slice;  // row of timeline_slice
  int64_t end_ns;
  Phase phase;
  CycleStamps stamps;
  bool is_open;  // without an end: end_ns is that of the file
};

struct Device {
  int32_t number = kNone32;
  std::vector<Event> events;
};

int64_t CyclesOf(const Event& event) {
  return event.stamps[StampAtEnd(event.phase)] - event.stamps[StampAtStart(event.phase)];
}

// A small number as it stands, anything else by its place among the processes.
int32_t DeviceNumber(std::string_view pid, size_t process) {
  const auto number = ParseNumber<int32_t>(pid);
  const bool is_rank = number && *number >= 0 && *number < (1 << 20);
  return is_rank ? *number : static_cast<int32_t>(process);
}

class Arranger {
 public:
  Arranger(const Identity& who, std::span<const uint32_t> open_slices, Part& whole)
      : who_(who),
        whole_(whole),
        slices_(whole.tables.Edit<TimelineSliceTable>()),
        tracks_(whole.tables.Edit<TimelineTrackTable>()),
        stamps_(whole.tables.Edit<AccelStampTable>()),
        kernel_(whole.pools.Intern(timeline::kKernel)),
        memcpy_(whole.pools.Intern(timeline::kMemcpy)),
        queue_(whole.pools.Intern(timeline::kQueue)),
        open_slices_(open_slices.begin(), open_slices.end()) {}

  void Run() {
    FindDevices();
    for (auto& [process, device] : devices_) ArrangeDevice(process, device);
    NameHostCalls();
    if (devices_.size() > 1) TellRanks();
  }

 private:
  template <typename Row>
  Row NewRow() const {
    return Part::RowOf<Row>(who_);
  }

  int32_t ProcessOf(size_t slice) const {
    return tracks_.process[static_cast<size_t>(slices_.track[slice])];
  }

  Phase PhaseOf(StringId name) {
    auto [found, is_new] = phases_.try_emplace(name, Phase::kNone);
    if (is_new) found->second = PhaseByWord(whole_.pools.Text(name));
    return found->second;
  }

  void FindDevices() {
    slices_of_track_.resize(tracks_.size());
    for (size_t slice = 0; slice < slices_.size(); ++slice) {
      if (slices_.duration_ns[slice] != timeline::kEnds)
        ++slices_of_track_[static_cast<size_t>(slices_.track[slice])];
    }
    for (size_t row = 0; row < stamps_.size(); ++row) {
      auto slice = static_cast<size_t>(stamps_.slice[row]);
      stamps_.host_start_ns[row] = slices_.start_ns[slice];
      stamps_.host_duration_ns[row] = slices_.duration_ns[slice];
      Event event{.row = row,
                  .slice = slice,
                  .end_ns = slices_.start_ns[slice] + slices_.duration_ns[slice],
                  .phase = PhaseOf(slices_.name[slice]),
                  .stamps = {stamps_.ts1[row], stamps_.ts2[row], stamps_.ts3[row], stamps_.ts4[row],
                             stamps_.ts5[row]}};
      UnwrapWithin(event.stamps);
      event.is_open = open_slices_.contains(static_cast<uint32_t>(slice));
      if (event.is_open) stamps_.host_duration_ns[row] = kNone64;
      --slices_of_track_[static_cast<size_t>(slices_.track[slice])];
      devices_[ProcessOf(slice)].events.push_back(event);
    }
  }

  void ArrangeDevice(int32_t process, Device& device) {
    auto& processes = whole_.tables.Edit<TimelineProcessTable>();
    auto at = static_cast<size_t>(process);
    device.number = DeviceNumber(whole_.pools.Text(processes.pid[at]), at);
    processes.name[at] = whole_.pools.Intern(fmt::format("AIU {}", device.number));
    std::stable_sort(device.events.begin(), device.events.end(),
                     [](const Event& a, const Event& b) { return a.end_ns < b.end_ns; });
    CounterRate rate = AddRate(device);
    if (!std::isnan(rate.mhz)) SetTimes(rate.mhz, device);
    MoveToDevice(process, device);
    auto row = NewRow<TimelineDeviceRow>();
    row.device = device.number;
    row.name = whole_.pools.Intern("AIU");
    whole_.tables.Edit<TimelineDeviceTable>().Add(row);
  }

  CounterRate AddRate(const Device& device) {
    std::vector<TimedCycles> timed;
    timed.reserve(device.events.size());
    for (const Event& event : device.events) {
      if (event.is_open) continue;
      timed.push_back({.host_end_ns = event.end_ns,
                       .host_duration_ns = stamps_.host_duration_ns[event.row],
                       .end_cycles = event.stamps[StampAtEnd(event.phase)],
                       .cycles = CyclesOf(event)});
    }
    CounterRate rate = RateOf(timed);
    auto row = NewRow<AccelRateRow>();
    row.device = device.number;
    row.mhz = rate.mhz;
    row.told_by = whole_.pools.Intern(rate.told_by);
    row.events = static_cast<int64_t>(rate.events);
    row.duration_mhz = rate.duration_mhz;
    row.duration_spread_pct = rate.duration_spread_pct;
    row.host_mhz = rate.host_mhz;
    row.residual_ns = rate.residual_ns;
    row.span_ns = rate.span_ns;
    whole_.tables.Edit<AccelRateTable>().Add(row);
    return rate;
  }

  // In order of the host's ends, in which wraps of the counter can be counted.
  void SetTimes(double mhz, Device& device) {
    WrapCounter counter(mhz);
    int64_t first_ns = device.events.front().end_ns;
    for (Event& event : device.events) {
      double host_us = static_cast<double>(event.end_ns - first_ns) / 1000;
      int64_t wraps = counter.Wraps(host_us, event.stamps[StampAtEnd(event.phase)]);
      for (int64_t& stamp : event.stamps) stamp += wraps * kCounterSpan;
      stamps_.ts1[event.row] = event.stamps[0];
      stamps_.ts2[event.row] = event.stamps[1];
      stamps_.ts3[event.row] = event.stamps[2];
      stamps_.ts4[event.row] = event.stamps[3];
      stamps_.ts5[event.row] = event.stamps[4];
      SetTime(mhz, event);
    }
  }

  void SetTime(double mhz, const Event& event) {
    int64_t cycles = CyclesOf(event);
    int64_t host_ns = slices_.duration_ns[event.slice];
    // Half a wrap longer than the host saw it: stamps out of order, that look like a wrap.
    auto duration_ns = std::llround(static_cast<double>(cycles) * 1000 / mhz);
    auto half_wrap_ns = std::llround(static_cast<double>(kCounterSpan) * 500 / mhz);
    if (cycles < 0 || duration_ns - host_ns > half_wrap_ns) {
      whole_.diagnostics.Add(trace_events::kStampsDisordered, who_.input,
                             {.offset = slices_.args_offset[event.slice],
                              .detail = std::string(whole_.pools.Text(slices_.name[event.slice]))});
      return;
    }
    if (!event.is_open) slices_.start_ns[event.slice] = event.end_ns - duration_ns;
    slices_.duration_ns[event.slice] = duration_ns;
  }

  void MoveToDevice(int32_t process, const Device& device) {
    std::map<int32_t, int32_t> stream_tracks;  // by the track that the file has
    auto& works = whole_.tables.Edit<TimelineDeviceWorkTable>();
    for (const Event& event : device.events) {
      slices_.kind[event.slice] = KindOf(event);
      int32_t from = slices_.track[event.slice];
      auto [to, is_new] = stream_tracks.try_emplace(from, kNone32);
      if (is_new) {
        auto stream = static_cast<int64_t>(stream_tracks.size()) - 1;
        to->second = AddStream(process, from, device.number, stream, event.phase);
      }
      slices_.track[event.slice] = to->second;
      auto row = NewRow<TimelineDeviceWorkRow>();
      row.slice = static_cast<int32_t>(event.slice);
      row.device = device.number;
      row.stream = tracks_.stream[static_cast<size_t>(to->second)];
      row.bytes = stamps_.bytes[event.row];
      works.Add(row);
    }
  }

  StringId KindOf(const Event& event) const {
    bool is_copy = event.phase == Phase::kDmaIn || event.phase == Phase::kDmaOut;
    bool is_collective = stamps_.coll_group[event.row] != StringId::kNone ||
                         (NameBits(whole_.pools.Text(slices_.name[event.slice])) & kNameRdma) != 0;
    if (event.phase == Phase::kPrep) return queue_;
    return is_copy && !is_collective ? memcpy_ : kernel_;
  }

  // The thread itself becomes the stream when nothing of the host is on it.
  int32_t AddStream(int32_t process, int32_t from, int32_t device, int64_t stream, Phase phase) {
    static constexpr std::string_view kNames[] = {"DmaI", "Cmpt Prep", "Cmpt Exec", "DmaO"};
    int32_t track = from;
    if (slices_of_track_[static_cast<size_t>(from)] > 0) {
      auto row = NewRow<TimelineTrackRow>();
      track = row.track = static_cast<int32_t>(tracks_.size());
      row.process = process;
      row.tid = tracks_.tid[static_cast<size_t>(from)];
      tracks_.Add(row);
    }
    auto at = static_cast<size_t>(track);
    tracks_.kind[at] = whole_.pools.Intern(timeline::kStream);
    tracks_.device[at] = device;
    tracks_.stream[at] = stream;
    if (phase != Phase::kNone)
      tracks_.name[at] = whole_.pools.Intern(kNames[static_cast<size_t>(phase)]);
    return track;
  }

  // What has no stamps and no kind of its own is the runtime at work.
  void NameHostCalls() {
    StringId other = whole_.pools.Intern(timeline::kOther);
    StringId runtime = whole_.pools.Intern(timeline::kRuntime);
    for (size_t slice = 0; slice < slices_.size(); ++slice) {
      if (slices_.kind[slice] == other) slices_.kind[slice] = runtime;
    }
  }

  // A file of several ranks: rows belong to the one whose process they are of.
  void TellRanks() {
    auto rank_of = [&](int32_t process) {
      auto found = devices_.find(process);
      return found == devices_.end() ? who_.rank : found->second.number;
    };
    for (size_t row = 0; row < tracks_.size(); ++row)
      tracks_.rank[row] = rank_of(tracks_.process[row]);
    for (size_t row = 0; row < slices_.size(); ++row) slices_.rank[row] = rank_of(ProcessOf(row));
    for (size_t row = 0; row < stamps_.size(); ++row)
      stamps_.rank[row] = slices_.rank[static_cast<size_t>(stamps_.slice[row])];
    auto& rates = whole_.tables.Edit<AccelRateTable>();
    for (size_t row = 0; row < rates.size(); ++row) rates.rank[row] = rates.device[row];
  }

  Identity who_;
  Part& whole_;
  TimelineSliceTable& slices_;
  TimelineTrackTable& tracks_;
  AccelStampTable& stamps_;
  StringId kernel_, memcpy_, queue_;
  std::map<int32_t, Device> devices_;  // by process
  std::unordered_map<StringId, Phase> phases_;
  std::vector<int64_t> slices_of_track_;  // without stamps
  std::unordered_set<uint32_t> open_slices_;
};

}  // namespace

void ArrangeFlexSlices(const Identity& who, std::span<const uint32_t> open_slices, Part& whole) {
  Arranger(who, open_slices, whole).Run();
}

}  // namespace debrief::accel

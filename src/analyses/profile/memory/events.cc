#include "analyses/profile/memory/events.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "tables/timeline_memory.h"

namespace debrief::analyses::profile_memory {

namespace {

using timeline::TimelineView;

constexpr std::string_view kModulePrefix = "nn.Module: ";

// Rows of table timeline_memory, by time.
std::vector<size_t> RowsByTime(const TimelineView& view, const TimelineMemoryTable& table) {
  std::vector<size_t> rows(view.memory.size());
  std::iota(rows.begin(), rows.end(), view.memory.begin);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](size_t a, size_t b) { return table.time_ns[a] < table.time_ns[b]; });
  return rows;
}

// The innermost slice of a thread at a time. Times come in order, so that each track is walked
// once.
class AroundFinder {
 public:
  explicit AroundFinder(const TimelineView& view)
      : view_(view),
        tracks_(view.model.tables.Get<TimelineTrackTable>()),
        last_(view.tracks.size(), 0) {}

  int32_t At(int32_t track, int64_t time) {
    if (track < 0 || TimelineView::At(track) >= last_.size()) return kNone32;
    const size_t row = view_.tracks.begin + TimelineView::At(track);
    const int32_t first = tracks_.first_slice[row];
    int32_t& begun = last_[TimelineView::At(track)];  // slices of the track that began by then
    while (begun < tracks_.slices[row] && view_.start[TimelineView::At(first + begun)] <= time)
      ++begun;
    if (begun == 0) return kNone32;
    int32_t slice = first + begun - 1;
    while (slice != kNone32 && view_.end(slice) < time)
      slice = view_.parent[TimelineView::At(slice)];
    return slice;
  }

 private:
  const TimelineView& view_;
  const TimelineTrackTable& tracks_;
  std::vector<int32_t> last_;
};

void SetContext(const TimelineView& view, int32_t around, MemoryEvent& event) {
  for (; around != kNone32; around = view.parent[TimelineView::At(around)]) {
    if (event.op == kNone32 && view.kind[TimelineView::At(around)] == view.kinds.op)
      event.op = around;
    if (event.module == kNone32 && view.NameOf(around).starts_with(kModulePrefix))
      event.module = around;
    if (event.op != kNone32 && event.module != kNone32) return;
  }
}

// Where events tell no totals: sums from the beginning of the recording on.
void SumUp(DeviceEvents& device) {
  int64_t sum = 0;
  for (MemoryEvent& event : device.events) {
    sum = Plus(sum, event.bytes);
    event.allocated = sum;
  }
}

}  // namespace

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() + 1 : std::numeric_limits<int64_t>::max();
}

std::vector<DeviceEvents> MemoryEventsOf(const TimelineView& view) {
  const auto& table = view.model.tables.Get<TimelineMemoryTable>();
  AroundFinder around(view);
  std::map<std::pair<int32_t, int32_t>, DeviceEvents> devices;
  for (size_t row : RowsByTime(view, table)) {
    if (table.bytes[row] == kNone64) continue;
    DeviceEvents& device = devices[{table.device_type[row], table.device[row]}];
    MemoryEvent event{.time = table.time_ns[row],
                      .bytes = table.bytes[row],
                      .address = table.address[row],
                      .allocated = table.allocated_bytes[row],
                      .reserved = table.reserved_bytes[row]};
    SetContext(view, around.At(table.track[row], event.time), event);
    if (event.allocated == kNone64) device.totals_known = false;
    device.events.push_back(event);
  }
  std::vector<DeviceEvents> all;
  for (auto& [key, device] : devices) {
    std::tie(device.device_type, device.device) = key;
    if (!device.totals_known) SumUp(device);
    all.push_back(std::move(device));
  }
  return all;
}

}  // namespace debrief::analyses::profile_memory

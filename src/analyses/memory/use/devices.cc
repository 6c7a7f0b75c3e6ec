#include "analyses/memory/use/devices.h"

#include "tables/memory_annotation.h"
#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_segment.h"
#include "tables/memory_snapshot.h"

namespace debrief::analyses::memory_use {

namespace {

template <typename Rows>
Device& DeviceOf(Devices& devices, const Rows& rows, size_t i) {
  Device& device = devices[{rows.input[i], rows.device[i]}];
  device.who = {rows.input[i], rows.job[i], rows.attempt[i], rows.rank[i]};
  return device;
}

void AddEvents(const MemoryEventTable& events, Devices& devices) {
  for (size_t begin = 0; begin < events.size();) {
    size_t end = begin + 1;
    while (end < events.size() && events.input[end] == events.input[begin] &&
           events.device[end] == events.device[begin])
      ++end;
    Device& device = DeviceOf(devices, events, begin);
    device.events.push_back({begin, end - begin});
    device.event_count += end - begin;
    begin = end;
  }
}

}  // namespace

Devices GatherDevices(const Model& model) {
  Devices devices;
  const auto& segments = model.tables.Get<MemorySegmentTable>();
  for (size_t i = 0; i < segments.size(); ++i) DeviceOf(devices, segments, i).segments.push_back(i);
  const auto& blocks = model.tables.Get<MemoryBlockTable>();
  for (size_t i = 0; i < blocks.size(); ++i) DeviceOf(devices, blocks, i).blocks.push_back(i);
  AddEvents(model.tables.Get<MemoryEventTable>(), devices);
  const auto& annotations = model.tables.Get<MemoryAnnotationTable>();
  for (size_t i = 0; i < annotations.size(); ++i) {
    auto found = devices.find({annotations.input[i], annotations.device[i]});
    if (found != devices.end()) found->second.annotations.push_back(i);
  }
  const auto& snapshots = model.tables.Get<MemorySnapshotTable>();
  for (size_t i = 0; i < snapshots.size(); ++i) {
    auto begin = devices.lower_bound({snapshots.input[i], kNone32});
    for (; begin != devices.end() && begin->first.first == snapshots.input[i]; ++begin)
      begin->second.whole = snapshots.whole[i] != 0;
  }
  return devices;
}

}  // namespace debrief::analyses::memory_use

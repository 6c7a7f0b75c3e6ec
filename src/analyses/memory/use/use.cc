// What held the memory of a GPU, at the peak, at an OOM and at the end, and how much of what was
// reserved was not in use? From snapshots of the caching allocator: states at the end are read off
// its blocks, everything before by going through its trace (replay.h). Linear in blocks and
// entries.
#include <algorithm>

#include "analyses/analysis.h"
#include "analyses/memory/use/holders.h"
#include "analyses/memory/use/replay.h"
#include "tables/memory_annotation.h"
#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_holder.h"
#include "tables/memory_segment.h"
#include "tables/memory_snapshot.h"
#include "tables/memory_timeline.h"
#include "tables/memory_use.h"

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

// One pass over each of the memory tables.
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

void AddBlock(const Model& model, size_t block, bool is_split, MemoryUseRow& row) {
  const auto& blocks = model.tables.Get<MemoryBlockTable>();
  std::string_view state = model.pools.Text(blocks.state[block]);
  int64_t bytes = blocks.bytes[block];
  if (state == "active_allocated") {
    row.end_allocated_bytes = Plus(row.end_allocated_bytes, bytes);
    row.end_requested_bytes = Plus(row.end_requested_bytes, blocks.requested_bytes[block]);
  } else if (state == "inactive") {
    row.end_free_bytes = Plus(row.end_free_bytes, bytes);
    row.largest_free_bytes = std::max(row.largest_free_bytes, Plus(bytes, 0));
    if (is_split) row.end_split_bytes = Plus(row.end_split_bytes, bytes);
  } else {
    row.end_pending_bytes = Plus(row.end_pending_bytes, bytes);
  }
}

MemoryUseRow EndOf(const Model& model, const DeviceKey& key, const Device& device) {
  auto row = Part::RowOf<MemoryUseRow>(device.who);
  std::tie(row.input, row.device) = key;
  row.segments = static_cast<int32_t>(device.segments.size());
  row.end_reserved_bytes = row.end_allocated_bytes = row.end_requested_bytes = 0;
  row.end_pending_bytes = row.end_free_bytes = row.end_split_bytes = row.largest_free_bytes = 0;
  const auto& segments = model.tables.Get<MemorySegmentTable>();
  for (size_t segment : device.segments)
    row.end_reserved_bytes = Plus(row.end_reserved_bytes, segments.bytes[segment]);
  // Blocks of a segment stand together.
  const auto& numbers = model.tables.Get<MemoryBlockTable>().segment;
  for (size_t i = 0; i < device.blocks.size(); ++i) {
    auto same = [&](size_t other) {
      return numbers[device.blocks[other]] == numbers[device.blocks[i]];
    };
    bool is_split = (i > 0 && same(i - 1)) || (i + 1 < device.blocks.size() && same(i + 1));
    AddBlock(model, device.blocks[i], is_split, row);
  }
  return row;
}

// The innermost range that was open at `time_ns`; kNone when none was.
StringId RangeAt(const Model& model, const Device& device, int64_t time_ns) {
  const auto& annotations = model.tables.Get<MemoryAnnotationTable>();
  std::vector<StringId> open;
  for (size_t i : device.annotations) {
    if (annotations.time_ns[i] > time_ns) break;
    if (model.pools.Text(annotations.stage[i]) == "START") {
      open.push_back(annotations.name[i]);
      continue;
    }
    auto begun = std::find(open.rbegin(), open.rend(), annotations.name[i]);
    if (begun != open.rend()) open.erase(std::next(begun).base());
  }
  return open.empty() ? StringId::kNone : open.back();
}

void AddScan(const Model& model, const Device& device, const Scan& scan, Part& part,
             MemoryUseRow& row) {
  row.start_allocated_bytes = scan.start_allocated;
  row.start_reserved_bytes = scan.start_reserved;
  row.peak_allocated_bytes = scan.peak_allocated;
  row.peak_reserved_bytes = scan.peak_reserved;
  row.peak_unused_bytes = Minus(scan.peak_reserved, scan.peak_allocated);
  if (scan.peak_reserved > 0) {
    row.peak_unused_share =
        static_cast<double>(row.peak_unused_bytes) / static_cast<double>(scan.peak_reserved);
  }
  row.most_reserved_bytes = scan.most_reserved;
  row.segment_allocs = scan.segment_allocs;
  row.segment_frees = scan.segment_frees;
  row.retries = scan.retries;
  row.ooms = scan.ooms;
  if (scan.peak_event == kBefore) return;
  row.peak_event = scan.peak_event;
  row.peak_ns = model.tables.Get<MemoryEventTable>().time_ns[static_cast<size_t>(scan.peak_event)];
  StringId range = RangeAt(model, device, row.peak_ns);
  if (range != StringId::kNone) row.peak_annotation = part.pools.Intern(model.pools.Text(range));
}

void AddTimeline(const DeviceKey& key, Scan& scan, Part& part) {
  for (MemoryTimelineRow& row : scan.timeline) {
    std::tie(row.input, row.device) = key;
    part.tables.Edit<MemoryTimelineTable>().Add(row);
  }
  scan.timeline = {};
}

Status Run(const Model& model, AnalysisResult& result) {
  HolderRows holders(model, result.part);
  std::vector<Replayed> replayed;
  const std::vector<Step> steps = StepsByAction(model);
  auto& rows = result.part.tables.Edit<MemoryUseTable>();
  for (const auto& [key, device] : GatherDevices(model)) {
    MemoryUseRow row = EndOf(model, key, device);
    row.events = static_cast<int64_t>(device.event_count);
    if (device.event_count > 0) {
      Replay replay(model, device, steps);
      Scan scan = replay.Run();
      AddScan(model, device, scan, result.part, row);
      AddTimeline(key, scan, result.part);
      holders.AddMoment(key, device, "peak", replay.LivingAt(scan.peak_event, scan));
      if (scan.ooms > 0)
        holders.AddMoment(key, device, "oom", replay.LivingAt(scan.first_oom, scan));
      replayed.push_back({key, device.who, rows.size(), std::move(scan)});
    }
    holders.AddEnd(key, device);
    rows.Add(row);
  }
  AddFindings(model, result.part, replayed, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "memory_use",
               .sentence = "What held the memory of each GPU, and how much of it was not in use?",
               .example = "GPU 0 of rank 3 ran out of memory: 2.00 GiB asked for, 310.0 MiB left; "
                          "train.py:41 step holds most of the 70.10 GiB in use: 31.25 GiB",
               .needs = kTableNames<MemorySnapshotTable>,
               .makes = kTableNames<MemoryHolderTable, MemoryTimelineTable, MemoryUseTable>,
               .uses = kTableNames<MemorySegmentTable, MemoryBlockTable, MemoryEventTable,
                                   MemoryAnnotationTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::memory_use

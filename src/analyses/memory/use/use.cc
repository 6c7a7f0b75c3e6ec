// What held the memory of a GPU, at the peak, at an OOM and at the end, and how much of what was
// reserved was not in use? From snapshots of the caching allocator: states at the end are read off
// its blocks, everything before by going through its trace (replay.h). Linear in blocks and
// entries.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/memory/use/replay.h"
#include "tables/memory_annotation.h"
#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_holder.h"
#include "tables/memory_segment.h"
#include "tables/memory_snapshot.h"
#include "tables/memory_timeline.h"
#include "tables/memory_use.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::memory_use {

namespace {

// The name of a function without its arguments.
std::string_view WithoutArguments(std::string_view function) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t at = function.find('(');
  while (at != std::string_view::npos && function.substr(at).starts_with(kAnonymous))
    at = function.find('(', at + kAnonymous.size());
  return at == 0 ? function : function.substr(0, at);
}

// "train.py:41 step"
std::string TextOf(const Pools& pools, const Frame& frame) {
  std::string_view file = pools.Text(frame.file);
  std::string_view function = pools.Text(frame.function);
  if (IsNativeFile(file)) return std::string(WithoutArguments(function));
  return fmt::format("{}:{} {}", file, frame.line, function);
}

// Writes rows with stacks and texts translated into the pools of the result.
class HolderRows {
 public:
  HolderRows(const Model& model, Part& part) : model_(model), part_(part) {}

  void AddMoment(const Device& device, std::string_view moment, const Holders& holders) {
    std::vector<Line> lines;
    for (const auto& [stack, held] : holders) lines.push_back({StringId::kNone, stack, held});
    Add(device, moment, std::move(lines));
  }

  // What lives when the snapshot is taken, by pool.
  void AddEnd(const Device& device) {
    const auto& blocks = model_.tables.Get<MemoryBlockTable>();
    const auto& segments = model_.tables.Get<MemorySegmentTable>();
    std::unordered_map<int32_t, StringId> pools;  // by number of the segment
    for (size_t segment : device.segments)
      pools[segments.segment[segment]] = segments.pool[segment];
    std::map<std::pair<StringId, StackId>, Held> sums;
    for (size_t block : device.blocks) {
      if (model_.pools.Text(blocks.state[block]) != "active_allocated") continue;
      auto pool = pools.find(blocks.segment[block]);
      Held& held =
          sums[{pool == pools.end() ? StringId::kNone : pool->second, blocks.stack[block]}];
      held.bytes = Plus(held.bytes, blocks.requested_bytes[block]);
      ++held.count;
    }
    std::vector<Line> lines;
    for (const auto& [where, held] : sums) lines.push_back({where.first, where.second, held});
    Add(device, "end", std::move(lines));
  }

 private:
  struct Line {
    StringId pool = StringId::kNone;  // of the model
    StackId stack = StackId::kNone;   // of the model
    Held held;
  };

  void Add(const Device& device, std::string_view moment, std::vector<Line> lines) {
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
      if (a.held.bytes != b.held.bytes) return a.held.bytes > b.held.bytes;
      return std::pair(a.pool, a.stack) < std::pair(b.pool, b.stack);
    });
    int64_t total = 0;
    for (const Line& line : lines) total = Plus(total, line.held.bytes);
    for (const Line& line : lines) {
      auto row = Part::RowOf<MemoryHolderRow>(device.who);
      row.device = device.device;
      row.moment = part_.pools.Intern(moment);
      row.pool = Copy(line.pool);
      row.bytes = line.held.bytes;
      row.count = line.held.count;
      if (total > 0) row.share = static_cast<double>(row.bytes) / static_cast<double>(total);
      row.stack = Copy(line.stack);
      row.frame = FrameText(line.stack);
      part_.tables.Edit<MemoryHolderTable>().Add(row);
    }
  }

  StackId Copy(StackId stack) {
    if (stack == StackId::kNone) return stack;
    auto [place, is_new] = copies_.try_emplace(stack);
    if (!is_new) return place->second.first;
    std::vector<FrameId> frames;
    for (FrameId id : model_.pools.GetStack(stack)) {
      auto [copy, is_new_frame] = frames_.try_emplace(id);
      if (is_new_frame) {
        Frame frame = model_.pools.GetFrame(id);
        frame.file = Copy(frame.file);
        frame.function = Copy(frame.function);
        frame.text = Copy(frame.text);
        copy->second = part_.pools.AddFrame(frame);
      }
      frames.push_back(copy->second);
    }
    FrameId shown = FrameToShow(model_.pools, stack);
    if (shown != FrameId::kNone)
      place->second.second = part_.pools.Intern(TextOf(model_.pools, model_.pools.GetFrame(shown)));
    place->second.first = part_.pools.AddStack(frames);
    return place->second.first;
  }

  StringId Copy(StringId text) {
    return text == StringId::kNone ? text : part_.pools.Intern(model_.pools.Text(text));
  }

  StringId FrameText(StackId stack) {
    auto found = copies_.find(stack);
    return found == copies_.end() ? StringId::kNone : found->second.second;
  }

  const Model& model_;
  Part& part_;
  std::unordered_map<StackId, std::pair<StackId, StringId>> copies_;  // stack and its frame's text
  std::unordered_map<FrameId, FrameId> frames_;
};

template <typename Rows>
Device& DeviceOf(Devices& devices, const Rows& rows, size_t i) {
  Device& device = devices[{rows.input[i], rows.device[i]}];
  device.who = {rows.input[i], rows.job[i], rows.attempt[i], rows.rank[i]};
  device.device = rows.device[i];
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

MemoryUseRow EndOf(const Model& model, const Device& device) {
  auto row = Part::RowOf<MemoryUseRow>(device.who);
  row.device = device.device;
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
  const auto& times = model.tables.Get<MemoryEventTable>().time_ns;
  if (scan.ooms > 0) row.oom_ns = times[static_cast<size_t>(scan.first_oom)];
  if (scan.peak_event == kBefore) return;
  row.peak_event = scan.peak_event;
  row.peak_ns = times[static_cast<size_t>(scan.peak_event)];
  StringId range = RangeAt(model, device, row.peak_ns);
  if (range != StringId::kNone) row.peak_annotation = part.pools.Intern(model.pools.Text(range));
}

Status Run(const Model& model, AnalysisResult& result) {
  HolderRows holders(model, result.part);
  std::vector<Replayed> replayed;
  const std::vector<Step> steps = StepsByAction(model);
  auto& rows = result.part.tables.Edit<MemoryUseTable>();
  for (const auto& [key, device] : GatherDevices(model)) {
    MemoryUseRow row = EndOf(model, device);
    row.events = static_cast<int64_t>(device.event_count);
    if (device.event_count > 0) {
      Replay replay(model, device, steps);
      Scan scan = replay.Run();
      AddScan(model, device, scan, result.part, row);
      for (const MemoryTimelineRow& point : std::exchange(scan.timeline, {}))
        result.part.tables.Edit<MemoryTimelineTable>().Add(point);
      holders.AddMoment(device, "peak", replay.LivingAt(scan.peak_event, scan));
      if (scan.ooms > 0) holders.AddMoment(device, "oom", replay.LivingAt(scan.first_oom, scan));
      replayed.push_back({key, device.who, rows.size(), std::move(scan)});
    }
    holders.AddEnd(device);
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
               .example =
                   "GPU 0 of rank 3 ran out of memory: 2.00 GiB asked for, 310.0 MiB left; "
                   "the largest holder is train.py:41 step: 31.25 GiB of the 70.10 GiB in use",
               .needs = kTableNames<MemorySnapshotTable>,
               .makes = kTableNames<MemoryHolderTable, MemoryTimelineTable, MemoryUseTable>,
               .uses = kTableNames<MemorySegmentTable, MemoryBlockTable, MemoryEventTable,
                                   MemoryAnnotationTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::memory_use

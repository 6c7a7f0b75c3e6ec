#include "analyses/memory/use/replay.h"

#include <algorithm>

#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_segment.h"

namespace debrief::analyses::memory_use {

namespace {

constexpr size_t kMostSpans = 1000;

Step StepOfName(std::string_view action) {
  if (action == "alloc") return Step::kAlloc;
  if (action == "free_requested") return Step::kFree;
  if (action == "segment_alloc" || action == "segment_map") return Step::kReserve;
  if (action == "segment_free" || action == "segment_unmap") return Step::kRelease;
  if (action == "oom") return Step::kOom;
  return Step::kOther;
}

}  // namespace

// Sums so far, counted from the first entry on.
struct Replay::State {
  int64_t allocated = 0;
  int64_t reserved = 0;
  int64_t least_reserved = 0;
  bool is_behind_release = false;  // the entry before gave a segment back
};

std::vector<Step> StepsByAction(const Model& model) {
  std::vector<Step> steps(model.pools.strings.size());
  for (uint32_t id = 1; id < steps.size(); ++id)
    steps[id] = StepOfName(model.pools.Text(static_cast<StringId>(id)));
  return steps;
}

Replay::Replay(const Model& model, const Device& device, const std::vector<Step>& steps)
    : model_(model), device_(device), events_(model.tables.Get<MemoryEventTable>()), steps_(steps) {
  span_events_ = static_cast<int64_t>((device.event_count + kMostSpans - 1) / kMostSpans);
}

Scan Replay::Run() {
  Scan scan;
  State state;
  for (EventRun run : device_.events) {
    for (size_t event = run.first; event < run.first + run.count; ++event) {
      Apply(event, state, scan);
      AddToTimeline(event, state, scan);
      scan.most_reserved = std::max(scan.most_reserved, state.reserved);
      if (state.allocated <= scan.peak_allocated) continue;
      scan.peak_allocated = state.allocated;
      scan.peak_reserved = state.reserved;
      scan.peak_event = static_cast<int64_t>(event);
    }
  }
  FindStart(state, scan);
  Shift(scan);
  in_use_ = {};
  return scan;
}

void Replay::Apply(size_t event, State& state, Scan& scan) {
  Step step = StepOf(event);
  if (step == Step::kAlloc) {
    int64_t& bytes = in_use_[events_.address[event]];
    state.allocated = Plus(Minus(state.allocated, bytes), events_.bytes[event]);
    bytes = Plus(events_.bytes[event], 0);
  } else if (step == Step::kFree) {
    ApplyFree(event, state, scan);
  } else if (step == Step::kOom) {
    if (++scan.ooms == 1) {
      scan.first_oom = static_cast<int64_t>(event);
      scan.oom_reserved = state.reserved;
    }
  } else if (step != Step::kOther) {
    ApplySegment(event, state, scan);
  }
  state.is_behind_release = step == Step::kRelease;
}

void Replay::ApplyFree(size_t event, State& state, Scan& scan) {
  auto found = in_use_.find(events_.address[event]);
  if (found == in_use_.end()) {
    scan.early_frees.push_back(event);
    scan.start_allocated = Plus(scan.start_allocated, events_.bytes[event]);
    state.allocated = Minus(state.allocated, events_.bytes[event]);
    return;
  }
  state.allocated = Minus(state.allocated, found->second);
  in_use_.erase(found);
}

void Replay::ApplySegment(size_t event, State& state, Scan& scan) {
  if (StepOf(event) == Step::kReserve) {
    ++scan.segment_allocs;
    scan.retries += state.is_behind_release ? 1 : 0;
    state.reserved = Plus(state.reserved, events_.bytes[event]);
  } else {
    ++scan.segment_frees;
    state.reserved = Minus(state.reserved, events_.bytes[event]);
    state.least_reserved = std::min(state.least_reserved, state.reserved);
  }
}

void Replay::AddToTimeline(size_t event, const State& state, Scan& scan) {
  const auto& times = model_.tables.Get<MemoryEventTable>().time_ns;
  bool is_new = scan.timeline.empty() || scan.timeline.back().events == span_events_;
  if (is_new) {
    auto row = Part::RowOf<MemoryTimelineRow>(device_.who);
    row.device = device_.device;
    row.first_event = static_cast<int64_t>(event);
    row.events = 0;
    row.begin_ns = times[event];
    row.most_allocated_bytes = state.allocated;
    row.most_reserved_bytes = state.reserved;
    scan.timeline.push_back(row);
  }
  MemoryTimelineRow& row = scan.timeline.back();
  ++row.events;
  row.end_ns = times[event];
  row.allocated_bytes = state.allocated;
  row.reserved_bytes = state.reserved;
  row.most_allocated_bytes = std::max(row.most_allocated_bytes, state.allocated);
  row.most_reserved_bytes = std::max(row.most_reserved_bytes, state.reserved);
}

// What was there before the first entry. Of a snapshot that is cut, entries are missing at the end,
// so what lives then tells nothing of the start.
void Replay::FindStart(const State& state, Scan& scan) {
  scan.start_reserved = -state.least_reserved;
  if (!device_.whole) return;
  int64_t reserved = 0;
  const auto& segments = model_.tables.Get<MemorySegmentTable>();
  for (size_t segment : device_.segments) reserved = Plus(reserved, segments.bytes[segment]);
  scan.start_reserved = std::max(scan.start_reserved, Minus(reserved, state.reserved));
  const auto& blocks = model_.tables.Get<MemoryBlockTable>();
  for (size_t block : device_.blocks) {
    bool is_allocated = model_.pools.Text(blocks.state[block]) == "active_allocated";
    if (!is_allocated || in_use_.contains(blocks.address[block])) continue;
    scan.early_blocks.push_back(block);
    scan.start_allocated = Plus(scan.start_allocated, blocks.requested_bytes[block]);
  }
}

// From sums since the first entry to sums.
void Replay::Shift(Scan& scan) {
  auto allocated = [&](int64_t& bytes) { bytes = Plus(bytes, scan.start_allocated); };
  auto reserved = [&](int64_t& bytes) { bytes = Plus(bytes, scan.start_reserved); };
  allocated(scan.peak_allocated);
  reserved(scan.peak_reserved);
  reserved(scan.most_reserved);
  reserved(scan.oom_reserved);
  for (MemoryTimelineRow& row : scan.timeline) {
    allocated(row.allocated_bytes);
    allocated(row.most_allocated_bytes);
    reserved(row.reserved_bytes);
    reserved(row.most_reserved_bytes);
  }
}

Holders Replay::LivingAt(int64_t moment, const Scan& scan) const {
  std::unordered_map<int64_t, size_t> living;  // alloc event by address
  for (EventRun run : device_.events) {
    for (size_t event = run.first; event < run.first + run.count; ++event) {
      if (static_cast<int64_t>(event) > moment) break;
      Step step = StepOf(event);
      if (step == Step::kAlloc) living[events_.address[event]] = event;
      if (step == Step::kFree) living.erase(events_.address[event]);
    }
  }
  Holders holders;
  auto add = [&](StackId stack, int64_t bytes) {
    Held& held = holders[stack];
    held.bytes = Plus(held.bytes, bytes);
    ++held.count;
  };
  const auto& stacks = model_.tables.Get<MemoryEventTable>().stack;
  for (const auto& [address, event] : living) add(stacks[event], events_.bytes[event]);
  for (size_t event : scan.early_frees) {
    if (static_cast<int64_t>(event) > moment) add(StackId::kNone, events_.bytes[event]);
  }
  const auto& blocks = model_.tables.Get<MemoryBlockTable>();
  for (size_t block : scan.early_blocks) add(blocks.stack[block], blocks.requested_bytes[block]);
  return holders;
}

}  // namespace debrief::analyses::memory_use

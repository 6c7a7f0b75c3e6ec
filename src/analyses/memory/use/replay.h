// Goes through the allocator's trace of one device.
//
// The trace is a ring: what was allocated before its first entry is seen only when it is freed, or
// because it lives at the end. So the number of bytes in use at an entry is known up to a constant
// until the last entry was seen. The place of the peak does not depend on the constant:
//
//   first pass   Scan: running sums, their largest, the spans of the timeline, and which frees and
//                which blocks at the end belong to allocations of before the trace
//   second pass  LivingAt: what lives at an entry, by the place of its allocation
//
// Both are one look-up of an address per entry. Memory: what lives at the same time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/finding.h"
#include "model/memory/amounts.h"
#include "model/model.h"
#include "tables/memory_event.h"
#include "tables/memory_timeline.h"

namespace debrief::analyses::memory_use {

// Rows [first, first + count) of memory_event.
struct EventRun {
  size_t first = 0;
  size_t count = 0;
};

// The rows of one device in one snapshot.
struct Device {
  Identity who;
  int32_t device = kNone32;
  bool whole = true;  // the snapshot was read to its end
  std::vector<size_t> segments;
  std::vector<size_t> blocks;
  std::vector<EventRun> events;  // in order; one run unless the file is odd
  size_t event_count = 0;
  std::vector<size_t> annotations;
};

using DeviceKey = std::pair<int32_t, int32_t>;  // input, device
using Devices = std::map<DeviceKey, Device>;

using memory::Minus;
using memory::Plus;

// "Behind" entry kBefore is the state before the first one.
inline constexpr int64_t kBefore = -1;

// How an entry of the trace changes the sums.
enum class Step : uint8_t { kOther, kAlloc, kFree, kReserve, kRelease, kOom };

struct Scan {
  int64_t start_allocated = 0;
  int64_t start_reserved = 0;
  int64_t peak_allocated = 0;
  int64_t peak_reserved = 0;     // at the peak of allocated
  int64_t peak_event = kBefore;  // row of memory_event
  int64_t most_reserved = 0;
  int64_t first_oom = kBefore;
  int64_t oom_reserved = 0;  // at the first oom
  int64_t segment_allocs = 0;
  int64_t segment_frees = 0;
  int64_t retries = 0;
  int64_t ooms = 0;
  std::vector<MemoryTimelineRow> timeline;
  std::vector<size_t> early_frees;   // rows of memory_event that free what was there before
  std::vector<size_t> early_blocks;  // rows of memory_block that were there before
};

// What a stack holds.
struct Held {
  int64_t bytes = 0;
  int64_t count = 0;
};
using Holders = std::unordered_map<StackId, Held>;

// By StringId of an action; once for all devices.
std::vector<Step> StepsByAction(const Model& model);

class Replay {
 public:
  // `steps` must outlive it.
  Replay(const Model& model, const Device& device, const std::vector<Step>& steps);

  Scan Run();

  // Of the state behind row `event` of memory_event.
  Holders LivingAt(int64_t event, const Scan& scan) const;

 private:
  struct State;

  Step StepOf(size_t event) const { return steps_[static_cast<uint32_t>(events_.action[event])]; }
  void Apply(size_t event, State& state, Scan& scan);
  void ApplyFree(size_t event, State& state, Scan& scan);
  void ApplySegment(size_t event, State& state, Scan& scan);
  void AddToTimeline(size_t event, const State& state, Scan& scan);
  void FindStart(const State& state, Scan& scan);
  static void Shift(Scan& scan);

  const Model& model_;
  const Device& device_;
  const MemoryEventTable& events_;
  std::span<const Step> steps_;  // by StringId of the action
  int64_t span_events_ = 1;
  std::unordered_map<int64_t, int64_t> in_use_;  // bytes by address
};

// One device of one snapshot whose trace was replayed; `row` is its row of memory_use.
struct Replayed {
  DeviceKey key;
  Identity who;
  size_t row = 0;
  Scan scan;
};

// The frame of a stack to look at; kNone for a stack without frames. Stacks of the autograd engine
// have no frame of Python at all; their innermost frames are the recorder and the allocator.
FrameId FrameToShow(const Pools& pools, StackId stack);

// Of every attempt at most one finding a rule: that of the device to begin with, naming all ranks.
void AddFindings(const Model& model, const Part& part, const std::vector<Replayed>& devices,
                 std::vector<Finding>& findings);

}  // namespace debrief::analyses::memory_use

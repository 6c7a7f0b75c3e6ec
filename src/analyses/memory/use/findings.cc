#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "analyses/memory/use/replay.h"
#include "tables/memory_event.h"
#include "tables/memory_holder.h"
#include "tables/memory_use.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::memory_use {

namespace {

// A quarter of what the device gave is a lot to leave unused just when most is needed; below 1 GiB
// it is a small model whose caches are of the size of a segment.
constexpr double kLargeShare = 0.25;
constexpr int64_t kLargeBytes = int64_t{1} << 30;
constexpr size_t kMostRows = 5;

using memory::Others;
using memory::SizeText;

std::string Name(const Replayed& device) {
  return memory::DeviceName(device.key.second, device.who.rank);
}

// The line of code that held most at a moment, over all its stacks.
struct Most {
  std::string frame;               // empty when no stack is known
  StackId stack = StackId::kNone;  // one of those with that line
  int64_t bytes = 0;
  int64_t total = 0;
  std::vector<int64_t> rows;  // the largest of memory_holder

  std::string InWords() const {
    if (frame.empty()) return "the largest holders";
    return fmt::format("the largest holder is {}: {} of the {} in use", frame, SizeText(bytes),
                       SizeText(total));
  }
};

Most MostAt(const Part& part, const Replayed& device, std::string_view moment) {
  const auto& holders = part.tables.Get<MemoryHolderTable>();
  Most most;
  std::map<StringId, int64_t> sums;
  for (size_t i = 0; i < holders.size(); ++i) {
    bool is_here = DeviceKey(holders.input[i], holders.device[i]) == device.key &&
                   part.pools.Text(holders.moment[i]) == moment;
    if (!is_here) continue;
    most.total = Plus(most.total, holders.bytes[i]);
    if (most.rows.size() < kMostRows) most.rows.push_back(static_cast<int64_t>(i));
    if (holders.frame[i] == StringId::kNone) continue;
    int64_t& sum = sums[holders.frame[i]];
    sum = Plus(sum, holders.bytes[i]);
    if (sum <= most.bytes) continue;
    most.bytes = sum;
    most.frame = part.pools.Text(holders.frame[i]);
    most.stack = holders.stack[i];
  }
  return most;
}

Finding NewFinding(std::string rule, Severity severity,
                   const std::vector<const Replayed*>& devices) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.severity = severity;
  finding.job = devices.front()->who.job;
  finding.attempt = devices.front()->who.attempt;
  std::set<int32_t> ranks;
  for (const Replayed* device : devices) {
    if (device->who.rank != kNone32) ranks.insert(device->who.rank);
  }
  finding.ranks.assign(ranks.begin(), ranks.end());
  return finding;
}

void AddEvidence(const Part& part, const Most& most, const Replayed& device, Finding& finding) {
  if (FrameId id = FrameToShow(part.pools, most.stack); id != FrameId::kNone) {
    const Frame& frame = part.pools.GetFrame(id);
    std::string_view file = part.pools.Text(frame.file);
    if (!IsNativeFile(file))
      finding.source.push_back({device.who.rank, std::string(file), frame.line});
  }
  if (!most.rows.empty())
    finding.evidence.push_back(
        {.text = most.InWords(), .table = "memory_holder", .rows = most.rows});
}

void AddUse(const Replayed& device, std::string text, Finding& finding) {
  finding.evidence.push_back(
      {.text = std::move(text), .table = "memory_use", .rows = {static_cast<int64_t>(device.row)}});
}

std::string PeaksInWords(const Replayed& device) {
  return fmt::format("the allocator's peaks: {} in use, {} reserved",
                     SizeText(device.scan.peak_allocated), SizeText(device.scan.peak_reserved));
}

// `devices`, the first of which has the earliest oom.
Finding Oom(const Model& model, const Part& part, const std::vector<const Replayed*>& devices) {
  const Replayed& device = *devices.front();
  const auto& events = model.tables.Get<MemoryEventTable>();
  auto event = static_cast<size_t>(device.scan.first_oom);
  Most most = MostAt(part, device, "oom");
  Finding finding = NewFinding("memory.oom", Severity::kError, devices);
  finding.role = Role::kCause;
  std::string free = events.device_free_bytes[event] == kNone64
                         ? ""
                         : fmt::format(", {} left", SizeText(events.device_free_bytes[event]));
  finding.headline =
      fmt::format("{} ran out of memory: {} requested{}{}", Name(device),
                  SizeText(Plus(events.bytes[event], 0)), free, Others(devices.size()));
  finding.evidence.push_back({.text = fmt::format("the request that failed, for {}",
                                                  SizeText(Plus(events.bytes[event], 0))),
                              .table = "memory_event",
                              .rows = {device.scan.first_oom}});
  AddEvidence(part, most, device, finding);
  AddUse(device, PeaksInWords(device), finding);
  finding.confidence = 0.9;
  finding.why =
      "the allocator's own trace shows it; the program may have caught the error and continued";
  int64_t unused = Minus(device.scan.oom_reserved, most.total);
  finding.next_step =
      unused >= std::max<int64_t>(events.bytes[event], 1)
          ? fmt::format(
                "{} were reserved and not in use: memory is fragmented. Set "
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
                SizeText(unused))
          : "Reduce the largest holders: debrief query OUT \"FROM memory_holder WHERE moment = "
            "'oom'\"";
  return finding;
}

Finding Fragmentation(const Part& part, const std::vector<const Replayed*>& devices) {
  const Replayed& device = *devices.front();
  const auto& use = part.tables.Get<MemoryUseTable>();
  Finding finding = NewFinding("memory.fragmentation", Severity::kWarning, devices);
  finding.headline = fmt::format(
      "{} has {} ({:.0f} %) of its {} reserved but not in use at the peak{}", Name(device),
      SizeText(use.peak_unused_bytes[device.row]), 100 * use.peak_unused_share[device.row],
      SizeText(device.scan.peak_reserved), Others(devices.size()));
  AddEvidence(part, MostAt(part, device, "peak"), device, finding);
  AddUse(device, PeaksInWords(device), finding);
  finding.confidence = 0.8;
  finding.why = fmt::format(
      "replayed from the trace; said from {:.0f} % and {} on. Blocks are larger than what was "
      "asked "
      "for by rounding, which counts as unused",
      100 * kLargeShare, SizeText(kLargeBytes));
  finding.next_step =
      "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or allocate sizes that repeat.";
  return finding;
}

Finding Peak(const Part& part, const std::vector<const Replayed*>& devices) {
  const Replayed& device = *devices.front();
  const auto& use = part.tables.Get<MemoryUseTable>();
  Most most = MostAt(part, device, "peak");
  std::string_view range = part.pools.Text(use.peak_annotation[device.row]);
  Finding finding = NewFinding("memory.peak", Severity::kInfo, {&device});
  finding.headline =
      fmt::format("{} peaks at {} in use and {} reserved{}{}", Name(device),
                  SizeText(device.scan.peak_allocated), SizeText(device.scan.peak_reserved),
                  range.empty() ? "" : ", in ", range);
  AddEvidence(part, most, device, finding);
  AddUse(device,
         fmt::format("reserved and not in use at the peak: {} ({:.0f} %)",
                     SizeText(use.peak_unused_bytes[device.row]),
                     100 * use.peak_unused_share[device.row]),
         finding);
  finding.why = "replayed from the allocator's trace";
  finding.next_step =
      "See all of it: debrief query OUT \"FROM memory_holder WHERE moment = 'peak'\"";
  return finding;
}

bool IsFragmented(const MemoryUseTable& use, const Replayed& device) {
  return use.peak_unused_bytes[device.row] >= kLargeBytes &&
         use.peak_unused_share[device.row] >= kLargeShare;
}

// How much a native frame tells of what asked for memory: the node of autograd more than the op,
// the op more than what it calls; who records and who allocates, the inner end of every native
// stack, nothing.
int Worth(std::string_view function) {
  static constexpr std::array<std::string_view, 4> kMachinery = {
      "torch::unwind", "CapturedTraceback", "gather_with_cpp", "CachingAllocator"};
  if (function.starts_with("torch::autograd::generated::")) return 3;
  if (function.starts_with("at::_ops::")) return 2;
  bool is_machinery = function.empty() ||
                      std::any_of(kMachinery.begin(), kMachinery.end(), [&](std::string_view part) {
                        return function.find(part) != std::string_view::npos;
                      });
  return is_machinery ? 0 : 1;
}

}  // namespace

FrameId FrameToShow(const Pools& pools, StackId stack) {
  auto user = UserFrames(pools, stack);
  if (user.empty()) return FrameId::kNone;
  auto file = [&](FrameId id) { return pools.Text(pools.GetFrame(id).file); };
  if (!IsNativeFile(file(user.front())) && user.size() < pools.GetStack(stack).size())
    return user.front();
  auto frames = pools.GetStack(stack);
  auto python = std::find_if(frames.begin(), frames.end(),
                             [&](FrameId id) { return !IsNativeFile(file(id)); });
  if (python != frames.end()) return *python;
  return *std::max_element(frames.begin(), frames.end(), [&](FrameId a, FrameId b) {
    return Worth(pools.Text(pools.GetFrame(a).function)) <
           Worth(pools.Text(pools.GetFrame(b).function));
  });
}

void AddFindings(const Model& model, const Part& part, const std::vector<Replayed>& devices,
                 std::vector<Finding>& findings) {
  const auto& use = part.tables.Get<MemoryUseTable>();
  const auto& times = model.tables.Get<MemoryEventTable>().time_ns;
  struct Attempt {
    std::vector<const Replayed*> all, with_oom, fragmented;
  };
  std::map<std::pair<int32_t, int32_t>, Attempt> attempts;
  for (const Replayed& device : devices) {
    Attempt& attempt = attempts[{device.who.job, device.who.attempt}];
    attempt.all.push_back(&device);
    if (device.scan.ooms > 0) attempt.with_oom.push_back(&device);
    if (IsFragmented(use, device)) attempt.fragmented.push_back(&device);
  }
  auto lead = [](std::vector<const Replayed*>& found, auto value) {
    std::stable_sort(found.begin(), found.end(),
                     [&](const Replayed* a, const Replayed* b) { return value(*a) < value(*b); });
  };
  for (auto& [who, attempt] : attempts) {
    lead(attempt.with_oom,
         [&](const Replayed& device) { return times[static_cast<size_t>(device.scan.first_oom)]; });
    lead(attempt.fragmented,
         [&](const Replayed& device) { return -use.peak_unused_bytes[device.row]; });
    lead(attempt.all, [](const Replayed& device) { return -device.scan.peak_allocated; });
    if (!attempt.with_oom.empty()) findings.push_back(Oom(model, part, attempt.with_oom));
    if (!attempt.fragmented.empty()) findings.push_back(Fragmentation(part, attempt.fragmented));
    if (attempt.all.front()->scan.peak_allocated > 0) findings.push_back(Peak(part, attempt.all));
  }
}

}  // namespace debrief::analyses::memory_use

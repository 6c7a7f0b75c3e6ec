#include "analyses/memory/use/holders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "tables/memory_block.h"
#include "tables/memory_segment.h"
#include "torch/user_frames.h"

namespace debrief::analyses::memory_use {

namespace {

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

void HolderRows::AddMoment(const DeviceKey& key, const Device& device, std::string_view moment,
                           const Holders& holders) {
  std::vector<Line> lines;
  for (const auto& [stack, held] : holders) lines.push_back({StringId::kNone, stack, held});
  Add(key, device, moment, std::move(lines));
}

void HolderRows::AddEnd(const DeviceKey& key, const Device& device) {
  const auto& blocks = model_.tables.Get<MemoryBlockTable>();
  const auto& segments = model_.tables.Get<MemorySegmentTable>();
  std::unordered_map<int32_t, StringId> pools;  // by number of the segment
  for (size_t segment : device.segments) pools[segments.segment[segment]] = segments.pool[segment];
  std::map<std::pair<StringId, StackId>, Held> sums;
  for (size_t block : device.blocks) {
    if (model_.pools.Text(blocks.state[block]) != "active_allocated") continue;
    auto pool = pools.find(blocks.segment[block]);
    Held& held = sums[{pool == pools.end() ? StringId::kNone : pool->second, blocks.stack[block]}];
    held.bytes = Plus(held.bytes, blocks.requested_bytes[block]);
    ++held.count;
  }
  std::vector<Line> lines;
  for (const auto& [where, held] : sums) lines.push_back({where.first, where.second, held});
  Add(key, device, "end", std::move(lines));
}

void HolderRows::Add(const DeviceKey& key, const Device& device, std::string_view moment,
                     std::vector<Line> lines) {
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    if (a.held.bytes != b.held.bytes) return a.held.bytes > b.held.bytes;
    return std::pair(a.pool, a.stack) < std::pair(b.pool, b.stack);
  });
  int64_t total = 0;
  for (const Line& line : lines) total = Plus(total, line.held.bytes);
  for (const Line& line : lines) {
    auto row = Part::RowOf<MemoryHolderRow>(device.who);
    std::tie(row.input, row.device) = key;
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

StringId HolderRows::Copy(StringId text) {
  return text == StringId::kNone ? text : part_.pools.Intern(model_.pools.Text(text));
}

StackId HolderRows::Copy(StackId stack) {
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

StringId HolderRows::FrameText(StackId stack) {
  auto found = copies_.find(stack);
  return found == copies_.end() ? StringId::kNone : found->second.second;
}

}  // namespace debrief::analyses::memory_use

#include "analyses/profile/memory/holders.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace debrief::analyses::profile_memory {

namespace {

using timeline::TimelineView;

StringId NameOrNone(const TimelineView& view, int32_t slice) {
  return slice == kNone32 ? StringId::kNone : view.name[TimelineView::At(slice)];
}

}  // namespace

std::vector<Holder> AliveAfter(const TimelineView& view, std::span<const MemoryEvent> events) {
  std::unordered_map<int64_t, size_t> alive;  // by address: its allocation
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].address == kNone64) continue;
    if (events[i].bytes > 0) alive[events[i].address] = i;
    if (events[i].bytes < 0) alive.erase(events[i].address);
  }
  std::map<std::pair<StringId, StringId>, Holder> sums;
  for (const auto& [address, i] : alive) {
    const StringId op = NameOrNone(view, events[i].op), module = NameOrNone(view, events[i].module);
    Holder& holder = sums[{op, module}];
    holder.op = op;
    holder.module = module;
    ++holder.allocations;
    holder.bytes = Plus(holder.bytes, events[i].bytes);
  }
  std::vector<Holder> holders;
  for (const auto& [key, holder] : sums) holders.push_back(holder);
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  return holders;
}

}  // namespace debrief::analyses::profile_memory

// What memory is for, by when it was allocated and when it was freed: what the forward allocates
// and the backward frees are activations; what the backward allocates and keeps are gradients.
//
// Cost: a look-up of an address for each event.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "analyses/profile/memory/events.h"
#include "model/memory/amounts.h"
#include "tables/profile_memory_category.h"

namespace debrief::analyses::profile_memory {

namespace {

using memory::Minus;
using memory::Plus;

constexpr std::array<std::string_view, 7> kCategories = {
    "earlier", "optimiser", "gradients", "activations", "temporary", "other", "unused"};

struct Amount {
  int64_t bytes = 0, allocations = 0;
};
using Amounts = std::unordered_map<std::string_view, Amount>;

// `freed`: the event that freed it; null when none did while the profiler recorded.
std::string_view CategoryOf(const MemoryEvent& made, const MemoryEvent* freed) {
  const bool is_inside =
      freed != nullptr && made.outer_end != kNone64 && freed->time <= made.outer_end;
  if (is_inside) return "temporary";
  if (made.phase == Phase::kOptimiser) return freed == nullptr ? "optimiser" : "temporary";
  // What the backward frees by itself are gradients of activations.
  if (made.phase == Phase::kBackward)
    return freed != nullptr && freed->phase == Phase::kBackward ? "temporary" : "gradients";
  if (freed == nullptr) return "other";
  return freed->phase == Phase::kBackward ? "activations" : "temporary";
}

// An address that is allocated again without a free was freed unseen.
Amounts AliveAt(const DeviceEvents& device, size_t seen) {
  std::unordered_map<int64_t, size_t> alive;  // by address: its allocation
  Amounts amounts;
  auto count = [&](size_t made, const MemoryEvent* freed) {
    Amount& amount = amounts[CategoryOf(device.events[made], freed)];
    amount.bytes = Plus(amount.bytes, device.events[made].bytes);
    ++amount.allocations;
  };
  for (size_t i = 0; i < device.events.size(); ++i) {
    const MemoryEvent& event = device.events[i];
    if (event.address == kNone64) continue;
    if (event.bytes > 0 && i < seen) alive[event.address] = i;
    const auto found = event.bytes < 0 ? alive.find(event.address) : alive.end();
    if (found == alive.end()) continue;
    if (i >= seen) count(found->second, &event);
    alive.erase(found);
  }
  for (const auto& [address, made] : alive) count(made, nullptr);
  return amounts;
}

}  // namespace

void AddCategories(const timeline::TimelineView& view, const DeviceEvents& device,
                   const MemoryEvent& peak, Part& part) {
  const auto seen = static_cast<size_t>(&peak - device.events.data()) + 1;
  Amounts amounts = AliveAt(device, seen);
  int64_t rest = peak.allocated;
  for (const auto& [category, amount] : amounts) rest = Minus(rest, amount.bytes);
  if (device.totals_known && rest > 0) amounts["earlier"] = {rest, kNone64};
  const int64_t unused =
      peak.reserved == kNone64 ? 0 : std::max<int64_t>(0, Minus(peak.reserved, peak.allocated));
  if (unused > 0) amounts["unused"] = {unused, kNone64};
  const int64_t whole = peak.reserved == kNone64 ? peak.allocated : peak.reserved;
  for (std::string_view category : kCategories) {
    const auto found = amounts.find(category);
    if (found == amounts.end()) continue;
    auto row = view.NewRow<ProfileMemoryCategoryRow>();
    row.device_type = device.device_type;
    row.device = device.device;
    row.category = part.pools.Intern(category);
    row.bytes = found->second.bytes;
    if (whole > 0) row.share = static_cast<double>(row.bytes) / static_cast<double>(whole);
    row.allocations = found->second.allocations;
    part.tables.Edit<ProfileMemoryCategoryTable>().Add(row);
  }
}

}  // namespace debrief::analyses::profile_memory

#include "analyses/flight/waits/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/flight/words.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"

namespace debrief::analyses::flight {

void DescribeWait(const Index& index, const Waits& waits, int32_t waiter, Cause& cause) {
  const Unit& unit = *waits.At(waiter);
  cause.groups = {unit.group};
  cause.seq = unit.seq;
  cause.op = std::string(NameInWords(index, unit));
  cause.units.push_back(static_cast<int32_t>(&unit - index.units.data()));
}

int32_t FirstWaiter(const Index& index, const Waits& waits, const std::vector<int32_t>& blamed) {
  int32_t first = waits.On(blamed.front()).front();
  auto since = [&](int32_t rank) { return index.ops.created_ns[waits.At(rank)->row]; };
  for (int32_t rank : blamed) {
    for (int32_t waiter : waits.On(rank)) {
      if (since(waiter) < since(first)) first = waiter;
    }
  }
  return first;
}

std::string OperationInWords(const Index& index, const Unit& unit) {
  std::string site = SiteInWords(index, unit);
  return OpInWords(index, unit) + (site.empty() ? "" : fmt::format(" ({})", site));
}

std::string WaitersInWords(const Index& index, const Waits& waits,
                           const std::vector<int32_t>& blamed) {
  const std::vector<int32_t> ranks = GlobalRanks(index, waits.Behind(blamed));
  return fmt::format("{} {}", RanksInWords(ranks), ranks.size() == 1 ? "waits" : "wait");
}

std::string WaitersInOpInWords(const Index& index, const Waits& waits, const Unit& unit,
                               const std::vector<int32_t>& blamed) {
  const std::vector<int32_t> behind = waits.Behind(blamed);
  std::vector<int32_t> inside;
  for (int32_t rank : behind) {
    const Unit* at = waits.At(rank);
    if (at != nullptr && at->group == unit.group && at->seq == unit.seq) inside.push_back(rank);
  }
  if (inside.empty() || inside.size() == behind.size()) return WaitersInWords(index, waits, blamed);
  return fmt::format("{} wait", Plural(behind.size(), "rank"));
}

bool Contains(const std::vector<int32_t>& sorted, int32_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace debrief::analyses::flight

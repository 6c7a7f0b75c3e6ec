#include "op_trace/nesting.h"

#include <algorithm>
#include <tuple>

#include "op_trace/sums.h"

namespace debrief::op_trace {
namespace {

int64_t EndOf(const Entry& entry) {
  int64_t end = *entry.start_ns;
  AddTo(end, entry.duration_ns.value_or(0));
  return end;
}

// Positions of entries that have a start, by thread and start, an enclosing one before what it
// encloses.
std::vector<size_t> InOrder(std::span<const Entry> entries) {
  std::vector<size_t> order;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].start_ns) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(entries[a].thread, *entries[a].start_ns, EndOf(entries[b]), a) <
           std::tuple(entries[b].thread, *entries[b].start_ns, EndOf(entries[a]), b);
  });
  return order;
}

}  // namespace

std::vector<size_t> ParentsOf(std::span<const Entry> entries) {
  std::vector<size_t> parents(entries.size(), kNoParent);
  std::vector<size_t> open;
  for (const size_t i : InOrder(entries)) {
    const bool same_thread = !open.empty() && entries[open.back()].thread == entries[i].thread;
    if (!same_thread) open.clear();
    while (!open.empty() && EndOf(entries[open.back()]) <= *entries[i].start_ns) open.pop_back();
    // One that ends too early overlaps without enclosing: it is nobody's parent any more.
    while (!open.empty() && EndOf(entries[open.back()]) < EndOf(entries[i])) open.pop_back();
    if (!open.empty()) parents[i] = open.back();
    open.push_back(i);
  }
  return parents;
}

}  // namespace debrief::op_trace

// Steps of programs that mark none: served models, loops without a profiler schedule.
//
// The sequence of kernel names on the busiest stream is searched for a period. Layers of a model
// repeat as well; what sets steps apart is that each of them takes input or gives output: a copy
// between host and device, the launch of a graph, or a host that waits for the device. Without one
// for each period nothing is said.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "analyses/timeline/steps/period.h"
#include "analyses/timeline/steps/steps.h"

namespace debrief::analyses::timeline_steps {

namespace {

using timeline::TimelineView;
using timeline::WorkOrigin;

constexpr size_t kFewestWorks = 64;  // of a stream: fewer repeat by chance

using Works = std::vector<const WorkOrigin*>;

// In the order of slices, which on one track is that of time.
Works BusiestStream(const TimelineView& view, std::span<const WorkOrigin> origins) {
  std::unordered_map<int32_t, size_t> works_of;  // by track
  for (const WorkOrigin& origin : origins) ++works_of[view.track[TimelineView::At(origin.work)]];
  int32_t busiest = kNone32;
  for (const WorkOrigin& origin : origins) {
    const int32_t track = view.track[TimelineView::At(origin.work)];
    if (busiest == kNone32 || works_of[track] > works_of[busiest]) busiest = track;
  }
  Works works;
  for (const WorkOrigin& origin : origins) {
    if (view.track[TimelineView::At(origin.work)] == busiest) works.push_back(&origin);
  }
  return works;
}

std::vector<size_t> AnchorsOf(const TimelineView& view, const Works& works) {
  std::unordered_map<StringId, uint32_t> numbers;
  std::vector<uint32_t> names;
  names.reserve(works.size());
  for (const WorkOrigin* work : works) {
    const auto next = static_cast<uint32_t>(numbers.size());
    names.push_back(
        numbers.try_emplace(view.name[TimelineView::At(work->work)], next).first->second);
  }
  return FindAnchors(names, numbers.size());
}

bool IsHostCopy(std::string_view name) {
  constexpr std::string_view kWords[] = {"HtoD",         "DtoH",  "HostToDevice",
                                         "DeviceToHost", " DmaI", " DmaO"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
}

// Copies between host and device, and launches of graphs.
size_t CountExchanges(const TimelineView& view, std::span<const WorkOrigin> origins) {
  size_t count = 0;
  int32_t last_graph = kNone32;
  for (const WorkOrigin& origin : origins) {
    const bool is_copy = view.kind[TimelineView::At(origin.work)] == view.kinds.memcpy;
    if (is_copy && IsHostCopy(view.NameOf(origin.work))) ++count;
    if (!origin.graph || origin.call == last_graph) continue;
    last_graph = origin.call;
    ++count;
  }
  return count;
}

// Calls in which the host waits for the device.
size_t CountWaits(const TimelineView& view) {
  std::unordered_map<StringId, bool> waits;  // by name
  size_t count = 0;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (view.kind[TimelineView::At(slice)] != view.kinds.runtime) continue;
    auto [found, is_new] = waits.try_emplace(view.name[TimelineView::At(slice)], false);
    if (is_new) found->second = view.NameOf(slice).find("Synchronize") != std::string_view::npos;
    if (found->second) ++count;
  }
  return count;
}

int64_t HostStart(const TimelineView& view, const WorkOrigin& origin) {
  const int32_t slice = origin.host() == kNone32 ? origin.work : origin.host();
  return view.start[TimelineView::At(slice)];
}

}  // namespace

std::vector<Step> PeriodicSteps(const TimelineView& view, std::span<const WorkOrigin> origins) {
  const Works works = BusiestStream(view, origins);
  if (works.size() < kFewestWorks) return {};
  const std::vector<size_t> anchors = AnchorsOf(view, works);
  if (anchors.empty()) return {};
  const size_t exchanges = std::max(CountExchanges(view, origins), CountWaits(view));
  if (exchanges + 1 < anchors.size()) return {};
  std::vector<Step> steps;
  for (size_t anchor : anchors) {
    const int64_t start = HostStart(view, *works[anchor]);
    if (!steps.empty() && start <= steps.back().start) return {};  // the host does not go in steps
    if (!steps.empty()) steps.back().end = start;
    steps.push_back({.start = start});
  }
  for (const WorkOrigin& origin : origins)
    steps.back().end = std::max(steps.back().end, HostStart(view, origin) + 1);
  return steps;
}

}  // namespace debrief::analyses::timeline_steps

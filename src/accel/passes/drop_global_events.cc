// drop_global_events (--drop_globals): wrappers of the runtime, which cover everything below them.
#include "accel/passes/passes.h"

namespace debrief::accel {

namespace {

// The reference's list has "Execute graph", which the runtime writes with a large G.
constexpr std::string_view kGlobals[] = {
    "Execute graph", "SenFusedDeviceNode", "AIU Roundtrip", "Flex RoundTrip",   "PostKeys",
    "FetchKeys",     "Callback",           "HostPrep",      "AllocateFrame of", "Update CBs"};

bool IsGlobal(std::string_view name, bool compat) {
  for (std::string_view part : kGlobals) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return !compat && name.find("Execute Graph") != std::string_view::npos;
}

}  // namespace

void DropGlobalEvents(EventList& events, Run& run) {
  std::vector<int8_t> known(run.strings.size(), -1);
  std::erase_if(events, [&](const Event& event) {
    int8_t& is_global = known[static_cast<size_t>(event.name)];
    if (is_global < 0) is_global = IsGlobal(run.Text(event.name), run.options.compat) ? 1 : 0;
    return is_global == 1;
  });
}

}  // namespace debrief::accel

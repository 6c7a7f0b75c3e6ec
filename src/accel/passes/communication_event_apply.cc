// communication_event_apply (--comm_summarize_seq): the steps of one send or receive become one
// slice over all of them, where the last step was.
#include "accel/passes/communication_groups.h"
#include "accel/passes/passes.h"

namespace debrief::accel {
namespace {

std::string ListText(const std::vector<std::string>& peers) {
  std::string text = "[";
  for (const std::string& peer : peers) text += (text.size() > 1 ? ", \"" : "\"") + peer + "\"";
  return text + "]";
}

}  // namespace

void CommunicationEventApply(EventList& events, Run& run) {
  auto& groups = run.Shared<CommunicationGroups>().by_key;
  std::erase_if(events, [&](Event& event) {
    const auto key = StepKey(event, run);
    const auto at = key ? groups.find(*key) : groups.end();
    if (at == groups.end()) return false;
    CommunicationGroup& group = at->second;
    if (++group.seen < group.members) return true;
    event.ts = group.start;
    event.dur = group.end - group.start;
    event.name = run.Intern(group.prefix);
    run.args.Set(event, key::kPeers, Value::Json(run.Intern(ListText(group.peers))));
    return false;
  });
}

}  // namespace debrief::accel

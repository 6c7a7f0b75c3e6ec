// communication_event_collection (--comm_summarize_seq): which SenRdma slices are steps of the same
// send or receive. Changes nothing.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "accel/passes/communication_groups.h"
#include "accel/passes/passes.h"
#include "base/text/strings.h"

namespace debrief::accel {
namespace {

void ShortenToCommon(std::string& prefix, std::string_view name) {
  const auto differ = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end());
  prefix.erase(differ.first, prefix.end());
}

// Between quotes, where it is a list; between commas.
void AddPeers(std::string_view text, std::vector<std::string>& peers) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(',', at), text.size());
    std::string peer;
    for (const char byte : text.substr(at, end - at)) {
      if (IsDigit(byte) || byte == '-') peer += byte;
    }
    if (!peer.empty()) peers.push_back(std::move(peer));
    at = end + 1;
  }
}

}  // namespace

std::optional<std::pair<uint32_t, int64_t>> StepKey(const Event& event, Run& run) {
  if (event.phase != 'X' || !run.Traits(event).sen_rdma) return std::nullopt;
  const std::string_view name = run.Text(event.name);
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if ((name[i] != '_' && name[i] != '-') || !IsDigit(name[i + 1])) continue;
    int64_t number = 0;
    std::from_chars(name.data() + i + 1, name.data() + name.size(), number);
    return std::pair(event.job, number);
  }
  return std::nullopt;
}

std::vector<std::string> PeersOf(const Event& event, const Run& run) {
  std::vector<std::string> peers;
  for (const StringId key : {key::kPeers, key::kPeer}) {
    if (const Arg* arg = event.Find(key)) AddPeers(arg->value().AsText(run.strings), peers);
  }
  return peers;
}

void CommunicationEventCollection(EventList& events, Run& run) {
  auto& groups = run.Shared<CommunicationGroups>().by_key;
  for (const Event& event : events) {
    const auto key = StepKey(event, run);
    if (!key) continue;
    CommunicationGroup& group = groups[*key];
    if (group.members++ == 0) {
      group.start = event.ts;
      group.prefix = run.Text(event.name);
    }
    group.start = std::min(group.start, event.ts);
    group.end = group.members == 1 ? event.end() : std::max(group.end, event.end());
    ShortenToCommon(group.prefix, run.Text(event.name));
    for (std::string& peer : PeersOf(event, run)) {
      const bool known =
          std::find(group.peers.begin(), group.peers.end(), peer) != group.peers.end();
      if (!known) group.peers.push_back(std::move(peer));
    }
  }
}

}  // namespace debrief::accel

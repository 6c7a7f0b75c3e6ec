// Steps of collectives: which slices are parts of one send or receive (--comm_summarize_seq), and
// which belong to one sync id of a collective (--flow).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accel/run.h"
#include "accel/stages/collectives.h"
#include "accel/stages/stages.h"
#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::accel {

namespace {

struct CommunicationGroup {
  size_t members = 0;
  size_t seen = 0;  // by communication_event_apply
  TimeSpan span;
  std::string prefix;  // that all names share
  std::vector<std::string> peers;
};

struct CommunicationGroups {
  std::map<std::pair<uint32_t, int64_t>, CommunicationGroup> by_key;
};

}  // namespace

// communication_event_collection (--comm_summarize_seq): which SenRdma slices are steps of the same
// send or receive. Changes nothing.

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

// Job and sequence number of a step ("SenRdmaSend_82233 - Xseg ..." has 82233); null when the event
// is none.
std::optional<std::pair<uint32_t, int64_t>> StepKey(const Event& event, Run& run) {
  if (event.phase != 'X' || !run.Traits(event).sen_rdma) return std::nullopt;
  const std::string_view name = run.Text(event.name);
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if ((name[i] != '_' && name[i] != '-') || !IsDigit(name[i + 1])) continue;
    return std::pair(event.job, LeadingNumber(name.substr(i + 1), int64_t{0}));
  }
  return std::nullopt;
}

// The ranks that an event talks to: "1", "0,1,2" or a list.
std::vector<std::string> PeersOf(const Event& event, const Run& run) {
  std::vector<std::string> peers;
  for (const StringId key : {key::kPeers, key::kPeer}) {
    if (const Arg* arg = event.Find(key)) AddPeers(arg->value().AsText(run.strings), peers);
  }
  return peers;
}

}  // namespace

void CommunicationEventCollection(EventList& events, Run& run) {
  auto& groups = run.Shared<CommunicationGroups>().by_key;
  for (const Event& event : events) {
    const auto key = StepKey(event, run);
    if (!key) continue;
    CommunicationGroup& group = groups[*key];
    if (group.members++ == 0) group.prefix = run.Text(event.name);
    group.span.Add(event);
    ShortenToCommon(group.prefix, run.Text(event.name));
    for (std::string& peer : PeersOf(event, run)) {
      const bool known =
          std::find(group.peers.begin(), group.peers.end(), peer) != group.peers.end();
      if (!known) group.peers.push_back(std::move(peer));
    }
  }
}

// communication_event_apply (--comm_summarize_seq): the steps of one send or receive become one
// slice over all of them, where the last step was.

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
    event.ts = group.span.begin;
    event.dur = group.span.length();
    event.name = run.Intern(group.prefix);
    run.args.Set(event, key::kPeers, Value::Json(run.Intern(ListText(group.peers))));
    return false;
  });
}

// flow_prepare_event_data (--flow): names lose their size ("SenRdmaRecv_7 [512B] ..."), `Peer`
// becomes `Peers`, and slices with a sync id are noted as steps of their collective.
//
// A step without type, peers or collective cannot be matched; it is counted and left alone.

namespace {

// " [<digits>B]" goes, wherever it is.
std::string WithoutSize(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    size_t end = i + 2;
    if (name.substr(i, 2) == " [") {
      while (end < name.size() && IsDigit(name[end])) ++end;
      if (end > i + 2 && name.substr(end, 2) == "B]") {
        i = end + 2;
        continue;
      }
    }
    out += name[i++];
  }
  return out;
}

std::string_view SyncOf(std::string_view name) {
  constexpr std::string_view kMark = " [sync=";
  const size_t at = name.find(kMark);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + kMark.size();
  const size_t end = name.find(']', begin);
  return end == std::string_view::npos ? std::string_view() : name.substr(begin, end - begin);
}

std::optional<StepKind> StepKindOf(const Event& event, const Run& run) {
  const Arg* type = event.Find(key::kType);
  if (type == nullptr) return std::nullopt;
  const std::string text = type->value().AsText(run.strings);
  if (text == "SingleCast" || text == "MultiCast XSEG") return StepKind::kSend;
  if (text == "MultiCast") return StepKind::kMulticast;
  if (text == "Set BCList") return StepKind::kList;
  if (text == "WDone Barrier") return StepKind::kDone;
  return std::nullopt;
}

// "Recv_<n>_" names the sender, where the arguments do not.
std::optional<int64_t> PeerInName(std::string_view name) {
  constexpr std::string_view kMark = "Recv_";
  const size_t at = name.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t peer = 0;
  const char* begin = name.data() + at + kMark.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), peer);
  const bool followed = end != name.data() + name.size() && *end == '_';
  return error == std::errc() && followed ? std::optional(peer) : std::nullopt;
}

std::vector<int64_t> StepPeers(const Event& event, const Run& run) {
  std::vector<int64_t> peers;
  for (const std::string& text : PeersOf(event, run))
    peers.push_back(LeadingNumber(text, int64_t{0}));
  if (peers.empty()) {
    if (const auto peer = PeerInName(run.Text(event.name))) peers.push_back(*peer);
  }
  return peers;
}

void RenamePeer(Event& event, Run& run) {
  const Arg* peer = event.Find(key::kPeer);
  if (peer == nullptr) return;
  const Value value = peer->value();
  event.Remove(key::kPeer);
  // A list that --comm_summarize_seq made has this one already.
  if (!event.Has(key::kPeers)) run.args.Set(event, key::kPeers, value);
}

class StepCollector {
 public:
  explicit StepCollector(Run& run) : run_(run), steps_(run.Shared<FlowSteps>().steps) {}

  void Prepare(Event& event, size_t position) {
    if ((event.phase != 'X' && event.phase != 'b' && event.phase != 'e') || !event.has_args) return;
    if (run_.Text(event.name).find("B]") != std::string_view::npos) {
      event.name = run_.Intern(WithoutSize(run_.Text(event.name)));
    }
    RenamePeer(event, run_);
    const std::string_view sync = SyncOf(run_.Text(event.name));
    if (!sync.empty()) AddStep(event, sync, position);
  }

  size_t skipped() const { return skipped_; }

 private:
  void AddStep(const Event& event, std::string_view sync, size_t position) {
    const Arg* group = event.Find(key::kCollGroup);
    const auto kind = StepKindOf(event, run_);
    FlowStep step{event, position, run_.Intern(sync)};
    step.peers = StepPeers(event, run_);
    const bool may_lack_peers = kind == StepKind::kMulticast;
    if (!kind || group == nullptr || !event.pid.IsInteger() ||
        (step.peers.empty() && !may_lack_peers)) {
      ++skipped_;
      return;
    }
    step.kind = *kind;
    step.group = run_.Intern(group->value().AsText(run_.strings));
    steps_.push_back(std::move(step));
  }

  Run& run_;
  std::vector<FlowStep>& steps_;
  size_t skipped_ = 0;
};

}  // namespace

void FlowPrepareEventData(EventList& events, Run& run) {
  StepCollector preparer(run);
  for (size_t i = 0; i < events.size(); ++i) preparer.Prepare(events[i], i);
  if (preparer.skipped() > 0) {
    run.console.Warning(fmt::format(
        "FLOW: {} slices with a sync id lack a known Type, Peers or CollGroup and get no flow",
        preparer.skipped()));
  }
}

}  // namespace debrief::accel

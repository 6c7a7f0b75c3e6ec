// flow_prepare_event_data (--flow): names lose their size ("SenRdmaRecv_7 [512B] ..."), `Peer`
// becomes `Peers`, and slices with a sync id are noted as steps of their collective.
//
// A step without type, peers or collective cannot be matched; it is counted and left alone.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "accel/passes/communication_groups.h"
#include "accel/passes/flow_steps.h"
#include "accel/passes/passes.h"
#include "base/text/strings.h"

namespace debrief::accel {
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

std::optional<StepKind> KindOf(const Event& event, const Run& run) {
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
  for (const std::string& text : PeersOf(event, run)) {
    int64_t peer = 0;
    std::from_chars(text.data(), text.data() + text.size(), peer);
    peers.push_back(peer);
  }
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

class Preparer {
 public:
  explicit Preparer(Run& run) : run_(run), steps_(run.Shared<FlowSteps>().steps) {}

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
    const auto kind = KindOf(event, run_);
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
  Preparer preparer(run);
  for (size_t i = 0; i < events.size(); ++i) preparer.Prepare(events[i], i);
  if (preparer.skipped() > 0) {
    run.console.Warning(fmt::format(
        "FLOW: {} slices with a sync id lack a known Type, Peers or CollGroup and get no flow",
        preparer.skipped()));
  }
}

}  // namespace debrief::accel

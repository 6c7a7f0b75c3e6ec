#include "inputs/nccl_ras/ras_monitor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief::inputs::nccl_ras {

namespace {

constexpr size_t kMostPeers = 1 << 20;

struct MonitorEvent {
  std::string_view time;
  std::string_view name;  // PEER_DEAD
  std::string_view peer;
};

// "[2026-11-15 23:22:09] PEER_DEAD: peer details"; the name is empty in any other line.
MonitorEvent ParseEvent(std::string_view line) {
  const size_t close = line.find("] ");
  if (!line.starts_with('[') || close == std::string_view::npos) return {};
  std::string_view rest = line.substr(close + 2);
  const size_t colon = rest.find(": ");
  if (!rest.starts_with("PEER_") || colon == std::string_view::npos) return {};
  return {line.substr(1, close - 1), rest.substr(0, colon), Trimmed(rest.substr(colon + 2))};
}

int64_t NumberBehind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return kNone64;
  return LeadingNumber(text.substr(at + key.size()), kNone64);
}

// What the event says of the peer: dead, missing, or empty when it lives.
std::string_view StateOf(std::string_view event) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kStates = {
      {{"PEER_DEAD", "dead"},
       {"PEER_TIMEOUT_DEAD", "dead"},
       {"PEER_UNRESPONSIVE", "missing"},
       {"PEER_SEND_STUCK", "missing"},
       {"PEER_INIT_TIMEOUT", "missing"}}};
  for (const auto& [name, state] : kStates) {
    if (name == event) return state;
  }
  return {};
}

RasRank PeerOf(const MonitorEvent& event, int64_t number) {
  RasRank rank;
  rank.line = number;
  rank.pid = NumberBehind(event.peer, "rocess ");
  if (rank.pid == kNone64) rank.pid = NumberBehind(event.peer, "pid ");
  constexpr std::string_view kNode = "node ";
  if (size_t at = event.peer.find(kNode); at != std::string_view::npos) {
    std::string_view host = event.peer.substr(at + kNode.size());
    rank.host = host.substr(0, host.find_first_of(" ,)"));
  }
  rank.state = StateOf(event.name);
  rank.text = event.peer;
  return rank;
}

}  // namespace

bool RasMonitorParser::IsEvent(std::string_view line) { return !ParseEvent(line).name.empty(); }

void RasMonitorParser::Add(std::string_view line, int64_t number) {
  const MonitorEvent event = ParseEvent(line);
  if (event.name.empty()) return;
  any_ = true;
  if (int64_t time = ParseIsoTime(event.time); time != kNone64) last_ns_ = time;
  RasRank peer = PeerOf(event, number);
  // Connections come and go, also at a normal end.
  if (peer.state.empty() && event.name != "PEER_NEW") return;
  // Details follow the name of the peer; a process is the same one whatever they say.
  std::string key =
      peer.pid == kNone64 ? std::string(event.peer) : std::to_string(peer.pid) + "@" + peer.host;
  if (peers_.size() < kMostPeers || peers_.contains(key)) peers_[std::move(key)] = std::move(peer);
}

bool RasMonitorParser::Finish(RasAnswer& answer) const {
  answer.time_ns = last_ns_;
  const bool some_live = std::any_of(peers_.begin(), peers_.end(),
                                     [](const auto& each) { return each.second.state.empty(); });
  // All are gone: the job is over.
  if (!some_live && peers_.size() > 1) return any_;
  for (const auto& [key, peer] : peers_) {
    if (!peer.state.empty()) answer.ranks.push_back(peer);
  }
  return any_;
}

}  // namespace debrief::inputs::nccl_ras

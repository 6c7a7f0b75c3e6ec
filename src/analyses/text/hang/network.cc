// Faults of the network, as one rank tells them: nobody at the other end of a connection that sets
// up a communicator, a port of its host that failed, a link that gave up.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"
#include "torch/code_words.h"

namespace debrief::analyses::text_hang {

namespace {

std::string_view TextAt(const Scene& scene, size_t row) {
  return scene.model.pools.Text(scene.model.tables.Get<TextEventTable>().text[row]);
}

// "socketPollConnect: connect to 127.0.0.1<41995> returned Connection refused, exceeded error retry
// count after 35 attempts": the peer's address is known, and nobody listens there.
bool IsRefused(std::string_view text) {
  return Contains(text, "NCCL error") &&
         (Contains(text, "Connection refused") || Contains(text, "exceeded error retry count"));
}

// Did no other rank fail, wait in vain or lose anything before the launcher stopped it?
bool OthersLive(const Scene& scene, int32_t rank) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const Talk& talk = scene.talk;
  return std::all_of(talk.ranks.begin(), talk.ranks.end(), [&](const auto& each) {
    const RankTalk& other = each.second;
    bool ended = other.end.known() && other.end.exit_code != 0 && !IsTold(other.end.exit_code) &&
                 !other.end.stopped;
    bool fails = std::any_of(other.troubles.begin(), other.troubles.end(), [&](size_t row) {
      return events.exit_code[row] == kNone32 || !IsTold(events.exit_code[row]);
    });
    bool speaks = !other.timeouts.empty() || fails || !other.aftermaths.empty() ||
                  !other.remote_errors.empty() || !other.dump_signals.empty();
    return each.first == rank || (!ended && !speaks);
  });
}

// "mlx5_3:1" of "NET/IB : mlx5_3:1 async fatal event: ...", "mlx5_3" of "... hca mlx5_3".
std::string_view WordBehind(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(" ,"));
}

bool IsPortFault(std::string_view text) {
  return Contains(text, "NET/IB") &&
         (Contains(text, "async fatal event") || Contains(text, "async event: port error") ||
          Contains(text, "async event: device fatal"));
}

// The first line of NCCL, with its rank, that `is` says something of; kNoRow when there is none.
template <typename Is>
std::pair<int32_t, size_t> FirstNcclLine(const Scene& scene, Is is) {
  for (const auto& [rank, talk] : scene.talk.ranks) {
    for (size_t row : talk.nccl_lines) {
      if (is(TextAt(scene, row))) return {rank, row};
    }
  }
  return {kNone32, RankTalk::kNoRow};
}

}  // namespace

void FindRefused(const Scene& scene, std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (const auto& [rank, talk] : scene.talk.ranks) {
    auto refused = std::find_if(talk.aftermaths.begin(), talk.aftermaths.end(),
                                [&](size_t row) { return IsRefused(TextAt(scene, row)); });
    if (refused == talk.aftermaths.end()) continue;
    const bool alone = scene.talk.ranks.size() < 2 && rank == 0;
    if (alone || !OthersLive(scene, rank)) return;
    std::string_view file = scene.model.pools.Text(events.file[*refused]);
    std::string site =
        file.empty() ? "" : " at " + debrief::CodeInWords("", file, events.file_line[*refused]);
    Finding finding = NewFinding(scene, "text_hang.setup");
    finding.ranks = {rank};
    finding.headline = fmt::format(
        "Rank {} found no peer to set up a communicator{}; no other rank failed", rank, site);
    finding.evidence.push_back(LineAsEvidence(scene, *refused));
    if (!file.empty())
      finding.source.push_back({rank, std::string(file), events.file_line[*refused]});
    for (size_t row : talk.end.rows) {
      if (finding.evidence.size() < 3) finding.evidence.push_back(ExitAsEvidence(scene, row));
    }
    AddContext(scene, rank, finding);
    finding.confidence = 0.5;
    finding.why =
        "no other rank failed or lost a connection: its peers were not in this set-up, as when "
        "groups are created in another order on one rank; a network that refuses connections looks "
        "the same";
    finding.next_step =
        "Compare the groups that this rank creates, and their order (new_group, init_device_mesh), "
        "with its peers; then look at the network between them.";
    findings.push_back(std::move(finding));
    return;
  }
}

void FindPortFault(const Scene& scene, std::vector<Finding>& findings) {
  if (!scene.talk.EndedBadly()) return;
  auto [rank, row] = FirstNcclLine(scene, IsPortFault);
  if (row == RankTalk::kNoRow) return;
  std::string_view text = TextAt(scene, row);
  std::string_view port = WordBehind(text, "NET/IB : ");
  Finding finding = NewFinding(scene, "text_hang.network");
  finding.ranks = {rank};
  finding.headline = fmt::format("A network port of the host of rank {} failed: {}", rank,
                                 port.empty() ? "InfiniBand" : port);
  finding.evidence.push_back(LineAsEvidence(scene, row));
  finding.confidence = 0.8;
  finding.why = "NCCL reports a fatal event of its own port";
  finding.next_step = "Look at this port (ibstat, dmesg of its machine), its cable and its switch.";
  findings.push_back(std::move(finding));
}

void FindLinkFault(const Scene& scene, std::vector<Finding>& findings) {
  auto [rank, row] = FirstNcclLine(scene, [](std::string_view text) {
    return Contains(text, "Got completion from peer ") &&
           (Contains(text, "IBV_WC_") || Contains(text, " with status="));
  });
  if (row == RankTalk::kNoRow) return;
  std::string_view text = TextAt(scene, row);
  std::string_view peer = WordBehind(text, "from peer ");
  std::string_view card = WordBehind(text, " hca ");
  Finding finding = NewFinding(scene, "text_hang.network");
  finding.headline =
      fmt::format("Rank {} got no answer from {} over the network{}{}", rank,
                  peer.substr(0, peer.find('<')), card.empty() ? "" : " card ", card);
  finding.evidence.push_back(LineAsEvidence(scene, row));
  finding.confidence = 0.5;
  finding.why = "the link failed or the peer was gone: NCCL does not know which";
  finding.next_step =
      "Look at the output of the ranks on the host with that address, then at the link.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang

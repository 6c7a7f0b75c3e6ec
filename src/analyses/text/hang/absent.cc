// Who did not join the set-up of a communicator? With NCCL_DEBUG=INFO each member says when it
// begins:
//
//   vm:1327:1327 [0] NCCL INFO ncclCommInitRankConfig comm 0x15 rank 1 nranks 4 ... commId 0xd6 -
//     Init START
//
// A communicator that members began and none completed lacks the others. Its numbers count inside
// the group, whose members are in order of rank: between two that came lie those that may be the
// missing one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "tables/process_identity.h"

namespace debrief::analyses::text_hang {

namespace {

struct OpenComm {
  int32_t size = 0;
  std::map<int32_t, int32_t> came;  // number in the group -> rank
  std::vector<int64_t> rows;        // of process_identity
  bool complete = false;            // on any member
};

std::map<std::string_view, OpenComm> OpenComms(const Scene& scene) {
  const auto& identities = scene.model.tables.Get<ProcessIdentityTable>();
  std::map<std::string_view, OpenComm> comms;
  for (size_t row = 0; row < identities.size(); ++row) {
    bool ours =
        identities.job[row] == scene.talk.job && identities.attempt[row] == scene.talk.attempt;
    std::string_view id = scene.model.pools.Text(identities.comm[row]);
    if (!ours || id.empty() || identities.group_rank[row] == kNone32) continue;
    OpenComm& comm = comms[id];
    comm.size = identities.group_size[row];
    comm.complete |= identities.set_up[row] != 0;
    if (comm.came.try_emplace(identities.group_rank[row], identities.rank[row]).second)
      comm.rows.push_back(static_cast<int64_t>(row));
  }
  std::erase_if(comms, [](const auto& each) { return each.second.complete; });
  return comms;
}

// Ranks that can have the only number that is missing; empty when several are.
std::vector<int32_t> MayBeMissing(const Talk& talk, const OpenComm& comm) {
  if (static_cast<int32_t>(comm.came.size()) != comm.size - 1 || talk.ranks.empty()) return {};
  int32_t missing = 0;
  while (comm.came.contains(missing)) ++missing;
  auto above = comm.came.upper_bound(missing);
  int32_t low = above == comm.came.begin() ? -1 : std::prev(above)->second;
  int32_t high = above == comm.came.end() ? talk.ranks.rbegin()->first + 1 : above->second;
  bool known = std::all_of(comm.came.begin(), comm.came.end(),
                           [](const auto& each) { return each.second != kNone32; });
  std::vector<int32_t> ranks;
  for (const auto& [rank, each] : talk.ranks) {
    if (known && rank > low && rank < high) ranks.push_back(rank);
  }
  return ranks;
}

bool EndedOrHung(const Talk& talk) {
  return !talk.setup.empty() ||
         std::any_of(talk.ranks.begin(), talk.ranks.end(), [](const auto& each) {
           const RankTalk& rank = each.second;
           return !rank.timeouts.empty() || rank.teardown || !rank.dump_signals.empty() ||
                  (rank.end.known() && rank.end.exit_code != 0);
         });
}

}  // namespace

void FindAbsent(const Scene& scene, std::vector<Finding>& findings) {
  if (!EndedOrHung(scene.talk)) return;
  for (const auto& [id, comm] : OpenComms(scene)) {
    std::vector<int32_t> may_be = MayBeMissing(scene.talk, comm);
    if (may_be.size() != 1) continue;
    const RankTalk& absent = scene.talk.ranks.at(may_be.front());
    // Its own lines would be here, had it printed any; one that says that it waited has come.
    bool known = absent.has_text || scene.talk.OutputIsKnown(may_be.front());
    if (!known || GaveUpTheFirstSetup(scene, may_be.front())) continue;
    std::vector<int32_t> came;
    for (auto [number, rank] : comm.came) came.push_back(rank);
    std::sort(came.begin(), came.end());
    Finding finding = NewFinding(scene, "text_hang.setup");
    finding.ranks = may_be;
    finding.headline =
        fmt::format("Rank {} did not join the set-up of a communicator of {} ranks; {} waited",
                    may_be.front(), comm.size, RanksInWords(came));
    finding.evidence.push_back({"NCCL reports where they begin (Init START) and no end of it",
                                "process_identity", comm.rows});
    AddContext(scene, may_be.front(), finding);
    finding.confidence = 0.75;
    finding.why = "all other members began the set-up, and none completed it";
    finding.next_step =
        "Compare what this rank called before the group's first collective with the others.";
    findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace debrief::analyses::text_hang

// A node that is lost takes its launcher and all of its ranks with it: none of them says a word,
// and nobody reports how they ended. The launchers of the other nodes list their own ranks, which
// lost their connections to those.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"

namespace debrief::analyses::text_hang {

bool FindLostNode(const Scene& scene, const std::vector<int32_t>& silent, size_t loss,
                  std::vector<Finding>& findings) {
  const Talk& talk = scene.talk;
  const auto size = static_cast<int32_t>(silent.size());
  const bool block = size > 1 && silent.back() - silent.front() + 1 == size;
  // Each of the others is in a launcher's list, and none of these.
  const bool apart = talk.listed.size() + silent.size() == talk.ranks.size() &&
                     std::ranges::none_of(talk.listed, [&](int32_t rank) {
                       return std::ranges::binary_search(silent, rank);
                     });
  if (!block || !apart || talk.listed.empty()) return false;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Finding finding = NewFinding(scene, "text_hang.exited");
  finding.ranks = silent;
  finding.headline = fmt::format(
      "{} ended together at about {} and printed no error; rank {} lost its connection then",
      RanksAsSubject(silent), TimeOfDay(events.time_ns[loss]), events.rank[loss]);
  finding.evidence.push_back(LineAsEvidence(scene, loss));
  for (int32_t rank : silent) {
    const size_t last = talk.ranks.at(rank).last_line;
    if (last == RankTalk::kNoRow || finding.evidence.size() > 2) continue;
    Evidence evidence = LineAsEvidence(scene, last);
    evidence.text = "end of the " + evidence.text;
    finding.evidence.push_back(std::move(evidence));
  }
  finding.confidence = 0.7;
  finding.why =
      "launchers list all other ranks and say nothing of these, as when a node is lost with its "
      "launcher";
  finding.next_step =
      "Look at the node of these ranks: its kernel log, its power and network, and the scheduler's "
      "record of it.";
  findings.push_back(std::move(finding));
  return true;
}

}  // namespace debrief::analyses::text_hang

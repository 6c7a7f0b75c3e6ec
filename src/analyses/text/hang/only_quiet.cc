// Connections break because a process has ended, and whoever loses one says so. Where all ranks but
// one lost a connection, and none raised an error of its own, that one ended first:
//
//   rank 0  RuntimeError: [.../pair.cc:547] Connection closed by peer [10.0.0.3]:17594
//   rank 1
//   rank 2  RuntimeError: [.../pair.cc:547] Connection closed by peer [10.0.0.3]:28123
//
// A launcher may stop a rank before it can say anything: then several are quiet, and nobody is
// named.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"

namespace debrief::analyses::text_hang {

size_t LossOf(const Scene& scene, const RankTalk& talk) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : talk.aftermaths) {
    const std::string_view text = scene.model.pools.Text(events.text[row]);
    if (Contains(text, "onnection closed by peer") || Contains(text, "onnection reset by peer") ||
        Contains(text, "onnection was likely closed"))
      return row;
  }
  return RankTalk::kNoRow;
}

namespace {

bool IsQuiet(const RankTalk& talk) {
  return talk.aftermaths.empty() && talk.remote_errors.empty() && talk.timeouts.empty() &&
         talk.troubles.empty() && !talk.teardown && talk.suspicions.empty();
}

// Does the process report that gloo waited in vain? The peer it waited for was alive: the end of
// one breaks its connections at once.
bool WaitedInGloo(const Scene& scene, const RankTalk& talk) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  return std::ranges::any_of(talk.timeouts, [&](size_t row) {
    return scene.model.pools.Text(events.kind[row]) == "traceback";
  });
}

// Exceptions of its own, in words that nobody else tells of its end.
bool GaveUp(const RankTalk& talk) {
  return !talk.end.raised.empty() && (!talk.end.known() || talk.end.said_by == "rank");
}

}  // namespace

// text_hang.silent: one timed out in gloo, others gave up with exceptions of their own, and one
// alone is quiet: it is the only one that can have been alive, and it did not come.
void FindOnlyAlive(const Scene& scene, std::vector<Finding>& findings) {
  int32_t quiet = kNone32;
  std::vector<int32_t> waited, gave_up;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (!scene.talk.OutputIsKnown(rank) || talk.end.stopped) return;
    if (WaitedInGloo(scene, talk)) {
      waited.push_back(rank);
    } else if (LossOf(scene, talk) != RankTalk::kNoRow) {
      continue;
    } else if (GaveUp(talk)) {
      gave_up.push_back(rank);
    } else {
      const bool open = quiet == kNone32 && IsQuiet(talk) && talk.normal_ends.empty();
      if (!open || talk.end.known()) return;
      quiet = rank;
    }
  }
  if (quiet == kNone32 || waited.empty() || gave_up.empty()) return;
  Finding finding = NewFinding(scene, "text_hang.silent");
  finding.ranks = {quiet};
  finding.headline = fmt::format("Rank {} did not take part where {} timed out; {} gave up", quiet,
                                 RanksInWords(waited), RanksInWords(gave_up));
  const RankTalk& first = scene.talk.ranks.at(waited.front());
  finding.evidence.push_back(LineAsEvidence(scene, first.timeouts.front()));
  for (size_t row : scene.talk.ranks.at(gave_up.front()).troubles)
    finding.evidence.push_back(LineAsEvidence(scene, row));
  AddContext(scene, quiet, finding);
  finding.confidence = 0.6;
  finding.why =
      "the rank that timed out waited for a process that was alive, and it alone reports no error";
  finding.next_step =
      "Look at what this rank did after its last line: its stack (py-spy) shows it.";
  findings.push_back(std::move(finding));
}

void FindOnlyQuiet(const Scene& scene, std::vector<Finding>& findings) {
  int32_t quiet = kNone32;
  std::vector<int32_t> losers;
  size_t loss = RankTalk::kNoRow;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (!scene.talk.OutputIsKnown(rank)) return;
    if (const size_t row = LossOf(scene, talk); row != RankTalk::kNoRow) {
      losers.push_back(rank);
      if (loss == RankTalk::kNoRow) loss = row;
      continue;
    }
    // A second one that is quiet, or one that says something else.
    if (quiet != kNone32 || !IsQuiet(talk)) return;
    quiet = rank;
  }
  if (quiet == kNone32 || losers.empty()) return;
  if (scene.talk.ranks.at(quiet).end.stopped) return;  // it lived when another had ended
  Finding finding = NewFinding(scene, "text_hang.exited");
  finding.ranks = {quiet};
  finding.headline = fmt::format("Rank {} ended and printed no error; {} lost {} connection to it",
                                 quiet, RanksInWords(losers), losers.size() == 1 ? "its" : "their");
  finding.evidence.push_back(LineAsEvidence(scene, loss));
  AddContext(scene, quiet, finding);
  finding.confidence = 0.7;
  finding.why = "every other rank reports that a peer closed its connection; it alone reports none";
  finding.next_step =
      "Look for its exit code in the launcher's log and for a kill in the kernel log of its "
      "machine (dmesg: out of memory), and at calls that end a process (sys.exit, os._exit).";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang

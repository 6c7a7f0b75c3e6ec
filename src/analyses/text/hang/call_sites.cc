// Gloo has no numbers of works: all that a rank says when it gives up is the line of the program in
// which it stood.
//
//   rank 0  train.py:78    rank 1  train.py:89    rank 2  train.py:78
//
// Where one rank alone stood at another line than all others, it called something else.
#include <fmt/format.h>

#include <map>
#include <utility>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "torch/code_words.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::text_hang {

namespace {

// The line of the program in which a rank gave up, and the row that says so.
struct CallSite {
  std::string_view file;
  int32_t line = kNone32;
  size_t row = RankTalk::kNoRow;

  std::string InWords() const { return debrief::CodeInWords("", file, line); }
};

CallSite SiteOf(const Scene& scene, const RankTalk& talk) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (const Rows* rows : {&talk.timeouts, &talk.aftermaths}) {
    for (size_t row : *rows) {
      const std::string_view file = scene.model.pools.Text(events.file[row]);
      if (IsUserFile(file)) return {file, events.file_line[row], row};
    }
  }
  return {};
}

struct OddSite {
  int32_t rank = kNone32;
  CallSite own;
  CallSite others;
};

// The one rank whose line is not that of all others, of which there are at least two; whoever
// left no line says nothing. No rank when it is not one alone.
OddSite OnlyOneElsewhere(const std::map<int32_t, CallSite>& sites) {
  std::map<std::pair<std::string_view, int32_t>, std::vector<int32_t>> by_line;
  for (const auto& [rank, site] : sites) by_line[{site.file, site.line}].push_back(rank);
  if (by_line.size() != 2) return {};
  const auto& [first, second] = std::pair(by_line.begin()->second, by_line.rbegin()->second);
  const bool is_first = first.size() == 1 && second.size() > 1;
  if (!is_first && (second.size() != 1 || first.size() < 2)) return {};
  const int32_t odd = is_first ? first.front() : second.front();
  const int32_t other = is_first ? second.front() : first.front();
  return {odd, sites.at(odd), sites.at(other)};
}

std::string OddInWords(const OddSite& odd) {
  return fmt::format("Rank {} waited in another call ({}) than all others ({})", odd.rank,
                     odd.own.InWords(), odd.others.InWords());
}

}  // namespace

void BlameOddSite(const Scene& scene, Finding& finding) {
  std::map<int32_t, CallSite> sites;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (const CallSite site = SiteOf(scene, talk); site.row != RankTalk::kNoRow) sites[rank] = site;
  }
  for (const auto& [rank, site] : sites) {
    finding.evidence.push_back({fmt::format("rank {} stood at {}", rank, site.InWords()),
                                "text_event",
                                {static_cast<int64_t>(site.row)}});
  }
  const OddSite odd = OnlyOneElsewhere(sites);
  if (odd.rank == kNone32) return;
  finding.ranks = {odd.rank};
  finding.headline = OddInWords(odd);
}

void FindOddSite(const Scene& scene, std::vector<Finding>& findings) {
  if (!scene.groups.empty()) return;  // watchdogs say more
  std::map<int32_t, CallSite> sites;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    if (talk.timeouts.empty()) return;
    const CallSite site = SiteOf(scene, talk);
    if (site.row == RankTalk::kNoRow) return;
    sites[rank] = site;
  }
  const OddSite odd = OnlyOneElsewhere(sites);
  if (odd.rank == kNone32) return;
  Finding finding = NewFinding(scene, "text_hang.differs");
  finding.ranks = {odd.rank};
  finding.headline = OddInWords(odd);
  finding.source.push_back({odd.rank, std::string(odd.own.file), odd.own.line});
  finding.evidence.push_back(LineAsEvidence(scene, odd.own.row));
  finding.evidence.push_back(LineAsEvidence(scene, odd.others.row));
  finding.confidence = 0.55;
  finding.why = "every rank timed out, and it alone at another line";
  finding.next_step = fmt::format(
      "Compare what rank {} calls before {} with the others: a branch, the shape of a tensor, the "
      "number of steps. TORCH_DISTRIBUTED_DEBUG=DETAIL compares every call.",
      odd.rank, odd.own.InWords());
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang

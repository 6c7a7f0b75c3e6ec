// A program that waits for something else than its peers often says so, over and over:
//
//   rank 0  RuntimeError: [.../unbound_buffer.cc:78] Timed out waiting 12000ms for recv operation
//   rank 1
//   rank 2  no frame for 8 s
//           no frame for 10 s
//           no frame for 12 s
//
// A launcher stops the others when one has timed out, so that several are silent; the one that
// repeats itself stands there.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/text/hang/hang.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "model/headline.h"
#include "tables/tail_line.h"
#include "torch/end_signs.h"
#include "torch/log_message.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr size_t kFewest = 3;  // times

// The last line of an output that ends with the same line again and again; kNoRow when none does.
size_t RepeatedLine(const Scene& scene, const RankTalk& talk) {
  const auto& tails = scene.model.tables.Get<TailLineTable>();
  std::map<int32_t, Rows> by_input;
  for (size_t row : talk.tail) by_input[tails.input[row]].push_back(row);
  for (auto& [input, rows] : by_input) {
    std::ranges::sort(rows, {}, [&](size_t row) { return tails.line[row]; });
    const std::string last = WithoutNumbers(scene.model.pools.Text(tails.text[rows.back()]));
    const bool repeats =
        rows.size() >= kFewest && std::all_of(rows.end() - kFewest, rows.end(), [&](size_t row) {
          return WithoutNumbers(scene.model.pools.Text(tails.text[row])) == last;
        });
    if (repeats) return rows.back();
  }
  return RankTalk::kNoRow;
}

bool IsPrintedByOthers(const Scene& scene, int32_t rank, size_t line) {
  const auto& tails = scene.model.tables.Get<TailLineTable>();
  auto bare = [&](size_t row) { return WithoutNumbers(scene.model.pools.Text(tails.text[row])); };
  const std::string own = bare(line);
  return std::ranges::any_of(scene.talk.ranks, [&](const auto& each) {
    return each.first != rank &&
           std::ranges::any_of(each.second.tail, [&](size_t row) { return bare(row) == own; });
  });
}

// A signal of the launcher that stopped it is no trouble of its own.
bool IsSilent(const RankTalk& talk) {
  return talk.timeouts.empty() && talk.aftermaths.empty() && talk.remote_errors.empty() &&
         (talk.troubles.empty() || talk.end.stopped || IsTold(talk.end.exit_code)) &&
         !talk.teardown && talk.end.raised.empty();
}

}  // namespace

void FindRepeating(const Scene& scene, std::vector<Finding>& findings) {
  const std::vector<int32_t> timed_out = scene.talk.RanksThatTimedOut();
  if (timed_out.empty()) return;
  int32_t found = kNone32;
  size_t line = RankTalk::kNoRow;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    const size_t repeated = IsSilent(talk) ? RepeatedLine(scene, talk) : RankTalk::kNoRow;
    if (repeated == RankTalk::kNoRow) continue;
    // What others print, too, or the first rank for all, is how this program reports.
    if (found != kNone32 || rank == 0 || IsPrintedByOthers(scene, rank, repeated)) return;
    found = rank;
    line = repeated;
  }
  if (found == kNone32) return;
  const auto& tails = scene.model.tables.Get<TailLineTable>();
  const std::string text = QuotedMessage(scene.model.pools.Text(tails.text[line]));
  Finding finding = NewFinding(scene, "text_hang.silent");
  finding.ranks = {found};
  const std::string opening =
      fmt::format("Rank {} printed one line over and over while {} timed out: ", found,
                  RanksInWords(timed_out));
  finding.headline =
      opening + CutReason(text, kLongestHeadline - std::min(kLongestHeadline, opening.size()));
  finding.evidence.push_back({fmt::format("rank {}, line {}: {}", found, tails.line[line], text),
                              "tail_line",
                              {static_cast<int64_t>(line)}});
  finding.evidence.push_back(
      LineAsEvidence(scene, scene.talk.ranks.at(timed_out.front()).timeouts.front()));
  finding.confidence = 0.6;
  finding.why = "it alone repeats itself, and reports no timeout: it waited for something else";
  finding.next_step = "Look at what prints this line, and for what it waits.";
  findings.push_back(std::move(finding));
}

}  // namespace debrief::analyses::text_hang

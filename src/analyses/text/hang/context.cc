// What a blamed rank printed before: the step it reported last and the lines that none of its peers
// printed. Numbers differ between ranks and times, so lines are compared without them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"
#include "tables/progress.h"
#include "tables/tail_line.h"
#include "torch/log_message.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr size_t kMostUnusual = 2;

void AddStep(const Scene& scene, int32_t rank, Finding& finding) {
  const auto& progress = scene.model.tables.Get<ProgressTable>();
  size_t own = scene.talk.ranks.at(rank).last_step;
  if (own == RankTalk::kNoRow) return;
  int64_t furthest = progress.step[own];
  for (const auto& [peer, talk] : scene.talk.ranks) {
    if (talk.last_step != RankTalk::kNoRow)
      furthest = std::max(furthest, progress.step[talk.last_step]);
  }
  std::string text =
      fmt::format("the last step that rank {} reported is {}", rank, progress.step[own]);
  if (furthest > progress.step[own]) text += fmt::format("; others reported {}", furthest);
  finding.evidence.push_back({text, "progress", {static_cast<int64_t>(own)}});
}

}  // namespace

std::string WithoutNumbers(std::string_view text) {
  std::string bare;
  for (char c : text) {
    bool digit = IsDigit(c);
    if (digit && !bare.empty() && bare.back() == '0') continue;
    bare += digit ? '0' : c;
  }
  return bare;
}

bool EndsOutput(const Scene& scene, const RankTalk& talk, size_t row) {
  constexpr int64_t kMostBehind = 200;  // lines: a long traceback and what is said at the end
  constexpr int64_t kMostPlain = 5;     // of these, lines of the program itself
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const auto& tails = scene.model.tables.Get<TailLineTable>();
  int32_t input = events.input[row];
  int64_t line = events.line[row];
  auto last = talk.last_lines.find(input);
  if (last != talk.last_lines.end() && events.line[last->second] - line > kMostBehind) return false;
  const bool caught =
      IsCaughtEachTime(events.times[row], events.rank[row], scene.talk.ranks.size());
  if (talk.WentOn(input, line) || caught) return false;
  auto plain = std::count_if(talk.tail.begin(), talk.tail.end(), [&](size_t tail) {
    return tails.input[tail] == input && tails.line[tail] > line;
  });
  return plain <= kMostPlain;
}

void AddContext(const Scene& scene, int32_t rank, Finding& finding) {
  if (!scene.talk.ranks.contains(rank)) return;
  AddStep(scene, rank, finding);
  const auto& tails = scene.model.tables.Get<TailLineTable>();
  const Rows& own = scene.talk.ranks.at(rank).tail;
  std::set<std::string> usual;
  bool has_peers = false;
  auto add = [&](const RankTalk& talk) {
    for (size_t row : talk.tail)
      usual.insert(WithoutNumbers(scene.model.pools.Text(tails.text[row])));
  };
  add(scene.talk.nobody);
  for (const auto& [peer, talk] : scene.talk.ranks) {
    if (peer == rank) continue;
    add(talk);
    has_peers |= !talk.tail.empty();
  }
  if (!has_peers && rank == 0) return;  // what the first rank alone prints is usual
  size_t count = 0;
  std::set<std::string> quoted;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t row : scene.talk.ranks.at(rank).troubles)  // these are quoted as what they are
    usual.insert(WithoutNumbers(scene.model.pools.Text(events.text[row])));
  for (size_t i = own.size(); i-- > 0 && count < kMostUnusual;) {
    std::string_view text = scene.model.pools.Text(tails.text[own[i]]);
    std::string bare = WithoutNumbers(text);
    if (usual.contains(bare) || !quoted.insert(bare).second) continue;
    finding.evidence.push_back({fmt::format("rank {} alone printed, line {}: {}", rank,
                                            tails.line[own[i]], QuotedMessage(text)),
                                "tail_line",
                                {static_cast<int64_t>(own[i])}});
    ++count;
  }
}

}  // namespace debrief::analyses::text_hang

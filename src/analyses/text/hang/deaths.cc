// Who died, and of what? An exit code or a signal says so; a traceback or a lack of memory does
// when the output of its rank ends there. One that the program caught and went on from is none.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/text/hang/guesses.h"
#include "base/text/rank_list.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr int64_t kTail = 200;     // lines: a long traceback and what is said while a process ends
constexpr size_t kMostDeaths = 3;  // different ones that are told
constexpr size_t kLongestText = 200;

struct Death {
  std::vector<int32_t> ranks;
  size_t row = 0;             // what tells the reason best
  int64_t when_ns = kNone64;  // earliest
  int32_t exit_code = kNone32;
};

bool EndsOutput(const Scene& scene, const RankTalk& talk, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  if (!talk.timeouts.empty() || talk.last_line == RankTalk::kNoRow) return false;
  if (events.input[talk.last_line] != events.input[row]) return false;
  return events.line[talk.last_line] - events.line[row] <= kTail;
}

// The more a kind of line says of the reason, the smaller.
int Telling(std::string_view kind) {
  if (kind == "out_of_memory") return 0;
  if (kind == "traceback") return 1;
  return kind == "signal" ? 2 : 3;
}

bool FindDeath(const Scene& scene, int32_t rank, const RankTalk& talk, Death& death) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  bool dead = false, has_reason = false;
  int best = 0;
  for (size_t row : talk.troubles) {
    std::string_view kind = scene.model.pools.Text(events.kind[row]);
    bool ended = kind == "exit" || kind == "signal";
    if (ended && events.exit_code[row] != kNone32) death.exit_code = events.exit_code[row];
    if (!ended && !EndsOutput(scene, talk, row)) continue;
    dead = true;
    if (has_reason && Telling(kind) >= best) continue;
    has_reason = true;
    best = Telling(kind);
    death.row = row;
  }
  death.ranks = {rank};
  death.when_ns = dead ? events.time_ns[death.row] : kNone64;
  return dead;
}

std::string Site(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::string_view file = scene.model.pools.Text(events.file[row]);
  if (file.empty()) return {};
  return fmt::format(" at {}:{}", file.substr(file.rfind('/') + 1), events.file_line[row]);
}

std::string EndInWords(int32_t exit_code) {
  if (exit_code == kNone32) return {};
  return exit_code < 0 ? fmt::format(" (signal {})", -exit_code)
                       : fmt::format(" (exit code {})", exit_code);
}

// The exception; an output that ends inside of a traceback does not name it.
std::string_view Reason(std::string_view text) {
  if (text.empty() || text.starts_with(' ') || text.starts_with("Traceback"))
    return "an exception that its output no longer names,";
  return text.substr(0, kLongestText);
}

// "died with ValueError: bad batch at train.py:71 (exit code 1)".
std::string DeathInWords(const Scene& scene, const Death& death) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::string_view kind = scene.model.pools.Text(events.kind[death.row]);
  std::string_view text = scene.model.pools.Text(events.text[death.row]);
  if (kind == "exit" && death.exit_code != kNone32)
    return fmt::format("exited with code {}", death.exit_code);
  if (kind == "signal" && death.exit_code != kNone32)
    return fmt::format("was killed by signal {}", -death.exit_code);
  return fmt::format("died with {}{}{}", Reason(text), Site(scene, death.row),
                     EndInWords(death.exit_code));
}

// Ranks that died of one thing are one death.
std::vector<Death> CollectDeaths(const Scene& scene) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::map<std::tuple<StringId, StringId, int32_t, int32_t>, Death> by_reason;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    Death death;
    if (!FindDeath(scene, rank, talk, death)) continue;
    std::string_view kind = scene.model.pools.Text(events.kind[death.row]);
    // A line about an exit names its process; the code is what it has in common with others.
    bool by_code = kind == "exit" || kind == "signal";
    auto [known, is_new] = by_reason.try_emplace(
        {by_code ? events.kind[death.row] : events.text[death.row], events.file[death.row],
         events.file_line[death.row], death.exit_code},
        death);
    if (is_new) continue;
    known->second.ranks.push_back(rank);
    if (death.when_ns != kNone64 &&
        (known->second.when_ns == kNone64 || death.when_ns < known->second.when_ns))
      known->second.when_ns = death.when_ns;
  }
  std::vector<Death> deaths;
  for (auto& [reason, death] : by_reason) deaths.push_back(std::move(death));
  // The first to die; without times the rarest: what all ranks say is rarely where it began.
  std::stable_sort(deaths.begin(), deaths.end(), [](const Death& a, const Death& b) {
    bool both = a.when_ns != kNone64 && b.when_ns != kNone64;
    if (both && a.when_ns != b.when_ns) return a.when_ns < b.when_ns;
    return std::tie(a.ranks) < std::tie(b.ranks);
  });
  return deaths;
}

}  // namespace

void FindDeaths(const Scene& scene, std::vector<Finding>& findings) {
  std::vector<Death> deaths = CollectDeaths(scene);
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t i = 0; i < deaths.size() && i < kMostDeaths; ++i) {
    const Death& death = deaths[i];
    Finding finding = NewFinding(scene, "text_hang.died");
    finding.ranks = death.ranks;
    finding.headline =
        fmt::format("{} {}", RanksAsSubject(death.ranks), DeathInWords(scene, death));
    std::string_view file = scene.model.pools.Text(events.file[death.row]);
    if (!file.empty())
      finding.source.push_back(
          {death.ranks.front(), std::string(file), events.file_line[death.row]});
    for (size_t row : scene.talk.ranks.at(death.ranks.front()).troubles)
      finding.evidence.push_back(LineAsEvidence(scene, row));
    finding.confidence = i > 0 ? 0.6 : death.exit_code != kNone32 ? 0.9 : 0.8;
    finding.why = death.exit_code != kNone32 ? "its exit is told"
                                             : "its output ends there; no exit code is told";
    if (i > 0) finding.why += "; another rank died before or of a rarer reason";
    finding.next_step =
        "Read the whole traceback in its output, from the line that the evidence names.";
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::text_hang

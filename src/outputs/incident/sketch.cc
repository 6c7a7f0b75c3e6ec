// The picture in words: a sentence a row, and one line for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "outputs/incident/gather.h"

namespace debrief::incident {

namespace {

// What a row came to: its last stretch that is not the end of its process or the time after it.
// What it did before a stretch of which nothing is known is not what it came to.
const Span* LastActivity(const Row& row) {
  const Span* last = nullptr;
  for (const Span& span : row.spans) {
    const bool is_after = span.activity == Activity::kEnded || span.activity == Activity::kTimedOut;
    if (!is_after || last == nullptr || last->activity == Activity::kUnknown) last = &span;
  }
  return last;
}

// Of a slow job where most time went.
const Span* LongestActivity(const Row& row) {
  const auto longest =
      std::max_element(row.spans.begin(), row.spans.end(),
                       [](const Span& a, const Span& b) { return a.to - a.from < b.to - b.from; });
  return longest == row.spans.end() ? nullptr : &*longest;
}

// Collectives that completed are running steps, to a reader of words.
std::vector<Span> WithoutHealthy(const std::vector<Span>& spans) {
  std::vector<Span> merged;
  for (const Span& span : spans) {
    const bool is_healthy =
        span.activity == Activity::kSteps || span.activity == Activity::kCollective;
    if (is_healthy && !merged.empty() && merged.back().activity == Activity::kSteps)
      merged.back().to = span.to;
    else
      merged.push_back(is_healthy ? Span{span.from, span.to, Activity::kSteps, "running steps"}
                                  : span);
  }
  return merged;
}

// A letter means the same in all sketches. Collectives that complete are running steps; of steps
// that were profiled they are what no computing hides.
struct Sign {
  char letter;
  std::string_view words;

  bool operator<(const Sign& other) const { return letter < other.letter; }
};

Sign SignOf(Activity activity, bool is_slow) {
  switch (activity) {
    case Activity::kSteps:
      return {'r', "running steps"};
    case Activity::kComputing:
      return is_slow ? Sign{'c', "computing"} : Sign{'n', "not in a collective"};
    case Activity::kCollective:
      return is_slow ? Sign{'e', "exposed communication"} : Sign{'r', "running steps"};
    case Activity::kWaiting:
    case Activity::kTimedOut:
      return {'w', "waiting in a collective"};
    case Activity::kCompiling:
      return {'j', "JIT-compiling"};
    case Activity::kLoading:
      return {'l', "loading data"};
    case Activity::kSaving:
      return {'s', "saving"};
    case Activity::kCopying:
      return {'m', "memory copies"};
    case Activity::kIdle:
      return {'i', "GPU idle"};
    case Activity::kEnded:
      return {'x', "ended"};
    default:
      return {'?', "not known"};
  }
}

using SignOfRank = std::map<int32_t, std::pair<Sign, bool>>;  // and whether the rank is blamed

// The headline says what the blamed ranks did: a line of question marks beside them adds nothing.
bool KnowsBlamedAlone(const SignOfRank& ranks) {
  bool has_others = false;
  for (const auto& [rank, what] : ranks) {
    if (what.second) continue;
    if (what.first.letter != '?') return false;
    has_others = true;
  }
  return has_others;
}

}  // namespace

std::vector<std::string> RowsInWords(const Incident& incident) {
  std::vector<std::string> all;
  for (const Row& row : incident.rows) {
    std::string words = RanksAsSubject(row.ranks);
    words += row.is_blamed ? " (blamed): " : ": ";
    bool is_first = true;
    for (const Span& span : incident.is_slow ? row.spans : WithoutHealthy(row.spans)) {
      if (!is_first) words += ", then ";
      is_first = false;
      words += span.activity == Activity::kWaiting ? "waiting in " : "";
      words += span.words.empty() ? std::string(ActivityWords(span.activity)) : span.words;
      if (incident.zero != kNone64) words += " for " + DurationText(span.to - span.from);
    }
    all.push_back(std::move(words));
  }
  return all;
}

std::string IncidentInWords(const Incident& incident) {
  std::string words;
  for (const std::string& row : RowsInWords(incident)) words += row + ". ";
  for (const std::string& note : incident.notes) words += note + " ";
  if (!words.empty()) words.pop_back();
  return words;
}

std::string IncidentSketch(const Incident& incident, size_t width) {
  SignOfRank ranks;
  std::set<Sign> signs;
  for (const Row& row : incident.rows) {
    const Span* span = incident.is_slow ? LongestActivity(row) : LastActivity(row);
    const Sign sign =
        SignOf(span == nullptr ? Activity::kUnknown : span->activity, incident.is_slow);
    signs.insert(sign);
    for (int32_t rank : row.ranks) ranks[rank] = {sign, row.is_blamed};
  }
  // All alike is worth a line only where all wait.
  const bool is_alike = signs.size() == 1 && signs.begin()->letter != 'w';
  if (ranks.size() < 2 || is_alike || KnowsBlamedAlone(ranks)) return "";
  std::string line = fmt::format("ranks {}-{}: ", ranks.begin()->first, ranks.rbegin()->first);
  if (line.size() + ranks.size() + 30 > width) return "";
  bool has_blamed = false;
  for (const auto& [rank, what] : ranks) {
    const auto& [sign, is_blamed] = what;
    line += is_blamed ? fmt::format("[{}]", sign.letter) : std::string(1, sign.letter);
    has_blamed |= is_blamed;
  }
  std::string legend = has_blamed ? "[ ] blamed" : "";
  for (const Sign& sign : signs) {
    const std::string entry =
        fmt::format("{}{} {}", legend.empty() ? "" : ", ", sign.letter, sign.words);
    if (TextWidth(line) + legend.size() + entry.size() + 4 > width) break;
    legend += entry;
  }
  return fmt::format("{}  ({})", line, legend);
}

}  // namespace debrief::incident

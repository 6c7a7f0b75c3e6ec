// The picture in words: a sentence a row, and one line for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

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

struct Sign {
  std::string_view block;
  char letter;
};

Sign SignOf(Activity activity) {
  static constexpr std::array<Sign, static_cast<size_t>(Activity::kCount)> kSigns = {{
      {"\u00b7", '?'},  // middle dot
      {"\u2581", 's'},  // lower eighth
      {"\u2588", 'c'},  // full block
      {"\u2592", 'n'},  // medium shade
      {"\u2591", 'w'},  // light shade
      {"\u2591", 'w'},
      {"\u2593", 'k'},  // dark shade
      {"\u2593", 'l'},
      {"\u2593", 'v'},
      {"\u2592", 'm'},
      {"\u2581", 'i'},
      {"\u2715", 'x'},  // multiplication x
  }};
  return kSigns[static_cast<size_t>(activity)];
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

std::string IncidentSketch(const Incident& incident, size_t width, bool has_unicode) {
  std::map<int32_t, std::pair<Activity, bool>> ranks;
  for (const Row& row : incident.rows) {
    const Span* span = incident.is_slow ? LongestActivity(row) : LastActivity(row);
    for (int32_t rank : row.ranks)
      ranks[rank] = {span == nullptr ? Activity::kUnknown : span->activity, row.is_blamed};
  }
  if (ranks.size() < 2) return "";
  std::string line = fmt::format("ranks {}-{}  ", ranks.begin()->first, ranks.rbegin()->first);
  if (line.size() + ranks.size() + 30 > width) return "";
  std::map<Activity, std::string_view> legend;
  for (const auto& [rank, what] : ranks) {
    const auto [activity, is_blamed] = what;
    const Sign sign = SignOf(activity);
    const std::string one = has_unicode ? std::string(sign.block) : std::string(1, sign.letter);
    line += is_blamed ? "[" + one + "]" : one;
    legend[activity] = ActivityWords(activity, incident.is_slow);
  }
  for (const auto& [activity, words] : legend) {
    const Sign sign = SignOf(activity);
    const std::string one = has_unicode ? std::string(sign.block) : std::string(1, sign.letter);
    const std::string entry = fmt::format("  {} {}", one, words);
    if (TextWidth(line) + TextWidth(entry) > width) break;
    line += entry;
  }
  return line;
}

}  // namespace debrief::incident

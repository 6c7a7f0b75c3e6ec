// One row a rank: later layers are painted over earlier ones, as far as times are known.
//
//   steps, until its last collective completed
//   outside of collectives, until it waits, ends, or the record does
//   collectives that took long, compilations
//   waiting, until its watchdog gave up; what came after that; its end
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "outputs/incident/gather.h"

namespace debrief::incident {

namespace {

constexpr size_t kMostOwnRows = 16;  // ranks that get a row each
constexpr size_t kMostRows = 20;

class RowPainter {
 public:
  RowPainter(const RankFacts& rank, const Moment& moment) : rank_(rank), moment_(moment) {}

  std::vector<Span> Paint() {
    Add(moment_.from, moment_.to, Activity::kUnknown, UnknownWords());
    const int64_t end = rank_.ended == kNone64 ? moment_.to : rank_.ended;
    const int64_t waits = rank_.pending.from;
    if (rank_.has_dump) {
      const int64_t last = std::max(rank_.last_done, rank_.first);
      Add(rank_.first, std::min(last, end), Activity::kSteps, "running steps");
      PaintHost(last, waits == kNone64 ? end : std::max(waits, last));
    }
    for (const Span& span : rank_.spans) Add(span.from, span.to, span.activity, span.words);
    if (waits != kNone64) {
      const int64_t gave_up = rank_.timeout == kNone64 ? end : std::max(rank_.timeout, waits);
      Add(waits, std::min(gave_up, end), Activity::kWaiting, rank_.pending.words);
      PaintCompilations();  // a rank that compiles has issued what it will wait for
      if (rank_.timeout != kNone64) Add(gave_up, end, Activity::kTimedOut, "after the timeout");
    }
    if (rank_.ended != kNone64) Add(rank_.ended, moment_.to, Activity::kEnded, rank_.end_words);
    return Merged();
  }

 private:
  std::string UnknownWords() const {
    if (!rank_.untimed.empty() && rank_.first == kNone64)
      return rank_.untimed + " (time not known)";
    if (!rank_.has_data) return "left no data";
    if (rank_.last == kNone64 || rank_.has_dump) return "not known";
    if (rank_.ended != kNone64) return "no dump";
    return fmt::format("no dump, nothing known after {}", TimeOfDay(rank_.last));
  }

  // Its stack, where one was printed after its last collective, tells what it did.
  void PaintHost(int64_t from, int64_t to) {
    const bool is_later = rank_.host.from == kNone64 || rank_.host.from >= from;
    if (!rank_.host.words.empty() && is_later)
      Add(from, to, rank_.host.activity, rank_.host.words);
    else
      Add(from, to, Activity::kComputing, "not in a collective");
  }

  void PaintCompilations() {
    for (const Span& span : rank_.spans) {
      if (span.activity == Activity::kCompiling) Add(span.from, span.to, span.activity, span.words);
    }
  }

  // Paints over what is there.
  void Add(int64_t from, int64_t to, Activity activity, const std::string& words) {
    from = std::max(from, moment_.from);
    to = std::min(to, moment_.to);
    if (from >= to) return;
    std::vector<Span> kept;
    for (Span& span : spans_) {
      if (span.from < from)
        kept.push_back({span.from, std::min(span.to, from), span.activity, span.words});
      if (span.to > to)
        kept.push_back({std::max(span.from, to), span.to, span.activity, span.words});
    }
    kept.push_back({from, to, activity, words});
    std::sort(kept.begin(), kept.end(),
              [](const Span& a, const Span& b) { return a.from < b.from; });
    spans_ = std::move(kept);
  }

  // Without splinters that nobody could see, and with neighbours that are the same as one.
  std::vector<Span> Merged() {
    const int64_t least = (moment_.to - moment_.from) / 400;
    std::vector<Span> merged;
    for (Span& span : spans_) {
      const bool is_same = !merged.empty() && merged.back().activity == span.activity &&
                           merged.back().words == span.words;
      const bool is_splinter = !merged.empty() && span.to - span.from < least;
      if (is_same || is_splinter)
        merged.back().to = span.to;
      else
        merged.push_back(std::move(span));
    }
    return merged;
  }

  const RankFacts& rank_;
  const Moment& moment_;
  std::vector<Span> spans_;
};

// Only those in sight, and of each kind but exits the first alone: a watchdog repeats itself.
std::vector<Mark> MarksInSight(const RankFacts& rank, const Moment& moment) {
  std::vector<Mark> marks = rank.marks;
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.at < b.at; });
  std::vector<Mark> shown;
  for (Mark& mark : marks) {
    const bool is_there = std::any_of(shown.begin(), shown.end(), [&](const Mark& other) {
      return other.kind == mark.kind && mark.kind != MarkKind::kStep;
    });
    if (mark.at >= moment.from && mark.at <= moment.to && !is_there)
      shown.push_back(std::move(mark));
  }
  return shown;
}

// Launchers tell whole seconds: a process that ended in the second of the divergence did not end
// before it.
RankFacts EndedWithin(RankFacts rank, const Moment& moment) {
  constexpr int64_t kSecond = 1'000'000'000;
  if (rank.ended == kNone64 || rank.ended % kSecond != 0 || moment.at < rank.ended ||
      moment.at >= rank.ended + kSecond)
    return rank;
  for (Mark& mark : rank.marks) {
    if (mark.kind == MarkKind::kExit) mark.at = moment.at;
  }
  rank.ended = moment.at;
  return rank;
}

// A rank whose end the finding infers from what others saw: it ended at the moment itself.
void AddInferredEnds(std::string_view rule, const Moment& moment, Facts& facts) {
  if (rule != "text_hang.exited" && rule != "text_hang.died" && rule != "verdict.process_ended")
    return;
  for (auto& [number, rank] : facts.ranks) {
    if (!rank.is_blamed || rank.has_dump || rank.ended != kNone64) continue;
    rank.ended = moment.at;
    rank.end_words = "ended, as others saw it";
    rank.marks.push_back({moment.at, MarkKind::kExit, rank.end_words});
  }
}

// How alike two rows have to be to become one: `parts` of the stretch, 0: whatever their times.
std::string SignatureOf(const Row& row, int64_t from, int64_t to, int64_t parts, bool with_words) {
  std::string signature(row.is_blamed ? "!" : "");
  for (const Span& span : row.spans) {
    signature += fmt::format("{}", static_cast<int>(span.activity));
    if (with_words) signature += span.words;
    if (parts > 0)
      signature += fmt::format("@{}", (span.to - from) * parts / std::max(to - from, int64_t{1}));
    signature += ';';
  }
  return signature;
}

std::vector<Row> JoinAlike(const std::vector<Row>& rows, int64_t from, int64_t to, int64_t parts,
                           bool with_words) {
  std::map<std::string, size_t> place;
  std::vector<Row> joined;
  for (const Row& row : rows) {
    const auto [found, is_new] =
        place.try_emplace(SignatureOf(row, from, to, parts, with_words), joined.size());
    if (is_new) {
      joined.push_back(row);
      continue;
    }
    Row& into = joined[found->second];
    into.ranks.insert(into.ranks.end(), row.ranks.begin(), row.ranks.end());
  }
  for (Row& row : joined) std::sort(row.ranks.begin(), row.ranks.end());
  return joined;
}

}  // namespace

std::vector<Row> MakeRows(const Facts& facts, const Moment& moment) {
  std::vector<Row> rows;
  for (const auto& [number, known] : facts.ranks) {
    const RankFacts rank = EndedWithin(known, moment);
    Row row{.ranks = {number}, .is_blamed = rank.is_blamed, .spans = {}, .marks = {}};
    row.spans = RowPainter(rank, moment).Paint();
    row.marks = MarksInSight(rank, moment);
    rows.push_back(std::move(row));
  }
  return rows;
}

void FoldRows(int64_t from, int64_t to, std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.is_blamed > b.is_blamed; });
  if (rows.size() <= kMostOwnRows) return;
  constexpr std::pair<int64_t, bool> kTries[] = {{50, true}, {10, true}, {0, true}, {0, false}};
  std::vector<Row> joined;
  for (auto [parts, with_words] : kTries) {
    joined = JoinAlike(rows, from, to, parts, with_words);
    if (joined.size() <= kMostRows) break;
  }
  while (joined.size() > kMostRows) {  // the last ones stand for the rest
    Row& into = joined[joined.size() - 2];
    into.ranks.insert(into.ranks.end(), joined.back().ranks.begin(), joined.back().ranks.end());
    std::sort(into.ranks.begin(), into.ranks.end());
    joined.pop_back();
  }
  rows = std::move(joined);
}

std::string RowLabel(const Row& row) {
  constexpr size_t kLongest = 20;
  if (row.ranks.size() == 1) return fmt::format("rank {}", row.ranks.front());
  const std::string list = FoldNumbers(row.ranks);
  if (list.size() + 6 <= kLongest) return fmt::format("ranks {}", list);
  const size_t cut = list.find(',');
  std::string text = fmt::format("{} ranks: {}{}", row.ranks.size(), list.substr(0, cut),
                                 cut == std::string::npos ? "" : ", ...");
  if (text.size() <= kLongest) return text;
  return fmt::format("{} ranks, from {}", row.ranks.size(), row.ranks.front());
}

namespace {

bool HasTimes(const Facts& facts) {
  return std::any_of(facts.ranks.begin(), facts.ranks.end(),
                     [](const auto& each) { return each.second.first != kNone64; });
}

// Without any time the rows still tell what is known of each rank, in words.
Incident WithoutTimes(const Facts& facts) {
  Incident incident{.job = facts.job, .title = "What is known of each rank", .from = 0, .to = 1};
  const Moment moment{.from = 0, .to = 1};
  incident.rows = MakeRows(facts, moment);
  const bool tells = std::any_of(facts.ranks.begin(), facts.ranks.end(),
                                 [](const auto& each) { return !each.second.untimed.empty(); });
  if (!tells) return {};
  FoldRows(0, 1, incident.rows);
  incident.notes = {"No line of the output has a time: there is no time axis."};
  return incident;
}

void AddRestart(const Facts& facts, Incident& incident) {
  if (facts.restart == kNone64 || facts.restart < incident.zero) return;
  if (facts.restart > incident.to) {
    incident.notes.push_back(fmt::format("The next attempt began at {}, {} after the end.",
                                         TimeOfDay(facts.restart),
                                         DurationText(facts.restart - incident.to)));
    return;
  }
  for (Row& row : incident.rows)
    row.marks.push_back({facts.restart, MarkKind::kRestart, "the next attempt begins"});
}

}  // namespace

Incident MakeIncident(const Model& model, const Finding& finding) {
  const std::string_view rule = finding.rule;
  if (rule.starts_with("profile.") || rule.starts_with("cost."))
    return StepsIncident(model, finding);
  Facts facts = GatherFacts(model, finding);
  if (facts.ranks.empty()) return {};
  if (!HasTimes(facts)) return WithoutTimes(facts);
  const Moment moment = FindMoment(model, finding, facts);
  if (moment.at == kNone64) return StepsIncident(model, finding);
  AddInferredEnds(rule, moment, facts);
  AddLongCollectives(model, moment.from, moment.to, (moment.to - moment.from) / 100, facts);
  Incident incident{.job = facts.job,
                    .title = "What each rank was doing",
                    .from = moment.from,
                    .to = moment.to,
                    .zero = moment.at,
                    .moment = moment.words,
                    .notes = moment.notes};
  incident.rows = MakeRows(facts, moment);
  // What one process compiled is no incident among ranks.
  if (rule.starts_with("compile") && incident.rows.size() < 2) return {};
  FoldRows(incident.from, incident.to, incident.rows);
  AddRestart(facts, incident);
  if (facts.has_other_clock)
    incident.notes.push_back(
        "Times of the output are an hour and more away from those of the dumps: left out.");
  return incident;
}

}  // namespace debrief::incident

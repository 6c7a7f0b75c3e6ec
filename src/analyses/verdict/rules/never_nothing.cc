// A job that any input shows to have failed has an error, with the best that is known.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyses/verdict/process_exits.h"
#include "analyses/verdict/rules.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "tables/progress.h"
#include "tables/tail_line.h"
#include "tables/text_event.h"
#include "torch/end_signs.h"
#include "torch/remedies.h"

namespace debrief::analyses::verdict {

namespace {

// Something that says how the job ended.
struct Sign {
  int weight = 0;  // the more it says, the larger
  int64_t time_ns = kNone64;
  int32_t rank = kNone32;
  std::string words;
  Evidence evidence;
};

constexpr int64_t kTail = 200;  // lines that may follow the last traceback of an output

// The last line of each output, by input.
std::map<int32_t, int64_t> LastLines(const Board& board) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  std::map<int32_t, int64_t> lines;
  for (const size_t i : board.OwnRows(events)) {
    if (events.line[i] == kNone64) continue;
    int64_t& last = lines.try_emplace(events.input[i], 0).first->second;
    last = std::max(last, events.line[i]);
  }
  return lines;
}

// The last step that each rank reported in each output, or its normal end. Whoever takes another
// step behind an exception has caught it. Of an output that names no rank, several ranks may write
// the lines, and a rank may end a step in which another has died: behind three steps nobody has.
std::map<std::pair<int32_t, int32_t>, int64_t> LastSteps(const Board& board) {
  constexpr size_t kOfAnybody = 3;
  const auto& progress = board.model().tables.Get<ProgressTable>();
  std::map<std::pair<int32_t, int32_t>, std::vector<int64_t>> lines;
  std::map<std::pair<int32_t, int32_t>, int64_t> steps;
  for (const size_t i : board.OwnRows(progress)) {
    if (progress.line[i] == kNone64) continue;
    // A bar is drawn once more as its process ends.
    int64_t& step = steps.try_emplace({progress.input[i], progress.rank[i]}, kNone64).first->second;
    const bool again = std::exchange(step, progress.step[i]) == progress.step[i];
    if (again && progress.step[i] != kNone64 && progress.rank[i] != kNone32) continue;
    lines[{progress.input[i], progress.rank[i]}].push_back(progress.line[i]);
  }
  std::map<std::pair<int32_t, int32_t>, int64_t> last;
  for (auto& [who, at] : lines) {
    const size_t from_end = who.second == kNone32 ? kOfAnybody : 1;
    if (at.size() < from_end) continue;
    std::ranges::sort(at);
    last[who] = at[at.size() - from_end];
  }
  const auto& events = board.model().tables.Get<TextEventTable>();
  for (const size_t i : board.OwnRows(events)) {
    const bool ends =
        events.line[i] != kNone64 && board.model().pools.Text(events.kind[i]) == "normal_end";
    if (!ends) continue;
    // What its lines do not tell a rank of, nobody says alone.
    for (const int32_t rank : {events.rank[i], kNone32}) {
      int64_t& line = last.try_emplace({events.input[i], rank}, 0).first->second;
      line = std::max(line, events.line[i]);
    }
  }
  const auto told = last;
  for (const auto& [older, newer] : board.NewestParts()) {
    for (const auto& [who, line] : told) {
      if (who.first == newer) last[{older, who.second}] = std::numeric_limits<int64_t>::max();
    }
  }
  return last;
}

// What ended a process says more than what gave up waiting, and that more than a request to dump.
int WeightOf(std::string_view kind) {
  if (kind == "traceback" || kind == "out_of_memory" || kind == "oom_kill") return 3;
  if (kind == "signal" || kind == "exit" || kind == "no_start") return 2;
  return kind == "watchdog_timeout" || kind == "heartbeat_lost" ? 1 : 0;
}

size_t CountRanks(const Board& board) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  std::set<int32_t> ranks;
  for (const size_t i : board.OwnRows(events)) {
    if (events.rank[i] != kNone32) ranks.insert(events.rank[i]);
  }
  return ranks.size();
}

// Has a launcher seen every process end well? Then what their text ends with was caught.
bool LauncherSawGoodEnds(const Board& board, size_t ranks) {
  const std::vector<ProcessExit> exits = ProcessExitsOf(board);
  return !exits.empty() && exits.size() >= ranks &&
         std::ranges::all_of(exits, [](const ProcessExit& exit) {
           return exit.exit_code == 0 && exit.said_by != "rank";
         });
}

// Does any text say that the job came to its end?
bool SaysNormalEnd(const Board& board) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  for (const size_t i : board.OwnRows(events)) {
    const std::string_view kind = board.model().pools.Text(events.kind[i]);
    const bool well = kind == "normal_end" || (kind == "exit" && events.exit_code[i] == 0);
    if (well) return true;
  }
  return false;
}

// Does the output go on behind event `row`, with more than what is said at an end?
bool PrintsBehind(const Board& board, size_t row) {
  constexpr int64_t kMostPlain = 5;
  const auto& events = board.model().tables.Get<TextEventTable>();
  const auto& tails = board.model().tables.Get<TailLineTable>();
  int64_t behind = 0;
  for (size_t i = 0; i < tails.size(); ++i) {
    if (tails.input[i] == events.input[row] && tails.line[i] > events.line[row]) ++behind;
  }
  return behind > kMostPlain;
}

using What = std::pair<StringId, int32_t>;  // the text of an exception and its line of source

// Exceptions after which a rank that printed them came to its end.
std::set<What> GotOver(const Board& board) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  std::map<std::pair<int32_t, int32_t>, int64_t> ends;  // by input and rank
  std::set<int32_t> ended;                              // ranks, in any of their texts
  for (const size_t i : board.OwnRows(events)) {
    const bool ends_well =
        events.line[i] != kNone64 && board.model().pools.Text(events.kind[i]) == "normal_end";
    if (!ends_well) continue;
    int64_t& line = ends.try_emplace({events.input[i], events.rank[i]}, 0).first->second;
    line = std::max(line, events.line[i]);
    ended.insert(events.rank[i]);
  }
  std::set<What> got_over;
  for (const size_t i : board.OwnRows(events)) {
    const auto end = ends.find({events.input[i], events.rank[i]});
    const bool before = end != ends.end() && end->second > events.line[i];
    const bool beside =
        end == ends.end() && events.rank[i] != kNone32 && ended.contains(events.rank[i]);
    if ((before || beside) && events.line[i] != kNone64)
      got_over.emplace(events.text[i], events.file_line[i]);
  }
  return got_over;
}

void AddTextSigns(const Board& board, std::vector<Sign>& signs) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  const size_t ranks = CountRanks(board);
  const bool good_ends = LauncherSawGoodEnds(board, ranks);
  const bool ended_well = SaysNormalEnd(board);
  std::map<int32_t, int64_t> last_lines = LastLines(board);
  const auto last_steps = LastSteps(board);
  const std::set<What> got_over = GotOver(board);
  for (const size_t i : board.OwnRows(events)) {
    std::string_view kind = board.model().pools.Text(events.kind[i]);
    std::string_view text = board.model().pools.Text(events.text[i]);
    // Of a child, or one that it caught.
    bool may_be_another = kind == "exit" || kind == "signal" || kind == "terminate";
    bool may_be_caught = kind == "traceback" || kind == "out_of_memory" || kind == "no_start";
    bool at_end =
        events.line[i] != kNone64 && last_lines[events.input[i]] - events.line[i] <= kTail;
    bool bad = may_be_caught || IsSignOfBadEnd(kind, events.exit_code[i], text);
    if (!bad || ((may_be_caught || may_be_another) && !at_end)) continue;
    const auto step = last_steps.find({events.input[i], events.rank[i]});
    const bool went_on = step != last_steps.end() && step->second > events.line[i];
    const bool logged = ended_well && IsLoggedError(text);
    // Other threads went on where the program prints more.
    const bool others = events.of_thread[i] != 0 && PrintsBehind(board, i);
    const bool by_a_peer = got_over.contains({events.text[i], events.file_line[i]});
    const bool caught = others || good_ends || logged || went_on || by_a_peer ||
                        IsCaughtEachTime(events.times[i], events.rank[i], ranks);
    // A scheduler may start a job again, which goes on writing to the same text.
    const bool again = kind == "scheduler" && went_on;
    if ((may_be_caught && caught) || again) continue;
    Sign& sign = signs.emplace_back();
    // The launcher's own traceback says no more than that a child failed.
    sign.weight = text.find("ChildFailedError") == std::string_view::npos ? WeightOf(kind) : 0;
    sign.time_ns = events.time_ns[i];
    sign.rank = events.rank[i];
    sign.words = std::string(text);
    sign.evidence = {events.line[i] == kNone64 ? std::string(text)
                                               : fmt::format("line {}: {}", events.line[i], text),
                     "text_event",
                     {static_cast<int64_t>(i)}};
  }
}

void AddExitSigns(const Board& board, std::vector<Sign>& signs) {
  for (const ProcessExit& exit : ProcessExitsOf(board)) {
    if (exit.exit_code == 0 || exit.exit_code == kNone32) continue;
    Sign& sign = signs.emplace_back();
    sign.weight = exit.stopped || IsTold(exit.exit_code) ? 0 : 2;
    sign.time_ns = exit.time_ns;
    sign.rank = exit.rank;
    sign.words =
        fmt::format("{} {}", exit.rank == kNone32 ? "a process" : fmt::format("rank {}", exit.rank),
                    EndInWords(exit.exit_code));
    sign.evidence = {std::string(exit.text), "process_exit", {exit.row}};
  }
}

// The one that says most; of several the first in time.
const Sign& BestOf(const std::vector<Sign>& signs) {
  return *std::min_element(signs.begin(), signs.end(), [](const Sign& a, const Sign& b) {
    if (a.weight != b.weight) return a.weight > b.weight;
    bool both = a.time_ns != kNone64 && b.time_ns != kNone64;
    return both && a.time_ns < b.time_ns;
  });
}

std::string WhatIsMissing(const Data& data) {
  std::string missing;
  if (!data.dumps) missing += "Flight Recorder dumps";
  if (!data.text)
    missing += fmt::format("{}the outputs of the ranks", missing.empty() ? "" : " and ");
  return missing;
}

// What was seen of the living job (stacks, NCCL RAS, traces) and names who stands apart; ~0 when
// there is none.
size_t FindPicture(const Board& board) {
  for (std::string_view rule : {"text_stacks.", "text_fr_trace.", "text_ras.", "text_no_answer."}) {
    for (size_t i : board.FindCauses(rule)) {
      if (!board.At(i).ranks.empty()) return i;
    }
  }
  return ~size_t{0};
}

// One look at the job shows a rank that stands apart, and the job did not end well: that is why.
bool PictureExplains(Board& board, const Sign& sign) {
  bool names_another = sign.weight >= 2 && sign.rank != kNone32;
  size_t picture = names_another ? ~size_t{0} : FindPicture(board);
  if (picture == ~size_t{0}) return false;
  Finding& finding = board.At(picture);
  finding.severity = Severity::kError;
  finding.why += fmt::format("{}the job failed", finding.why.empty() ? "" : "; ");
  finding.evidence.push_back(sign.evidence);
  return true;
}

}  // namespace

void NeverNothing(Board& board) {
  for (size_t i : board.Find("")) {  // a consequence may follow from what ended another attempt
    const Finding& finding = board.At(i);
    if (finding.severity == Severity::kError && finding.role != Role::kObservation) return;
  }
  // An attempt that the one before it ended follows from that one's error.
  if (!board.Find("text_hang.stale_signal").empty()) return;
  std::vector<Sign> signs;
  AddTextSigns(board, signs);
  AddExitSigns(board, signs);
  if (signs.empty()) return;
  const Sign& best = BestOf(signs);
  if (PictureExplains(board, best)) return;
  constexpr size_t kLongest = 160;
  Finding finding;
  finding.rule = "verdict.job_failed";
  finding.severity = Severity::kError;
  finding.role = Role::kCause;
  finding.headline = fmt::format(
      "The job failed; {}{}", best.rank == kNone32 ? "" : fmt::format("rank {} says: ", best.rank),
      Trimmed(best.words).substr(0, kLongest));
  finding.evidence.push_back(best.evidence);
  finding.confidence = 0.4;
  finding.why =
      "no input names the rank that failed first; this is the clearest sign of the failure";
  std::string missing = WhatIsMissing(board.data());
  finding.next_step = RemedyOf(best.words);
  if (finding.next_step.empty())
    finding.next_step = missing.empty() ? "Read the outputs of the ranks around this line."
                                        : fmt::format("Add {}: they would show more.", missing);
  size_t failed = board.Add(std::move(finding));
  for (size_t effect : board.FindCauses("text_hang.")) board.Fold(failed, effect);
  for (size_t effect : board.FindCauses("flight.straggler"))
    board.Lower(effect, "a rank that comes late does not end a job");
}

}  // namespace debrief::analyses::verdict

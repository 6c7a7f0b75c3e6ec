// How processes ended, joined with what dumps show.
//
// A watchdog writes a dump before it aborts its process. So SIGABRT of a rank whose dump shows it
// waiting is its watchdog's, whatever a launcher calls the first failure; SIGABRT of one that left
// no dump while others did is its own. A rank that ended well while others wait has left too early.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/verdict/process_exits.h"
#include "analyses/verdict/rules.h"
#include "base/text/rank_list.h"
#include "tables/comm_dump.h"
#include "tables/text_event.h"
#include "torch/end_signs.h"

namespace debrief::analyses::verdict {

namespace {

constexpr int32_t kAbort = -6;

std::set<int32_t> RanksOf(const Board& board, std::initializer_list<std::string_view> rules) {
  std::set<int32_t> ranks;
  for (std::string_view rule : rules) {
    for (size_t i : board.Find(rule))
      ranks.insert(board.At(i).ranks.begin(), board.At(i).ranks.end());
  }
  return ranks;
}

std::set<int32_t> RanksWithDumps(const Board& board) {
  const auto& dumps = board.model().tables.Get<CommDumpTable>();
  std::set<int32_t> ranks;
  for (const size_t i : board.OwnRows(dumps)) {
    ranks.insert(dumps.rank[i]);
  }
  return ranks;
}

// What the outputs say of the ends of ranks.
struct Outputs {
  std::set<int32_t> watchdog;  // its watchdog gave up
  std::set<int32_t> own;       // a traceback that is not about a peer
};

Outputs LookAtOutputs(const Board& board) {
  Outputs outputs;
  const auto& events = board.model().tables.Get<TextEventTable>();
  for (const size_t i : board.OwnRows(events)) {
    if (events.rank[i] == kNone32) continue;
    std::string_view kind = board.model().pools.Text(events.kind[i]);
    if (kind == "watchdog_timeout" || kind == "teardown") outputs.watchdog.insert(events.rank[i]);
    if (kind == "traceback" && !IsAboutAPeer(board.model().pools.Text(events.text[i])))
      outputs.own.insert(events.rank[i]);
  }
  return outputs;
}

// The exit codes that a finding rests on.
std::set<int32_t> CodesOf(const Board& board, const Finding& finding) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  std::set<int32_t> codes;
  for (size_t row : RowsOf(finding, "text_event")) {
    if (row < events.size() && events.exit_code[row] != kNone32)
      codes.insert(SignalOrCode(events.exit_code[row]));
  }
  std::vector<size_t> rows = RowsOf(finding, "process_exit");
  for (const ProcessExit& exit : ProcessExitsOf(board)) {
    bool its = std::find(rows.begin(), rows.end(), static_cast<size_t>(exit.row)) != rows.end();
    if (its && exit.exit_code != kNone32) codes.insert(exit.exit_code);
  }
  return codes;
}

// Does an error that is told already name a rank, by anything but dumps?
bool TextNamesARank(const Board& board) {
  std::vector<size_t> causes = board.FindCauses();
  return std::any_of(causes.begin(), causes.end(), [&](size_t i) {
    const Finding& finding = board.At(i);
    return finding.severity == Severity::kError && !finding.ranks.empty() &&
           !finding.rule.starts_with("flight.");
  });
}

// Aborted, and no dump was left of it while others left theirs.
std::vector<ProcessExit> OwnAborts(const Board& board, const std::vector<ProcessExit>& exits) {
  std::set<int32_t> dumps = RanksWithDumps(board);
  Outputs outputs = LookAtOutputs(board);
  std::vector<ProcessExit> own;
  for (const ProcessExit& exit : exits) {
    bool aborted = exit.rank != kNone32 && exit.exit_code == kAbort && !exit.stopped;
    bool silent = !dumps.contains(exit.rank) && !outputs.watchdog.contains(exit.rank);
    bool known = std::any_of(own.begin(), own.end(),
                             [&](const ProcessExit& other) { return other.rank == exit.rank; });
    if (aborted && silent && !known && !dumps.empty()) own.push_back(exit);
  }
  return own.size() == 1 ? own : std::vector<ProcessExit>();
}

// Ranks that ended well while others still waited.
std::vector<ProcessExit> LeftEarly(const Board& board, const std::vector<ProcessExit>& exits) {
  std::set<int32_t> waiting = RanksOf(board, {"flight.waiting", "text_hang.timeouts"});
  std::vector<ProcessExit> left;
  for (const ProcessExit& exit : exits) {
    bool well = exit.rank != kNone32 && exit.exit_code == 0 && !exit.stopped;
    if (well && !waiting.contains(exit.rank)) left.push_back(exit);
  }
  return left.size() < waiting.size() ? left : std::vector<ProcessExit>();
}

void AddEnd(Board& board, const std::vector<ProcessExit>& ends, std::string_view what,
            std::string_view why) {
  Finding finding;
  finding.rule = "verdict.process_ended";
  finding.severity = Severity::kError;
  finding.role = Role::kCause;
  for (const ProcessExit& exit : ends) {
    finding.ranks.push_back(exit.rank);
    finding.evidence.push_back(
        {fmt::format("{}: {}", exit.said_by.empty() ? "text" : exit.said_by,
                     exit.text.empty() ? EndInWords(exit.exit_code) : std::string(exit.text)),
         "process_exit",
         {exit.row}});
  }
  std::sort(finding.ranks.begin(), finding.ranks.end());
  finding.headline = fmt::format("{} {}", RanksAsSubject(finding.ranks), what);
  finding.confidence = 0.8;
  finding.why = why;
  finding.next_step =
      "Look at the end of its output and, for a signal, at the kernel log of its machine (dmesg).";
  size_t end = board.Add(std::move(finding));
  for (size_t timeouts : board.Find("text_hang.timeouts")) board.Fold(end, timeouts);
}

}  // namespace

void EndedProcesses(Board& board) {
  std::vector<ProcessExit> exits = ProcessExitsOf(board);
  if (exits.empty() || TextNamesARank(board)) return;
  std::vector<ProcessExit> aborts = OwnAborts(board, exits);
  if (!aborts.empty())
    return AddEnd(board, aborts, EndInWords(kAbort),
                  "a watchdog would have written its dump before; other ranks left theirs");
  std::vector<ProcessExit> left = LeftEarly(board, exits);
  if (!left.empty())
    AddEnd(board, left, "ended normally (exit code 0) while others still waited",
           "the others wait in an operation that needs it, and it is gone");
}

void AbortedByWatchdog(Board& board) {
  std::set<int32_t> waiting = RanksOf(board, {"flight.waiting"});
  Outputs outputs = LookAtOutputs(board);
  for (size_t death : board.FindCauses("text_hang.died")) {
    const Finding& finding = board.At(death);
    std::set<int32_t> codes = CodesOf(board, finding);
    bool by_watchdog = !codes.empty() && std::all_of(codes.begin(), codes.end(), [](int32_t code) {
      return code == kAbort || code > 0;
    });
    bool all_wait = std::all_of(finding.ranks.begin(), finding.ranks.end(), [&](int32_t rank) {
      return waiting.contains(rank) && !outputs.own.contains(rank);
    });
    if (!by_watchdog || !all_wait || finding.ranks.empty()) continue;
    board.Lower(death, "its dump shows it waiting: its watchdog ended it");
    board.At(death).severity = Severity::kInfo;
  }
}

}  // namespace debrief::analyses::verdict

// Others wait for a rank, dumps or watchdogs say so; the compile log of that rank shows a
// compilation that fills at least half of their waiting. That is why it did not come. A log that
// ends inside of a compilation counts as compiling until the end.
//
// Times are those of the compiler's own events where the log has them: they are since 1970, the
// times in front of log lines are in a zone that nobody tells.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "tables/compilation.h"
#include "tables/compile_log.h"
#include "tables/compile_phase.h"

namespace debrief::analyses::verdict {

namespace {

constexpr double kOwnConfidence = 0.8;

struct Compiling {
  size_t row = 0;  // of compilation
  Window when;
  bool open = false;  // the log ends inside of it
  int64_t overlap_ns = 0;
};

using RankAndId = std::pair<int32_t, StringId>;

// First begin and last end of the phases of each compilation.
std::map<RankAndId, Window> PhaseTimes(const Board& board) {
  const auto& phases = board.model().tables.Get<CompilePhaseTable>();
  std::map<RankAndId, Window> times;
  for (const size_t i : board.OwnRows(phases)) {
    bool timed = phases.start_ns[i] != kNone64 && phases.end_ns[i] != kNone64;
    if (timed)
      times[{phases.rank[i], phases.compile_id[i]}].Widen(phases.start_ns[i], phases.end_ns[i]);
  }
  return times;
}

// Of each rank the compilation that covers most of the waiting, when it covers half of it.
std::map<int32_t, Compiling> CompilingDuring(const Board& board, const Window& wait) {
  const auto& compilations = board.model().tables.Get<CompilationTable>();
  std::map<RankAndId, Window> phases = PhaseTimes(board);
  std::map<int32_t, Compiling> ranks;
  for (const size_t i : board.OwnRows(compilations)) {
    bool ours = compilations.rank[i] != kNone32 && compilations.start_ns[i] != kNone64;
    if (!ours) continue;
    Compiling each{i, {compilations.start_ns[i], compilations.end_ns[i]}, false};
    auto told = phases.find({compilations.rank[i], compilations.compile_id[i]});
    if (told != phases.end()) each.when = told->second;
    each.open = compilations.is_last[i] != 0 &&
                board.model().pools.Text(compilations.outcome[i]) == "unfinished";
    int64_t end_ns = each.open ? std::numeric_limits<int64_t>::max() : each.when.end_ns;
    each.overlap_ns = wait.OverlapWith(each.when.begin_ns, end_ns);
    if (each.overlap_ns <= 0 || each.overlap_ns * 2 < wait.length()) continue;
    auto [known, is_new] = ranks.try_emplace(compilations.rank[i], each);
    if (known->second.overlap_ns < each.overlap_ns) known->second = each;
  }
  return ranks;
}

std::string CompilingInWords(const Board& board, const Compiling& compiling) {
  const auto& compilations = board.model().tables.Get<CompilationTable>();
  const Pools& pools = board.model().pools;
  size_t row = compiling.row;
  std::string text =
      fmt::format("was compiling {} ({}:{})", pools.Text(compilations.function[row]),
                  FileName(pools.Text(compilations.file[row])), compilations.line[row]);
  if (!compiling.open) return text + " for " + DurationInWords(compiling.when.length());
  return text + fmt::format(" from {} on, until its log ends,", TimeOfDay(compiling.when.begin_ns));
}

void AddSources(const Board& board, const Compiling& compiling, const Finding& late,
                Finding& finding) {
  const auto& compilations = board.model().tables.Get<CompilationTable>();
  const Pools& pools = board.model().pools;
  size_t row = compiling.row;
  int32_t rank = compilations.rank[row];
  finding.compile_ids = {std::string(pools.Text(compilations.compile_id[row]))};
  finding.source.push_back(
      {rank, std::string(pools.Text(compilations.file[row])), compilations.line[row]});
  if (compilations.caller_file[row] != StringId::kNone)
    finding.source.push_back({rank, std::string(pools.Text(compilations.caller_file[row])),
                              compilations.caller_line[row]});
  finding.source.insert(finding.source.end(), late.source.begin(), late.source.end());
  finding.groups = late.groups;
  finding.op = late.op;
  finding.seq = late.seq;
}

Finding Headline(const Board& board, const Compiling& compiling, const Finding& late,
                 const Window& wait) {
  const auto& compilations = board.model().tables.Get<CompilationTable>();
  Finding finding;
  finding.rule = "verdict.compiling_while_others_wait";
  finding.severity = Severity::kError;
  finding.role = Role::kCause;
  finding.ranks = {compilations.rank[compiling.row]};
  std::string waiting = WaitingInWords(board, late);
  finding.headline =
      fmt::format("{} {} while {}", RanksAsSubject(finding.ranks),
                  CompilingInWords(board, compiling), waiting.empty() ? "others waited" : waiting);
  AddSources(board, compiling, late, finding);
  finding.evidence.push_back(
      {fmt::format("compile id {} of rank {}, from {} to {}", finding.compile_ids[0],
                   finding.ranks[0], TimeOfDay(compiling.when.begin_ns),
                   compiling.open ? "the end of its log" : TimeOfDay(compiling.when.end_ns)),
       "compilation",
       {static_cast<int64_t>(compiling.row)}});
  finding.evidence.insert(finding.evidence.end(), late.evidence.begin(), late.evidence.end());
  // That others ran into a time limit is certain, and says nothing of whom they waited for.
  bool blamed = late.role == Role::kCause;
  finding.confidence = blamed ? Agree(kOwnConfidence, late.confidence) : kOwnConfidence;
  finding.why =
      fmt::format("it was compiling for {} of the {} that others waited for it; {}",
                  DurationInWords(compiling.overlap_ns), DurationInWords(wait.length()), late.why);
  finding.next_step =
      "Compile it on all ranks before the first collective (a warm-up step), or raise the timeout "
      "of the group above the time that compiling takes.";
  return finding;
}

// Findings about this compilation and this rank follow from it, or say the same.
void FoldCompileFindings(Board& board, size_t verdict) {
  for (size_t i : board.Find("compile.")) {
    const Finding& finding = board.At(i);
    const Finding& ours = board.At(verdict);
    bool same_rank = finding.ranks.empty() || finding.ranks == ours.ranks;
    bool same_id = std::find(finding.compile_ids.begin(), finding.compile_ids.end(),
                             ours.compile_ids[0]) != finding.compile_ids.end();
    bool slow = finding.rule == "compile.rank_slow" && finding.ranks == ours.ranks;
    if (!slow && !(same_rank && same_id)) continue;
    bool differs = finding.rule == "compile.rank_differs" && finding.role == Role::kCause;
    if (board.Fold(verdict, i) && differs)
      board.Support(verdict, board.At(i).confidence / 2, "no other rank compiles it");
  }
}

void Conclude(Board& board, size_t late, const Compiling& compiling, const Window& wait) {
  size_t verdict = board.Add(Headline(board, compiling, board.At(late), wait));
  board.Fold(verdict, late);
  FoldCompileFindings(board, verdict);
}

// The first of the blamed ranks that compiled meanwhile.
bool AmongTheBlamed(Board& board, size_t late) {
  Window wait = WaitOf(board, board.At(late));
  if (!wait.known() || board.At(late).severity != Severity::kError) return false;
  std::map<int32_t, Compiling> compiling = CompilingDuring(board, wait);
  for (int32_t rank : board.At(late).ranks) {
    auto found = compiling.find(rank);
    if (found == compiling.end()) continue;
    Conclude(board, late, found->second, wait);
    return true;
  }
  return false;
}

// Nobody is blamed, watchdogs only tell who waited: whoever else compiled meanwhile, when that is
// one rank.
void AmongTheOthers(Board& board, size_t timeouts) {
  Window wait = WaitOf(board, board.At(timeouts));
  if (!wait.known()) return;
  std::map<int32_t, Compiling> compiling = CompilingDuring(board, wait);
  for (int32_t waiter : board.At(timeouts).ranks) compiling.erase(waiter);
  if (compiling.size() == 1) Conclude(board, timeouts, compiling.begin()->second, wait);
}

bool HasError(const Board& board) {
  std::vector<size_t> causes = board.RankedCauses();
  return !causes.empty() && board.At(causes.front()).severity == Severity::kError;
}

}  // namespace

namespace {

bool HasCompileLog(const Board& board, int32_t rank) {
  const auto& logs = board.model().tables.Get<CompileLogTable>();
  for (const size_t i : board.OwnRows(logs)) {
    if (logs.rank[i] == rank) return true;
  }
  return false;
}

// Who is told to look for a compilation, and has compile logs that show none, looks elsewhere.
void RuleOutCompiling(Board& board, size_t late) {
  constexpr std::string_view kAdvice = " a compilation,";
  Finding& finding = board.At(late);
  const size_t at = finding.next_step.find(kAdvice);
  const bool is_known =
      std::ranges::all_of(finding.ranks, [&](int32_t rank) { return HasCompileLog(board, rank); });
  if (at == std::string::npos || finding.ranks.empty() || !is_known) return;
  finding.next_step.erase(at, kAdvice.size());
  finding.why += "; its compile log shows no compilation at that time";
}

}  // namespace

void CompilingWhileOthersWait(Board& board) {
  for (std::string_view rule : {"flight.host_never_came", "flight.no_dump", "text_hang.silent"}) {
    for (size_t late : board.FindCauses(rule)) {
      if (AmongTheBlamed(board, late)) return;
      RuleOutCompiling(board, late);
    }
  }
  if (HasError(board)) return;
  for (size_t timeouts : board.Find("text_hang.timeouts")) AmongTheOthers(board, timeouts);
}

}  // namespace debrief::analyses::verdict

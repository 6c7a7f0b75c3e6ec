// What was a program doing when its recording ended? Spans that had begun and not ended are still
// in the file; where nobody closed the file, the process died inside of them (or is still running).
// A copy that was made while the process ran says nothing about its end: one that the program made
// says so itself, and of others the rank's output tells when it goes on later or ends well. Ranks
// that ended inside of the same op are one finding. One pass over the ops.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/process_exit.h"
#include "tables/progress.h"
#include "tables/recorded_op.h"
#include "tables/recording.h"

namespace debrief::analyses::recording_end {

namespace {

// Open ops of one thread, outermost first; rows of recorded_op.
using OpenStack = std::vector<size_t>;

// By input, then thread.
std::map<int32_t, std::map<int64_t, OpenStack>> OpenStacks(const RecordedOpTable& ops) {
  std::map<int32_t, std::map<int64_t, OpenStack>> stacks;
  for (size_t row = 0; row < ops.size(); ++row) {
    if (ops.open[row]) stacks[ops.input[row]][ops.thread[row]].push_back(row);
  }
  return stacks;
}

// The main thread's, or else that of the thread that was the last to begin something.
const OpenStack& MostTelling(const RecordedOpTable& ops, int64_t pid,
                             const std::map<int64_t, OpenStack>& threads) {
  if (const auto main = threads.find(pid); main != threads.end()) return main->second;
  return std::max_element(threads.begin(), threads.end(),
                          [&](const auto& a, const auto& b) {
                            return ops.start_ns[a.second.back()] < ops.start_ns[b.second.back()];
                          })
      ->second;
}

using RankOfAttempt = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank

// What the output of ranks says of their lives.
class Lives {
 public:
  explicit Lives(const Model& model) {
    AddTimes(model.tables.Get<ProgressTable>());
    const auto& exits = model.tables.Get<ProcessExitTable>();
    for (size_t i = 0; i < exits.size(); ++i) {
      if (exits.exit_code[i] == 0) ended_well_.insert(RankAt(exits, i));
    }
  }

  // The rank of a recording that ends at `end_ns` did not end there.
  bool WentOn(const RankOfAttempt& rank, int64_t end_ns) const {
    constexpr int64_t kClearlyLater = 5'000'000'000;  // others tell of a death that soon
    if (std::get<2>(rank) == kNone32) return false;
    const auto last = last_ns_.find(rank);
    return ended_well_.contains(rank) ||
           (last != last_ns_.end() && last->second - end_ns > kClearlyLater);
  }

 private:
  template <typename Table>
  static RankOfAttempt RankAt(const Table& table, size_t row) {
    return {table.job[row], table.attempt[row], table.rank[row]};
  }

  // What a launcher says about a rank is no sign of its life, so only progress counts.
  void AddTimes(const ProgressTable& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.time_ns[i] == kNone64) continue;
      int64_t& last = last_ns_.try_emplace(RankAt(table, i), table.time_ns[i]).first->second;
      last = std::max(last, table.time_ns[i]);
    }
  }

  std::map<RankOfAttempt, int64_t> last_ns_;
  std::set<RankOfAttempt> ended_well_;
};

// One process that ended inside of something.
struct Ending {
  size_t recording;  // row
  OpenStack stack;
  const std::map<int64_t, OpenStack>* threads;
};

class Endings {
 public:
  explicit Endings(const Model& model)
      : model_(model),
        ops_(model.tables.Get<RecordedOpTable>()),
        recordings_(model.tables.Get<RecordingTable>()),
        lives_(model),
        stacks_(OpenStacks(ops_)) {}

  void Report(AnalysisResult& result) const {
    // By job, attempt, whether it was closed, and the innermost op.
    std::map<std::tuple<int32_t, int32_t, bool, std::string_view>, std::vector<Ending>> groups;
    for (size_t row = 0; row < recordings_.size(); ++row) {
      const auto threads = stacks_.find(recordings_.input[row]);
      if (threads == stacks_.end()) continue;
      const OpenStack& stack = MostTelling(ops_, recordings_.pid[row], threads->second);
      const bool closed = recordings_.closed[row] != 0;
      if (closed && recordings_.dropped[row] > 0) continue;  // their ends may have been dropped
      if (!closed && WasCopied(row)) continue;
      groups[{recordings_.job[row], recordings_.attempt[row], closed, NameOf(stack.back())}]
          .push_back({row, stack, &threads->second});
    }
    for (const auto& [key, endings] : groups) result.findings.push_back(Describe(endings));
  }

 private:
  bool WasCopied(size_t row) const {
    const RankOfAttempt rank = {recordings_.job[row], recordings_.attempt[row],
                                recordings_.rank[row]};
    return recordings_.copied[row] != 0 || lives_.WentOn(rank, recordings_.end_ns[row]);
  }

  std::string_view NameOf(size_t op) const { return model_.pools.Text(ops_.operation[op]); }

  std::string PathOf(const OpenStack& stack) const {
    std::string text;
    for (const size_t op : stack)
      text += fmt::format("{}{}", text.empty() ? "" : " > ", NameOf(op));
    return text;
  }

  // "Rank 3", "Ranks 0-3", "Process 4711 on node-a".
  std::string Subject(const std::vector<Ending>& endings, std::vector<int32_t>& ranks) const {
    for (const Ending& ending : endings) {
      if (recordings_.rank[ending.recording] != kNone32)
        ranks.push_back(recordings_.rank[ending.recording]);
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    if (!ranks.empty()) return RanksAsSubject(ranks);
    if (endings.size() > 1) return fmt::format("{} processes", endings.size());
    return fmt::format("Process {}", recordings_.pid[endings.front().recording]);
  }

  Finding Describe(const std::vector<Ending>& endings) const {
    const Ending& first = endings.front();
    const bool closed = recordings_.closed[first.recording] != 0;
    const size_t innermost = first.stack.back();
    Finding finding;
    finding.rule = closed ? "recording_end.closed_inside" : "recording_end.died_inside";
    finding.severity = closed ? Severity::kInfo : Severity::kError;
    finding.job = recordings_.job[first.recording];
    finding.attempt = recordings_.attempt[first.recording];
    const std::string subject = Subject(endings, finding.ranks);
    finding.op = std::string(NameOf(innermost));
    finding.headline = fmt::format(
        "{} {} inside {}, {} after it began", subject, closed ? "closed the recording" : "died",
        CutMiddle(finding.op, 40), DurationText(ops_.duration_ns[innermost]));
    for (const Ending& ending : endings) AddEvidence(ending, finding);
    finding.evidence.push_back(
        {.text = "it was in " + PathOf(first.stack), .table = {}, .rows = {}});
    const bool dropped = recordings_.dropped[first.recording] > 0;
    finding.confidence = closed ? 1 : dropped ? 0.3 : 0.8;
    finding.why = closed ? "the op has no end in the recording"
                  : dropped
                      ? "nobody closed the recording; but it had no room for some records, and "
                        "the end of the op may be one of them"
                      : "the op has no end and nobody closed the recording; a process that "
                        "is still running looks the same";
    finding.next_step = closed ? "Close the recording after the last op."
                               : "Look at the output of that rank for a signal or an exception.";
    return finding;
  }

  void AddEvidence(const Ending& ending, Finding& finding) const {
    for (const auto& [thread, stack] : *ending.threads) {
      Evidence evidence = {
          .text = fmt::format("process {}, thread {}: {}, open since {} before the end",
                              recordings_.pid[ending.recording], thread, PathOf(stack),
                              DurationText(ops_.duration_ns[stack.back()])),
          .table = "recorded_op"};
      for (const size_t op : stack) evidence.rows.push_back(static_cast<int64_t>(op));
      finding.evidence.push_back(std::move(evidence));
    }
  }

  const Model& model_;
  const RecordedOpTable& ops_;
  const RecordingTable& recordings_;
  Lives lives_;
  std::map<int32_t, std::map<int64_t, OpenStack>> stacks_;
};

Status Run(const Model& model, AnalysisResult& result) {
  Endings(model).Report(result);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "recording_end",
               .sentence = "What was a program doing when its recording ended?",
               .example = "Rank 3 died inside nccl:all_reduce, 12.4 s after it began (train_step > "
                          "backward > nccl:all_reduce)",
               .needs = kTableNames<RecordingTable, RecordedOpTable>,
               .makes = {},
               .uses = kTableNames<ProcessExitTable, ProgressTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::recording_end

// What was a program doing when its recording ended? Spans that had begun and not ended are still
// in the file; where nobody closed the file, the process died inside of them (or is still running).
// Ranks that ended inside of the same op are one finding. One pass over the ops.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
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
      groups[{recordings_.job[row], recordings_.attempt[row], closed, NameOf(stack.back())}]
          .push_back({row, stack, &threads->second});
    }
    for (const auto& [key, endings] : groups) result.findings.push_back(Describe(endings));
  }

 private:
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
    finding.evidence.push_back(
        {.text = "it was in " + PathOf(first.stack), .table = {}, .rows = {}});
    for (const Ending& ending : endings) AddEvidence(ending, finding);
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
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::recording_end

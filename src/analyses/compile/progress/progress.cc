// How much of the program is compiled, and what blocks the rest?
//
// A frame is whole when a compilation of it gave a graph and none met a graph break, broken when
// one did, else failed, unfinished or empty, in this order, after its compilations. Blockers are
// what stands behind broken, failed and unfinished frames: the same reason at the same line is one.
// One pass over table compilation.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "tables/compilation.h"
#include "tables/compile_blocker.h"
#include "tables/compile_progress.h"

namespace debrief::analyses::compile_progress {

namespace {

struct FrameState {
  bool has_graph = false, breaks = false, failed = false, unfinished = false, resumes = false;
  int64_t ops = 0;
};

struct Blocker {
  CompileBlockerRow row;
  size_t number = 0;  // in the order of first sight
  std::set<std::string_view> frames;
  FirstNames functions;
};

// A place and a reason: kind, reason, file, line.
using BlockerKey = std::tuple<std::string_view, std::string_view, std::string_view, int32_t>;

struct ProcessState {
  CompileProgressRow row;
  std::map<std::string_view, FrameState> frames;  // by "1" of "1/0", "!3/1" of "!3/1/2"
  std::map<BlockerKey, size_t> places;
  std::vector<Blocker> blockers;
};

double OrZero(double seconds) { return std::isnan(seconds) ? 0 : seconds; }

class ProgressWriter {
 public:
  ProgressWriter(const Model& model, Part& part)
      : names_(model.pools),
        rows_(model.tables.Get<CompilationTable>()),
        texts_(names_, part.pools),
        progress_(part.tables.Edit<CompileProgressTable>()),
        blockers_(part.tables.Edit<CompileBlockerTable>()) {}

  void Run() {
    std::map<Process, size_t> places;
    std::vector<ProcessState> processes;
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (names_.Text(rows_.outcome[row]) == "unknown") continue;  // of text, which does not tell
      auto [found, is_new] = places.try_emplace(ProcessOf(rows_, row), processes.size());
      if (is_new) processes.push_back(NewProcess(row));
      Add(row, processes[found->second]);
    }
    for (ProcessState& process : processes) Write(process);
  }

 private:
  ProcessState NewProcess(size_t from) const {
    ProcessState process;
    CompileProgressRow& row = process.row;
    row = RowLike<CompileProgressRow>(rows_, from);
    row.frames = row.whole = row.broken = row.empty = row.failed = row.unfinished = 0;
    row.resumed = row.compilations = row.recompilations = 0;
    row.ops = 0;
    row.seconds = row.wasted_s = 0;
    return process;
  }

  std::string_view FrameOf(size_t row) const {
    const std::string_view id = names_.Text(rows_.compile_id[row]);
    return id.substr(0, id.rfind('/'));
  }

  void Add(size_t row, ProcessState& process) {
    const std::string_view outcome = names_.Text(rows_.outcome[row]);
    FrameState& frame = process.frames[FrameOf(row)];
    frame.has_graph |= outcome == "ok" || outcome == "restarted";
    frame.breaks |= rows_.break_reason[row] != StringId::kNone;
    frame.failed |= outcome == "failed";
    frame.unfinished |= outcome == "unfinished";
    frame.resumes |= names_.Text(rows_.function[row]).starts_with("torch_dynamo_resume_in_");
    if (rows_.ops[row] != kNone64) frame.ops = std::max(frame.ops, rows_.ops[row]);
    ++process.row.compilations;
    process.row.recompilations += rows_.why[row] != StringId::kNone;
    process.row.seconds += OrZero(rows_.seconds[row]);
    process.row.wasted_s += Lost(row, outcome);
    AddBlocker(row, outcome, process);
  }

  double Lost(size_t row, std::string_view outcome) const {
    return OrZero(outcome == "failed" ? rows_.seconds[row] : rows_.wasted_s[row]);
  }

  void AddBlocker(size_t row, std::string_view outcome, ProcessState& process) {
    const bool has_break = rows_.break_reason[row] != StringId::kNone;
    BlockerKey key;
    if (has_break) {
      key = {"graph_break", names_.Text(rows_.break_reason[row]),
             names_.Text(rows_.break_file[row]), rows_.break_line[row]};
    } else if (outcome == "failed") {
      const bool has_line = rows_.fail_file[row] != StringId::kNone;
      key = {"failure", names_.Text(rows_.fail_reason[row]),
             names_.Text(has_line ? rows_.fail_file[row] : rows_.file[row]),
             has_line ? rows_.fail_line[row] : rows_.line[row]};
    } else if (outcome == "unfinished") {
      key = {"unfinished", "began and never ended", names_.Text(rows_.file[row]), rows_.line[row]};
    } else {
      return;
    }
    auto [found, is_new] = process.places.try_emplace(key, process.blockers.size());
    if (is_new) process.blockers.push_back(NewBlocker(row, key));
    Blocker& blocker = process.blockers[found->second];
    blocker.number = found->second;
    blocker.frames.insert(FrameOf(row));
    blocker.row.seconds += Lost(row, outcome);
    blocker.functions.Add(names_.Text(rows_.function[row]));
  }

  Blocker NewBlocker(size_t from, const BlockerKey& key) {
    Blocker blocker;
    const auto& [kind, reason, file, line] = key;
    blocker.row = RowLike<CompileBlockerRow>(rows_, from);
    blocker.row.kind = texts_(kind);
    blocker.row.reason = texts_(reason);
    blocker.row.user_file = texts_(file);
    blocker.row.user_line = line;
    blocker.row.compile_id = texts_(rows_.compile_id[from]);
    blocker.row.seconds = 0;
    return blocker;
  }

  void Write(ProcessState& process) {
    CompileProgressRow& row = process.row;
    for (const auto& [id, frame] : process.frames) {
      ++row.frames;
      row.ops += frame.ops;
      int32_t& state = frame.has_graph    ? (frame.breaks ? row.broken : row.whole)
                       : frame.failed     ? row.failed
                       : frame.unfinished ? row.unfinished
                                          : row.empty;
      ++state;
      row.resumed += frame.resumes && frame.has_graph;
    }
    if (row.frames > row.empty)
      row.share = static_cast<double>(row.whole) / static_cast<double>(row.frames - row.empty);
    progress_.Add(row);
    WriteBlockers(process.blockers);
  }

  void WriteBlockers(std::vector<Blocker>& blockers) {
    std::sort(blockers.begin(), blockers.end(), [](const Blocker& a, const Blocker& b) {
      if (a.frames.size() != b.frames.size()) return a.frames.size() > b.frames.size();
      if (a.row.seconds != b.row.seconds) return a.row.seconds > b.row.seconds;
      return a.number < b.number;
    });
    for (size_t i = 0; i < blockers.size(); ++i) {
      CompileBlockerRow& row = blockers[i].row;
      row.position = static_cast<int32_t>(i);
      row.frames = static_cast<int32_t>(blockers[i].frames.size());
      row.functions = texts_(blockers[i].functions.Joined());
      blockers_.Add(row);
    }
  }

  const Pools& names_;  // of the model
  const CompilationTable& rows_;
  ResultTexts texts_;
  CompileProgressTable& progress_;
  CompileBlockerTable& blockers_;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_progress",
               .sentence = "How much of the program is compiled, and what blocks the rest?",
               .example = "(makes tables only)",
               .needs = kTableNames<CompilationTable>,
               .makes = kTableNames<CompileProgressTable, CompileBlockerTable>},
      .run = RunPass<ProgressWriter>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_progress

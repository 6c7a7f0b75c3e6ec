// Where does the graph break, why, and what did that cost?
//
// A break is told up to three times: in artifact dynamo_graph_break_reason when it happens, in the
// reasons of the restart that follows, in the reason of the failure when it ends the compilation.
// One that was logged as such is taken from there; the others count only for compilations without
// such an artifact. Breaks with the same reason at the same user line of one input and rank are one
// row. Cost: the payloads of breaks, which are few, and one pass over the entries' kinds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/break_findings.h"
#include "analyses/compile/break_rows.h"
#include "analyses/compile/break_text.h"
#include "analyses/compile/rows.h"
#include "base/text/scan.h"
#include "model/compile/frames.h"
#include "model/compile/payload.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_entry.h"
#include "tables/compile_failure.h"
#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"

namespace debrief::analyses::compile_breaks {

namespace {

// One break as one compilation met it.
struct Hit {
  size_t compilation;
  std::string_view kind;
  size_t of;  // number of the break
};

class BreakFinder {
 public:
  BreakFinder(const Model& model, Part& part)
      : model_(model),
        compilations_(model.tables.Get<CompilationTable>()),
        metrics_(model.tables.Get<CompileMetricsTable>()),
        pools_(part.pools),
        texts_(model.pools, part.pools),
        table_(part.tables.Edit<CompileBreakTable>()),
        breaks_(part.pools),
        failures_(part.tables.Edit<CompileFailureTable>()) {
    for (size_t row = 0; row < compilations_.size(); ++row) {
      const std::string_view id = model_.pools.Text(compilations_.compile_id[row]);
      by_id_[{compilations_.input[row], compilations_.rank[row], id}].push_back(row);
    }
  }

  Status Run() {
    TRY(FindLogged());
    FindRestarts();
    FindFailures();
    ShareCosts();
    breaks_.Write(table_);
    return {};
  }

 private:
  // The compilation of an entry; in a log with several lives the last that had begun.
  template <typename Table>
  size_t CompilationOf(const Table& table, size_t at) const {
    auto found = by_id_.find(
        {table.input[at], table.rank[at], WithoutAttempt(model_.pools.Text(table.compile_id[at]))});
    if (found == by_id_.end()) return kNoRow;
    size_t last = kNoRow;
    for (size_t row : found->second) {
      if (compilations_.first_entry[row] <= table.entry[at]) last = row;
    }
    return last;
  }

  Status FindLogged() {
    const auto& entries = model_.tables.Get<CompileEntryTable>();
    AskOnce<bool> is_break(
        model_.pools, [](std::string_view name) { return name == "dynamo_graph_break_reason"; });
    std::string text;
    for (size_t row = 0; row < entries.size(); ++row) {
      if (!is_break(entries.name[row])) continue;
      const size_t of = CompilationOf(entries, row);
      if (of == kNoRow) continue;
      TRY(ReadPayload(model_, entries, row, text));
      AddHit(of, "graph_break", ParseBreakText(text));
    }
    return {};
  }

  void FindRestarts() {
    const auto& restarts = model_.tables.Get<CompileRestartTable>();
    const std::vector<bool> has_break = Broken();
    for (size_t row = 0; row < restarts.size(); ++row) {
      const size_t of = CompilationOf(restarts, row);
      if (of == kNoRow || has_break[of]) continue;
      AddHit(of, "restart", ParseBreakText(model_.pools.Text(restarts.reason[row])));
    }
  }

  void FindFailures() {
    const std::vector<bool> has_break = Broken();
    for (size_t row = 0; row < metrics_.size(); ++row) {
      if (metrics_.fail_type[row] == StringId::kNone) continue;
      const size_t of = CompilationOf(metrics_, row);
      if (of == kNoRow) continue;
      const std::string_view type = model_.pools.Text(metrics_.fail_type[row]);
      const bool at_limit =
          StaysAtRecompileLimit(type, model_.pools.Text(metrics_.fail_reason[row]));
      const bool is_backward = IsOfBackward(of, row);
      const bool is_of_backend = type == "BackendCompilerFailed" || type == "InductorError";
      const bool is_suppressed = metrics_.suppress_errors[row] == 1 && !is_backward && !at_limit &&
                                 IsSuppressible(of, type);
      AddFailure(of, row,
                 at_limit || is_suppressed || (has_break[of] && !is_backward && !is_of_backend));
      if (has_break[of] || at_limit || type != "Unsupported") continue;
      AddHit(of, "failure", ParseBreakText(model_.pools.Text(metrics_.fail_reason[row])));
    }
  }

  // suppress_errors lets what Dynamo compiles run uncompiled: not a program that is exported, and
  // neither an interrupt nor what PyTorch was told to raise at the limit of recompilations.
  bool IsSuppressible(size_t of, std::string_view type) const {
    return model_.pools.Text(compilations_.compile_id[of]) != "-/-" &&
           !type.starts_with("FailOn") && type != "KeyboardInterrupt" && type != "SystemExit";
  }

  // 2.6 writes those of a frame that never had a graph under the same name.
  bool IsOfBackward(size_t of, size_t metrics_row) const {
    return model_.pools.Text(metrics_.kind[metrics_row]) != "compilation_metrics" &&
           compilations_.ops[of] != kNone64;
  }

  // By compilation: it has a hit.
  std::vector<bool> Broken() const {
    std::vector<bool> broken(compilations_.size());
    for (const Hit& hit : hits_) broken[hit.compilation] = true;
    return broken;
  }

  void AddHit(size_t of, std::string_view kind, const BreakText& text) {
    const BreakHit hit = {.process = RowLike<CompileBreakRow>(compilations_, of),
                          .kind = kind,
                          .compile_id = model_.pools.Text(compilations_.compile_id[of]),
                          .function = model_.pools.Text(compilations_.function[of]),
                          .otherwise = FrameOfFailure(of)};
    hits_.push_back({of, kind, breaks_.Add(hit, text)});
  }

  Frame FrameOfFailure(size_t of) {
    Frame frame;
    frame.file = texts_(compilations_.fail_file[of]);
    frame.line = compilations_.fail_line[of];
    frame.function = texts_(compilations_.function[of]);
    if (frame.file != StringId::kNone) return frame;
    frame.file = texts_(compilations_.file[of]);
    frame.line = compilations_.line[of];
    return frame;
  }

  void AddFailure(size_t of, size_t metrics_row, bool falls_back) {
    auto row = RowLike<CompileFailureRow>(compilations_, of);
    row.compile_id = texts_(compilations_.compile_id[of]);
    row.function = texts_(compilations_.function[of]);
    if (IsOfBackward(of, metrics_row))
      row.function = texts_("backward of " + std::string(pools_.Text(row.function)));
    row.file = texts_(compilations_.file[of]);
    row.line = compilations_.line[of];
    row.fail_type = texts_(metrics_.fail_type[metrics_row]);
    const std::string_view text = model_.pools.Text(metrics_.fail_reason[metrics_row]);
    row.reason = texts_(ShortReason(text));
    row.text = texts_(text);
    row.user_file = texts_(compilations_.fail_file[of]);
    row.user_line = compilations_.fail_line[of];
    if (row.user_file == StringId::kNone) SetPlaceOfOp(text, row);
    row.seconds = compilations_.seconds[of];
    row.falls_back = falls_back;
    failures_.Add(row);
  }

  // Inductor names the line of the op that it could not lower behind "Found from : ", innermost
  // last.
  void SetPlaceOfOp(std::string_view text, CompileFailureRow& row) {
    constexpr std::string_view kFound = "\nFound from : ";
    const size_t at = text.rfind(kFound);
    if (at == std::string_view::npos) return;
    const auto frames = ParseTraceback(text.substr(at + kFound.size()));
    if (frames.empty()) return;
    row.user_file = texts_(frames.back().file);
    row.user_line = frames.back().line;
  }

  // Time that a compilation threw away is shared evenly among its breaks. A function that resumes
  // behind a break is named torch_dynamo_resume_in_<function>_at_<line>.
  void ShareCosts() {
    std::unordered_map<size_t, size_t> hits_of;
    for (const Hit& hit : hits_) ++hits_of[hit.compilation];
    std::map<Resume, size_t> breaks_at;  // the first break there
    for (const Hit& hit : hits_) {
      const double wasted = compilations_.wasted_s[hit.compilation];
      if (!std::isnan(wasted))
        breaks_.row(hit.of).wasted_s += wasted / static_cast<double>(hits_of[hit.compilation]);
      NoteResumes(hit, breaks_at);
    }
    for (size_t row = 0; row < compilations_.size(); ++row) {
      auto found = breaks_at.find({compilations_.input[row], compilations_.rank[row],
                                   std::string(model_.pools.Text(compilations_.function[row]))});
      if (found == breaks_at.end()) continue;
      CompileBreakRow& to = breaks_.row(found->second);
      ++to.resumes;
      if (!std::isnan(compilations_.seconds[row])) to.resume_s += compilations_.seconds[row];
    }
  }

  using Resume = std::tuple<int32_t, int32_t, std::string>;  // input, rank, name of the function

  // The resume function belongs to the frame that was compiled, which need not be the innermost of
  // the user's stack: what it calls is inlined.
  void NoteResumes(const Hit& hit, std::map<Resume, size_t>& breaks_at) const {
    const std::string_view function =
        ResumedFunction(model_.pools.Text(compilations_.function[hit.compilation]));
    const CompileBreakRow& row = breaks_.row(hit.of);
    for (FrameId id : pools_.GetStack(row.user_stack)) {
      const Frame& frame = pools_.GetFrame(id);
      if (ResumedFunction(pools_.Text(frame.function)) != function) continue;
      breaks_at.try_emplace(
          Resume(row.input, row.rank,
                 fmt::format("torch_dynamo_resume_in_{}_at_{}", function, frame.line)),
          hit.of);
      return;
    }
  }

  const Model& model_;
  const CompilationTable& compilations_;
  const CompileMetricsTable& metrics_;
  Pools& pools_;
  ResultTexts texts_;
  CompileBreakTable& table_;
  BreakRows breaks_;
  CompileFailureTable& failures_;
  std::map<std::tuple<int32_t, int32_t, std::string_view>, std::vector<size_t>> by_id_;
  std::vector<Hit> hits_;
};

Status Run(const Model& model, AnalysisResult& result) {
  TRY(BreakFinder(model, result.part).Run());
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_breaks",
               .sentence = "Where does the graph break or the compilation fail, and why?",
               .example = "2 distinct graph breaks; the costliest at train.py:32: Failed to trace "
                          "builtin operator",
               .needs = kTableNames<CompileEntryTable, CompilationTable>,
               .makes = kTableNames<CompileBreakTable, CompileFailureTable>,
               .uses = kTableNames<CompileMetricsTable, CompileRestartTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_breaks

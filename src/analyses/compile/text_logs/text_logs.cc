// Which compilations does the output of a rank tell of, where TORCH_LOGS was set and no TORCH_TRACE
// log is there?
//
// The same rows as from a TORCH_TRACE log, made with the same readers of guards and breaks, so that
// both tell the same of one process; durations, sizes and graphs are not in the text. A process
// whose TORCH_TRACE log was read is left out: all it printed is in its log. A compilation is known
// here when a line names it, or the reason of a later one does. One pass over the records.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/break_findings.h"
#include "analyses/compile/break_rows.h"
#include "analyses/compile/guard_text.h"
#include "analyses/compile/recompile_findings.h"
#include "analyses/compile/rows.h"
#include "analyses/compile/text_logs/cudagraph_notes.h"
#include "analyses/compile/text_logs/record_text.h"
#include "analyses/compile/text_logs/text_compilations.h"
#include "base/text/scan.h"
#include "base/text/units.h"
#include "model/compile/frames.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_cudagraph_skip.h"
#include "tables/compile_entry.h"
#include "tables/compile_failure.h"
#include "tables/compile_recompile.h"
#include "tables/compile_shape.h"
#include "tables/torch_log.h"

namespace debrief::analyses::compile_text_logs {

namespace {

using compile_recompiles::MainChange;

class TextLogs {
 public:
  TextLogs(const Model& model, AnalysisResult& result)
      : model_(model),
        records_(model.tables.Get<TorchLogTable>()),
        result_(result),
        texts_(model.pools, result.part.pools),
        breaks_(result.part.pools) {
    const auto& entries = model.tables.Get<CompileEntryTable>();
    for (size_t row = 0; row < entries.size(); ++row)
      traced_.insert({entries.job[row], entries.thread[row], entries.rank[row]});
  }

  void Run() {
    for (size_t row = 0; row < records_.size(); ++row) {
      if (!IsTraced(row)) Read(row);
    }
    for (const TextCompilation& of : compilations_.all()) AddRows(of);
    breaks_.Write(result_.part.tables.Edit<CompileBreakTable>());
    cudagraphs_.Write(records_, result_);
    compile_recompiles::AddFindings(changes_, result_);
    compile_breaks::AddFindings(result_.part, result_.findings);
  }

 private:
  ProcessOfText ProcessAt(size_t row) const {
    return {records_.input[row], records_.rank[row], records_.pid[row]};
  }

  // Its process wrote a TORCH_TRACE log. Processes of two hosts may have one number: then their
  // ranks differ, where both are known.
  bool IsTraced(size_t row) const {
    const int32_t job = records_.job[row], rank = records_.rank[row];
    const int64_t pid = records_.pid[row];
    if (traced_.contains({job, pid, rank}) || traced_.contains({job, pid, kNone32})) return true;
    auto first = traced_.lower_bound({job, pid, std::numeric_limits<int32_t>::min()});
    return rank == kNone32 && first != traced_.end() && std::get<0>(*first) == job &&
           std::get<1>(*first) == pid;
  }

  TextCompilation& CompilationOf(size_t row, std::string_view id) {
    return compilations_.Get(ProcessAt(row), id, row, records_.line[row]);
  }

  void Read(size_t row) {
    const std::string_view text = model_.pools.Text(records_.text[row]);
    const std::string_view id = model_.pools.Text(records_.compile_id[row]);
    cudagraphs_.Note(ProcessAt(row), row, id, text);
    if (!id.empty()) CompilationOf(row, id);
    if (auto recompile = ParseRecompile(text)) return NoteRecompile(row, id, *recompile);
    if (auto limit = ParseLimit(text)) return NoteLimit(row, id, text, *limit);
    if (auto failed = ParseSuppressed(text)) return NoteSuppressed(row, id, *failed);
    if (std::string broken = BreakTextOf(text); !broken.empty()) return NoteBreak(row, id, broken);
    if (id.empty()) return;
    if (auto code = ParseStart(text)) return CompilationOf(row, id).SetFunction(*code);
    if (auto shape = ParseShape(text)) NoteShape(row, id, *shape);
  }

  // The compilations whose guards failed were there before; most of them say nothing themselves.
  void NoteRecompile(size_t row, std::string_view id, RecompileText& text) {
    std::string counted;
    if (id.empty()) {
      counted =
          TextCompilations::IdOf(text.code, compilations_.CountAgain(ProcessAt(row), text.code));
      id = counted;
      CompilationOf(row, TextCompilations::IdOf(text.code, 0)).SetFunction(text.code);
    }
    for (const std::string& reason : text.reasons) {
      const std::string_view before = compile_recompiles::ParseReason(reason).previous_id;
      if (!before.empty()) CompilationOf(row, before).SetFunction(text.code);
    }
    TextCompilation& of = CompilationOf(row, id);
    of.SetFunction(text.code);
    if (of.reasons.empty()) of.reasons = std::move(text.reasons);
  }

  void NoteLimit(size_t row, std::string_view id, std::string_view text, const LimitText& limit) {
    const std::string counted = TextCompilations::IdOf(limit.code, limit.limit);
    TextCompilation& of = CompilationOf(row, id.empty() ? counted : id);
    of.SetFunction(limit.code);
    of.limit = FirstLine(text);
    if (of.reasons.empty() && !limit.reason.empty()) of.reasons.emplace_back(limit.reason);
  }

  void NoteSuppressed(size_t row, std::string_view id, const SuppressedText& text) {
    const std::string found = compilations_.LastOf(ProcessAt(row), text.code);
    TextCompilation& of = CompilationOf(row, id.empty() ? found : id);
    of.SetFunction(text.code);
    of.failed = true;
    auto failure = RowLike<CompileFailureRow>(records_, row);
    failure.life = 0;
    failure.compile_id = texts_(of.id);
    failure.function = texts_(text.code.function);
    failure.file = texts_(text.code.file);
    failure.line = text.code.line;
    failure.fail_type = texts_(text.type.substr(text.type.rfind('.') + 1));  // npos + 1 is 0
    failure.reason = texts_(ShortReason(text.reason));
    failure.text = texts_(text.text);
    failure.user_file = texts_(text.user_file);
    failure.user_line = text.user_line;
    failure.falls_back = 1;
    result_.part.tables.Edit<CompileFailureTable>().Add(failure);
  }

  void NoteShape(size_t row, std::string_view id, const ShapeText& shape) {
    if (shape.kind == "create_symbol")
      CompilationOf(row, id).symbols.emplace(shape.source, shape.symbol);
    auto made = RowLike<CompileShapeRow>(records_, row);
    made.entry = records_.line[row];
    made.compile_id = texts_(id);
    made.kind = texts_(shape.kind);
    made.symbol = texts_(shape.symbol);
    made.sources = texts_(shape.source);
    made.value = texts_(shape.value);
    made.range = texts_(shape.range);
    made.expression = texts_(shape.expression);
    made.result = texts_(shape.result);
    result_.part.tables.Edit<CompileShapeTable>().Add(made);
  }

  // The innermost frame is of the function that was inlined; the outermost of the one compiled is
  // not told, so the function is the one of the user's line.
  void NoteBreak(size_t row, std::string_view id, const std::string& text) {
    BreakText parsed = ParseBreakText(text);
    TakeFrames(row, text, parsed);
    FunctionText code;
    if (!parsed.frames.empty())
      code = {parsed.frames.back().function, parsed.frames.back().file, parsed.frames.back().line};
    if (!id.empty()) {
      TextCompilation& of = CompilationOf(row, id);
      if (!code.function.empty()) of.SetFunction(code);
      if (of.break_reason.empty()) {
        of.break_reason = parsed.reason;
        of.break_file = parsed.file.empty() ? code.file : parsed.file;
        of.break_line = parsed.file.empty() ? code.line : parsed.line;
      }
      code.function = of.function;
    }
    breaks_.Add({.process = RowLike<CompileBreakRow>(records_, row),
                 .kind = "graph_break",
                 .compile_id = result_.part.pools.Text(texts_(WithoutAttempt(id))),
                 .function = result_.part.pools.Text(texts_(code.function)),
                 .otherwise = {}},
                parsed);
  }

  // "Graph break (user stack suppressed due to duplicate graph break)": the stack is that of the
  // first one with this reason at this line.
  void TakeFrames(size_t row, const std::string& text, BreakText& parsed) {
    if (parsed.file.empty()) return;
    auto [first, is_new] =
        first_breaks_.try_emplace(std::tuple(ProcessAt(row), std::string(parsed.reason),
                                             std::string(parsed.file), parsed.line),
                                  text);
    if (!is_new && parsed.frames.empty()) parsed.frames = ParseBreakText(first->second).frames;
  }

  void AddRows(const TextCompilation& of) {
    MainChange main = AddRecompiles(of);
    auto row = RowLike<CompilationRow>(records_, of.record);
    row.life = 0;
    row.compile_id = texts_(of.id);
    const std::string_view frame = std::string_view(of.id).substr(0, of.id.rfind('/'));
    row.frame_id = LeadingNumber(frame.substr(frame.rfind('/') + 1), kNone64);
    row.function = texts_(of.function);
    row.file = row.user_file = texts_(of.file);
    row.line = row.user_line = of.line;
    row.number = LeadingNumber(std::string_view(of.id).substr(of.id.rfind('/') + 1), int32_t{0});
    if (row.number > 0) row.previous_id = texts_(fmt::format("{}/{}", frame, row.number - 1));
    row.outcome = texts_(of.failed ? "failed" : "unknown");
    row.is_last = 0;
    row.restarts = of.restarts;
    row.first_entry = records_.line[of.record];
    row.last_entry = of.last_line;
    row.break_reason = texts_(of.break_reason);
    row.break_file = texts_(of.break_file);
    row.break_line = of.break_line;
    row.fail_reason = texts_(of.limit);
    row.why = texts_(main.words);
    result_.part.tables.Edit<CompilationTable>().Add(row);
    changes_.push_back(std::move(main));
  }

  // One row for each failed guard; the main change is the one that most of them name.
  MainChange AddRecompiles(const TextCompilation& of) {
    auto& rows = result_.part.tables.Edit<CompileRecompileTable>();
    const size_t first = rows.size();
    for (const std::string& reason : of.reasons)
      rows.Add(RecompileRow(of, reason, static_cast<int32_t>(rows.size() - first)));
    MainChange main;
    if (rows.size() == first) return main;
    main.row = compile_recompiles::MainRow(rows, result_.part.pools, first);
    rows.is_main[main.row] = 1;
    main.words = result_.part.pools.Text(rows.change[main.row]);
    return main;
  }

  CompileRecompileRow RecompileRow(const TextCompilation& of, std::string_view reason,
                                   int32_t position) {
    const compile_recompiles::FailedGuard failed = compile_recompiles::ParseReason(reason);
    const compile_recompiles::Change change = compile_recompiles::ParseGuard(failed.guard);
    const std::string source =
        change.kind == "global_state" ? "" : compile_recompiles::ToSource(change.name);
    auto symbol = of.symbols.find(
        change.kind == "size" ? fmt::format("{}.size()[{}]", source, change.dimension) : source);
    auto row = RowLike<CompileRecompileRow>(records_, of.record);
    row.life = 0;
    row.compile_id = texts_(of.id);
    row.previous_id = texts_(failed.previous_id);
    row.position = position;
    row.is_main = 0;
    row.kind = texts_(change.kind);
    row.source = texts_(source);
    row.dimension = change.dimension;
    row.old_value = texts_(change.old_value);
    row.new_value = texts_(change.new_value);
    if (symbol != of.symbols.end()) row.symbol = texts_(symbol->second);
    row.change = texts_(compile_recompiles::InWords(change, failed.guard));
    row.guard = texts_(failed.guard);
    row.reason = texts_(reason);
    row.function = texts_(of.function);
    row.user_file = texts_(failed.file.empty() ? std::string_view(of.file) : failed.file);
    row.user_line = failed.file.empty() ? of.line : failed.line;
    row.user_code = texts_(failed.code);
    row.next_step = texts_(compile_recompiles::NextStep(
        change, {.function = of.function,
                 .call = {},
                 .symbol = symbol == of.symbols.end() ? "" : symbol->second,
                 .is_parameter = reason.find("Guard failed on a parameter") != std::string::npos}));
    return row;
  }

  const Model& model_;
  const TorchLogTable& records_;
  AnalysisResult& result_;
  ResultTexts texts_;
  BreakRows breaks_;
  std::set<std::tuple<int32_t, int64_t, int32_t>> traced_;  // job, process, rank
  TextCompilations compilations_;
  std::map<std::tuple<ProcessOfText, std::string, std::string, int32_t>, std::string> first_breaks_;
  CudagraphNotes cudagraphs_;
  std::vector<MainChange> changes_;
};

Status Run(const Model& model, AnalysisResult& result) {
  TextLogs(model, result).Run();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_text_logs",
               .sentence = "Which recompilations, graph breaks and skipped CUDA graphs did "
                           "TORCH_LOGS print?",
               .example = "branchy (train.py:58) was compiled 5 x; last time type of k was int",
               .needs = kTableNames<TorchLogTable>,
               .makes =
                   kTableNames<CompilationTable, CompileRecompileTable, CompileBreakTable,
                               CompileFailureTable, CompileShapeTable, CompileCudagraphSkipTable>,
               .uses = kTableNames<CompileEntryTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_text_logs

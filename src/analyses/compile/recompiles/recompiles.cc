// Which compilations were there, and why was a function compiled again?
//
//   entries -> Compilations -> compile_recompile -> compilation -> compile_frame_group -> findings
//
// Other analyses of compilations (breaks, progress, guards) start from table compilation. Linear in
// the entries; payloads are read of recompilations and of graph breaks only.
//
// One row for each failed guard. Reasons are read from artifact recompile_reasons, a JSON list or,
// when there is one only, its bare text; without the artifact from the metrics, which keep the
// first. Payloads are read of compilations that were compiled again, and of no others.
#include "analyses/compile/recompiles/recompiles.h"

#include <fmt/format.h>

#include "analyses/compile/break_text.h"
#include "analyses/compile/guard_text.h"
#include "analyses/compile/recompiles/new_values.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "model/compile/payload.h"
#include "tables/compilation.h"
#include "tables/compile_entry.h"
#include "tables/compile_frame_group.h"
#include "tables/compile_metrics.h"
#include "tables/compile_orphan.h"
#include "tables/compile_phase.h"
#include "tables/compile_recompile.h"
#include "tables/compile_restart.h"
#include "tables/compile_shape.h"
#include "tables/compile_span.h"
#include "tables/compile_tensor.h"

namespace debrief::analyses::compile_recompiles {

namespace {

class ReasonReader {
 public:
  explicit ReasonReader(const Compilations& compilations)
      : compilations_(compilations), model_(compilations.model()) {}

  // The reasons of a compilation, newest compilation first; none when it is the first of its frame.
  Result<std::vector<std::string>> Of(const Compilation& of) {
    std::vector<std::string> reasons;
    if (of.reasons != kNoRow) {
      TRY(ReadPayload(model_, model_.tables.Get<CompileEntryTable>(), of.reasons, text_));
      Take(reasons);
    }
    if (reasons.empty() && of.metrics != kNoRow) {
      const StringId reason = compilations_.metrics().recompile_reason[of.metrics];
      if (reason != StringId::kNone) reasons.emplace_back(model_.pools.Text(reason));
    }
    return reasons;
  }

 private:
  void Take(std::vector<std::string>& reasons) {
    if (Trimmed(text_).starts_with('[')) {
      const size_t bytes = text_.size();
      text_.append(kPadding, '\0');
      Status status = reader_.Open({text_.data(), bytes});
      if (status.ok()) {
        status = reader_.root().ForEachElement([&](JsonValue element) {
          if (auto reason = element.String()) reasons.emplace_back(*reason);
        });
      }
      if (status.ok()) return;
      reasons.clear();
      text_.resize(bytes);
    }
    if (!Trimmed(text_).empty()) reasons.emplace_back(text_);
  }

  const Compilations& compilations_;
  const Model& model_;
  JsonReader reader_;
  std::string text_;
};

class RecompileWriter {
 public:
  RecompileWriter(const Compilations& compilations, Part& part)
      : compilations_(compilations),
        names_(compilations.model().pools),
        pools_(part.pools),
        texts_(names_, part.pools),
        rows_(part.tables.Edit<CompileRecompileTable>()),
        reasons_(compilations),
        values_(compilations) {}

  Result<MainChange> Add(int32_t at) {
    ASSIGN_OR_RETURN(std::vector<std::string> reasons,
                     reasons_.Of(compilations_.all()[static_cast<size_t>(at)]));
    MainChange main;
    const size_t first = rows_.size();
    for (size_t i = 0; i < reasons.size(); ++i)
      TRY(AddRow(at, static_cast<int32_t>(i), reasons[i]));
    if (rows_.size() == first) return main;
    main.row = MainRow(rows_, pools_, first);
    rows_.is_main[main.row] = 1;
    main.words = pools_.Text(rows_.change[main.row]);
    return main;
  }

 private:
  Status AddRow(int32_t at, int32_t position, std::string_view reason) {
    const Compilation& now = compilations_.all()[static_cast<size_t>(at)];
    const FailedGuard failed = ParseReason(reason);
    Change change = ParseGuard(failed.guard);
    const int32_t before = compilations_.Find(now.process, failed.previous_id);
    ASSIGN_OR_RETURN(std::string symbol, values_.Complete(at, before, change));
    auto row = compilations_.RowFor<CompileRecompileRow>(now);
    row.compile_id = texts_(now.id);
    row.function = texts_(now.function);
    row.previous_id = texts_(failed.previous_id);
    row.position = position;
    row.is_main = 0;
    row.kind = texts_(change.kind);
    row.source = texts_(change.kind == "global_state" ? std::string() : ToSource(change.name));
    row.dimension = change.dimension;
    row.old_value = texts_(change.old_value);
    row.new_value = texts_(change.new_value);
    row.symbol = texts_(symbol);
    row.change = texts_(InWords(change, failed.guard));
    row.guard = texts_(failed.guard);
    row.reason = texts_(reason);
    SetPlace(now, failed, row);
    row.next_step = texts_(NextStep(change, AdviceFor(now, reason, std::move(symbol))));
    rows_.Add(row);
    return {};
  }

  void SetPlace(const Compilation& now, const FailedGuard& failed, CompileRecompileRow& row) {
    row.user_code = texts_(failed.code);
    if (!failed.file.empty()) {
      row.user_file = texts_(failed.file);
      row.user_line = failed.line;
    } else {
      row.user_file = texts_(now.code.file);
      row.user_line = now.code.line;
    }
  }

  Advice AdviceFor(const Compilation& now, std::string_view reason, std::string symbol) const {
    Advice advice;
    advice.function = names_.Text(now.function);
    if (now.caller.file != StringId::kNone)
      advice.call = fmt::format("{}:{}", names_.Text(now.caller.file), now.caller.line);
    advice.symbol = std::move(symbol);
    advice.is_parameter = reason.find("Guard failed on a parameter") != std::string_view::npos;
    return advice;
  }

  const Compilations& compilations_;
  const Pools& names_;  // of the model
  Pools& pools_;
  ResultTexts texts_;
  CompileRecompileTable& rows_;
  ReasonReader reasons_;
  NewValues values_;
};

Status Run(const Model& model, AnalysisResult& result) {
  const Compilations compilations(model);
  ASSIGN_OR_RETURN(std::vector<MainChange> changes, AddRecompiles(compilations, result.part));
  TRY(AddCompilations(compilations, changes, result.part));
  AddFrameGroups(compilations, changes, result.part);
  AddOrphans(model, result.part);
  AddFindings(changes, result);
  return {};
}

}  // namespace

Result<std::vector<MainChange>> AddRecompiles(const Compilations& compilations, Part& part) {
  RecompileWriter writer(compilations, part);
  std::vector<MainChange> changes;
  changes.reserve(compilations.all().size());
  for (size_t i = 0; i < compilations.all().size(); ++i) {
    ASSIGN_OR_RETURN(MainChange change, writer.Add(static_cast<int32_t>(i)));
    changes.push_back(std::move(change));
  }
  return changes;
}

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_recompiles",
               .sentence =
                   "Which functions were compiled again, what had changed, and did all end?",
               .example =
                   "branchy (train.py:58) was compiled 5 times; last time type of k was int, "
                   "now float",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompilationTable, CompileRecompileTable, CompileFrameGroupTable,
                                    CompileOrphanTable>,
               .uses = kTableNames<CompileMetricsTable, CompilePhaseTable, CompileRestartTable,
                                   CompileShapeTable, CompileSpanTable, CompileTensorTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_recompiles

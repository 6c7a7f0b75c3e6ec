// Which compilations were there, and why was a function compiled again?
//
//   entries -> Compilations -> compile_recompile -> compilation -> compile_frame_group -> findings
//
// Other analyses of compilations (breaks, progress, guards) start from table compilation. Linear in
// the entries; payloads are read of recompilations and of graph breaks only.

#include "analyses/compile/recompiles/compile_tables.h"
#include "tables/compilation.h"
#include "tables/compile_entry.h"
#include "tables/compile_frame_group.h"
#include "tables/compile_orphan.h"
#include "tables/compile_recompile.h"

namespace debrief::analyses::compile_recompiles {

namespace {

constexpr auto kNeeds = kTableNames<CompileEntryTable>;
constexpr auto kMakes = kTableNames<CompilationTable, CompileRecompileTable, CompileFrameGroupTable,
                                    CompileOrphanTable>;

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

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_recompiles",
               .sentence =
                   "Which functions were compiled again, what had changed, and did all end?",
               .example =
                   "branchy (train.py:58) was compiled 5 times; last time type of k was int, "
                   "now float",
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_recompiles

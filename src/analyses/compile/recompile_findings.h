// Rules compile.recompile_storm, compile.recompile_limit and compile.unfinished, from the rows of
// compilation and compile_recompile that an analysis made.
#pragma once

#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "tables/compile_recompile.h"

namespace debrief::analyses::compile_recompiles {

// What changed, for one compilation.
struct MainChange {
  size_t row = kNoRow;  // of compile_recompile
  std::string words;    // empty when nothing is known
};

// The row from `first` on whose change most of them name; of equals the first.
size_t MainRow(const CompileRecompileTable& rows, const Pools& pools, size_t first);

// `changes`: one for each row of compilation.
void AddFindings(const std::vector<MainChange>& changes, AnalysisResult& result);

}  // namespace debrief::analyses::compile_recompiles

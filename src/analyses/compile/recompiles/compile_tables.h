// The other tables of this analysis; each is one pass.
#pragma once

#include "analyses/analysis.h"
#include "analyses/compile/recompiles/recompiles.h"

namespace debrief::analyses::compile_recompiles {

// Table compilation: row i is compilation i.
Status AddCompilations(const Compilations& compilations, const std::vector<MainChange>& changes,
                       Part& part);

// Table compile_frame_group; needs the rows of compilation and compile_recompile in `part`.
void AddFrameGroups(const Compilations& compilations, const std::vector<MainChange>& changes,
                    Part& part);

// Table compile_orphan.
void AddOrphans(const Model& model, Part& part);

// Findings of the rules compile.recompile_storm, compile.recompile_limit and compile.unfinished.
void AddFindings(const std::vector<MainChange>& changes, AnalysisResult& result);

}  // namespace debrief::analyses::compile_recompiles

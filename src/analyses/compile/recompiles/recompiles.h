// The tables of this analysis; each is one pass.
#pragma once

#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/recompile_findings.h"
#include "analyses/compile/recompiles/compilations.h"
#include "tables/compile_recompile.h"

namespace debrief::analyses::compile_recompiles {

// Adds the rows of compile_recompile; element i is about compilation i. A payload that cannot be
// read is an error of the whole analysis, one of an unknown form is kept as text.
Result<std::vector<MainChange>> AddRecompiles(const Compilations& compilations, Part& part);

// Table compilation: row i is compilation i.
Status AddCompilations(const Compilations& compilations, const std::vector<MainChange>& changes,
                       Part& part);

// Table compile_frame_group; needs the rows of compilation and compile_recompile in `part`.
void AddFrameGroups(const Compilations& compilations, const std::vector<MainChange>& changes,
                    Part& part);

// Table compile_orphan.
void AddOrphans(const Model& model, Part& part);

}  // namespace debrief::analyses::compile_recompiles

// Why was a frame compiled again?
#pragma once

#include <string>
#include <vector>

#include "analyses/compile/recompiles/compilations.h"
#include "tables/compile_recompile.h"

namespace debrief::analyses::compile_recompiles {

// What changed, for one compilation.
struct MainChange {
  size_t row = kNoRow;  // of compile_recompile
  std::string words;    // empty when nothing is known
};

// Adds the rows of compile_recompile; element i is about compilation i. A payload that cannot be
// read is an error of the whole analysis, one of an unknown form is kept as text.
Result<std::vector<MainChange>> AddRecompiles(const Compilations& compilations, Part& part);

}  // namespace debrief::analyses::compile_recompiles

// How each process life of a log went.
#pragma once

#include "model/model.h"

namespace debrief::inputs::torch_trace {

// Fills compile_life from the joined log.
void AddLives(const Identity& who, Part& whole);

}  // namespace debrief::inputs::torch_trace

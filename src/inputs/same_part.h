// For tests: an importer must give the same rows and diagnostics however its file is cut.
#pragma once

#include "model/model.h"

namespace debrief {

// Ends the process when the two differ. `part` keeps its rows; its pools may grow.
void CheckSamePart(Part& part, Part&& again);

}  // namespace debrief

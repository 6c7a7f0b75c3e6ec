// What was wrong in the inputs, for commands that print answers and no report.
#pragma once

#include "model/model.h"

namespace debrief {

// One line a kind and input on stderr; notes that need no action are left out.
void PrintTrouble(const Model& model);

}  // namespace debrief

// Where in the program compilations began: the trees of their stacks.
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when no log tells. Same model, same bytes.
std::string StacksJson(const Model& model);

Status AddStacks(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

// When each rank compiled what.
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when nothing was compiled. Same model, same bytes.
std::string LanesJson(const Model& model);

Status AddLanes(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

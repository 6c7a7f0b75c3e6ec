// What the report's view of lost time shows: island "cost".
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when nothing is known of costs. Same model, same bytes.
std::string CostJson(const Model& model);

Status AddCost(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

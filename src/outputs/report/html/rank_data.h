// What the report's view that compares ranks shows: island "ranks".
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when nothing compares ranks. Same model, same bytes.
std::string RanksJson(const Model& model);

Status AddRanks(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

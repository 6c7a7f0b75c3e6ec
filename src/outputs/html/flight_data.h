// What the report's view of collectives shows: island "flight".
#pragma once

#include <string>

#include "outputs/html/islands.h"

namespace debrief::outputs::html {

// At most 2 MB whatever the size of the job; empty when no collectives were matched. Same model,
// same bytes.
std::string FlightJson(const Model& model);

Status AddFlight(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

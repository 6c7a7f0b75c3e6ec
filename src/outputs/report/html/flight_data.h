// What the report's grid of collectives shows: islands "flight" and "flight_stacks".
#pragma once

#include <string>

#include "outputs/report/html/flight_grid.h"
#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// At most 2 MB whatever the size of the job. Same model, same bytes.
std::string FlightJson(const Model& model, const Grids& grids);

// Adds nothing when no collectives were matched.
Status AddFlight(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

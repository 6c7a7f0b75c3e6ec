// What the report's views of collectives show. All texts are bounded whatever the size of the job;
// same model, same bytes.
#pragma once

#include <string>
#include <vector>

#include "outputs/report/html/collectives/grid.h"
#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Island "flight": the grid of collectives and the oldest open op of each rank. At most 2 MB.
std::string FlightJson(const Model& model, const Grids& grids);

// Island "flight_stacks": where the cells of the grids were issued. `grids` have their cells. At
// most 3 MB, packed a tenth of that.
std::string StacksJson(const Model& model, const std::vector<Grid>& grids);

// Island "waits": who waits for whom. At most 2 MB.
std::string WaitsJson(const Model& model);

// Island "arrivals": how late each rank came to each collective. Empty when no collective has times
// of two ranks. At most 6 MB, packed a fifth of that.
std::string ArrivalsJson(const Model& model);

// Adds those for which there are collectives.
Status AddCollectiveIslands(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

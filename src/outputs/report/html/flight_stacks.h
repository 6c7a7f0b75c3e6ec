// Where the cells of the grids were issued: island "flight_stacks".
#pragma once

#include <string>
#include <vector>

#include "outputs/report/html/flight_grid.h"

namespace debrief::outputs::html {

// `grids` have their cells. At most 3 MB, packed a tenth of that. Same model, same bytes.
std::string StacksJson(const Model& model, const std::vector<Grid>& grids);

}  // namespace debrief::outputs::html

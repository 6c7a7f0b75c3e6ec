// How late each rank came to each collective: island "arrivals".
#pragma once

#include <string>

#include "model/model.h"

namespace debrief::outputs::html {

// Empty when no collective has times of two ranks. At most 6 MB, packed a fifth of that. Same
// model, same bytes.
std::string ArrivalsJson(const Model& model);

}  // namespace debrief::outputs::html

// What the report's view of collectives shows, as JSON.
#pragma once

#include <string>

#include "model/model.h"

namespace debrief::outputs::html {

// At most 2 MB whatever the size of the job; "null" when no collectives were matched. Same model,
// same bytes.
std::string FlightJson(const Model& model);

}  // namespace debrief::outputs::html

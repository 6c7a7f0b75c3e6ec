// Who waits for whom: island "waits".
#pragma once

#include <string>

#include "model/model.h"

namespace debrief::outputs::html {

// At most 2 MB whatever the size of the job. Same model, same bytes.
std::string WaitsJson(const Model& model);

}  // namespace debrief::outputs::html

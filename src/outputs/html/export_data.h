// What stood in the way of torch.export.
#pragma once

#include <string>

#include "outputs/html/islands.h"

namespace debrief::outputs::html {

// Empty when there are no compile logs. Same model, same bytes.
std::string ExportJson(const Model& model);

Status AddExport(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

// The report's view of source lines.
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when there are neither compile logs nor collectives. Same model, same bytes.
std::string SourceJson(const Model& model);

Status AddSource(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

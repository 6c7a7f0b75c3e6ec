// What the report's views of compile logs show.
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when there are no compile logs. Same model, same bytes.
std::string CompileJson(const Model& model);

Status AddCompile(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

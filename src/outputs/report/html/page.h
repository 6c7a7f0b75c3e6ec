// The report as the text of one page.
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// The page: style, script and the run inside, and the islands that are kept for it. Same model,
// same bytes.
std::string MakePage(const Model& model, const Islands& islands);

}  // namespace debrief::outputs::html

// The report as the text of one page.
#pragma once

#include <string>

#include "model/model.h"

namespace debrief::outputs::html {

// A page that stands alone: style, script and data inside, nothing loaded from anywhere. Same
// model, same bytes.
std::string MakePage(const Model& model);

}  // namespace debrief::outputs::html

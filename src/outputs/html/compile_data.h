// What the report's views of compile logs show, as JSON.
#pragma once

#include <string>

#include "model/model.h"

namespace debrief::outputs::html {

// At most 8 MB whatever the size of the logs; "null" when no table of a compile log has rows. Same
// model, same bytes.
std::string CompileJson(const Model& model);

}  // namespace debrief::outputs::html

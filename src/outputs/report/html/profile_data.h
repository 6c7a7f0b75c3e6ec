// What the report's views of profiles show.
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Empty when there are no profiles and no memory snapshots. Same model, same bytes.
std::string ProfileJson(const Model& model);

Status AddProfile(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

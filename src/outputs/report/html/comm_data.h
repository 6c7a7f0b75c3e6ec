// What the report's views of collectives show besides the grid: islands "comm", "waits",
// "arrivals".
#pragma once

#include <string>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

// Tables of traffic and of arrivals; empty when there are none. Same model, same bytes.
std::string CommJson(const Model& model);

Status AddComm(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

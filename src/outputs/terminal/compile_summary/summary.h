// What compile logs tell, on one screen: the first lines say what matters, a section follows for
// each question (compilations and why they happened again, graph breaks, time, caches, ranks, what
// makes the log large).
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::outputs::compile_summary {

struct SummaryOptions {
  size_t width = 100;
  size_t rows = 12;        // of each section
  std::string compile_id;  // one compilation alone ("0/0"); empty: all
};

std::string SummaryText(const Model& model, const SummaryOptions& options);

// All rows of the tables behind it: {"compilation": [{"compile_id": "0/0", ...}], ...}.
std::string SummaryJson(const Model& model, const SummaryOptions& options);

}  // namespace debrief::outputs::compile_summary

// Runs the analyses in an order in which each finds the tables it needs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/threads/progress.h"
#include "base/threads/thread_pool.h"

namespace debrief {

// Those of `analyses` that make one of `tables`, or what such an analysis needs.
std::vector<const Analysis*> AnalysesFor(std::span<const std::string_view> tables,
                                         std::span<const Analysis* const> analyses);

// Analyses whose needs are met run, in parallel where they do not depend on each other; their
// tables and findings join the model in order of name. The others are recorded as not run, with the
// tables they lacked. Ends with ordered findings and filled outcome tables.
void RunAnalyses(std::span<const Analysis* const> analyses, ThreadPool& pool, Progress& progress,
                 Model& model);

}  // namespace debrief

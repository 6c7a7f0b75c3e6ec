// What the parts of this analysis share: findings and rows of a job that was replayed.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/what_if/job_path.h"
#include "analyses/what_if/profile_changes.h"
#include "analyses/what_if/stragglers.h"

namespace debrief::analyses::what_if {

// `row`: of what_if_job, the job's.
void AddStageFindings(const StageJob& job, const Stragglers& found, const Identity& who,
                      int64_t row, std::vector<Finding>& findings);

// `set`: what the user asks for, in words; empty when nothing.
void AddStageRows(const StageJob& job, const Stragglers& found, const Identity& who,
                  std::string_view set, Part& part);

void AddProfileReport(const ProfileGraph& graph, const ProfileGains& gains, const Identity& who,
                      AnalysisResult& result);

// The critical path across ranks: `views` are those that the graph was built from.
void AddPathRows(const ProfileGraph& graph, const JobPath& path,
                 const std::vector<timeline::TimelineView>& views, const Identity& who, Part& part);

}  // namespace debrief::analyses::what_if

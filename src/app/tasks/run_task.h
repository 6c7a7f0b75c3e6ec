// `debrief JOB -o OUT` as one of several tasks that srun or mpirun started: each maps its share,
// the first waits for the shards of all and writes the report.
#pragma once

#include "app/commands/commands.h"
#include "app/tasks/task.h"

namespace debrief {

int RunTask(const Task& task, const ReportOptions& options, const GlobalOptions& global);

}  // namespace debrief

// Which of several tasks this process is, as launchers tell by their environment variables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inputs/shards/shard.h"

namespace debrief {

struct Task {
  shards::Share share;
  std::string run;  // what tells one launch from the next; empty where the launcher tells none
};

// What `debrief map` reads: nothing when no scheduler numbered us.
std::optional<shards::Share> ShareFromEnvironment();

// Whether a launcher started this process beside others of the same program, right now: srun and
// mpirun. Not a batch script (it has the number of tasks in its environment and is one process),
// not an element of an array (each may have a job of its own to look at), not a shell that somebody
// sits at. A process may still have inherited all this from one that was started so; see meeting.h.
std::optional<Task> TaskFromEnvironment();

// As Slurm calls it, else as it calls itself.
std::string MachineName();

}  // namespace debrief

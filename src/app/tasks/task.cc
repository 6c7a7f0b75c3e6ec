#include "app/tasks/task.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "app/terminal.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

std::optional<uint32_t> WholeNumberIn(const char* variable) {
  return ParseNumber<uint32_t>(Environment(variable));
}

// How schedulers number the tasks of one program: its number and how many there are. Where a number
// does not begin with 0, `first` tells with what.
struct Numbering {
  const char* number;
  const char* count;
  const char* first = nullptr;
};

std::optional<shards::Share> ShareBy(const Numbering& numbering) {
  const auto number = WholeNumberIn(numbering.number), count = WholeNumberIn(numbering.count);
  const uint32_t first =
      numbering.first == nullptr ? 0 : WholeNumberIn(numbering.first).value_or(0);
  if (!number || !count || *count > shards::kMostShares) return std::nullopt;
  if (*number < first || *number - first >= *count) return std::nullopt;
  return shards::Share{.number = *number - first, .of = *count};
}

constexpr Numbering kArray = {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT",
                              "SLURM_ARRAY_TASK_MIN"};
constexpr Numbering kOpenMpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"};
constexpr Numbering kPmi = {"PMI_RANK", "PMI_SIZE"};
constexpr Numbering kStep = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"};
constexpr Numbering kSlurm = {"SLURM_PROCID", "SLURM_NTASKS"};
constexpr Numbering kKubernetes = {"JOB_COMPLETION_INDEX", "DEBRIEF_SHARDS"};

// Slurm numbers what it starts itself from the end: batch scripts, shells of salloc, the step that
// holds an allocation.
constexpr uint32_t kFirstOwnStep = 0xfffffff0;

bool IsInStep() {
  const auto step = WholeNumberIn("SLURM_STEP_ID");
  return step && *step < kFirstOwnStep;
}

std::string SlurmRun() {
  if (!IsInStep()) return "";
  return fmt::format("slurm {}.{}.{}", Environment("SLURM_JOB_ID"), Environment("SLURM_STEP_ID"),
                     Environment("SLURM_RESTART_COUNT"));
}

std::string MpiRun() {
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID"}) {
    if (std::string run = Environment(name); !run.empty()) return "mpi " + run;
  }
  return SlurmRun();
}

}  // namespace

std::optional<shards::Share> ShareFromEnvironment() {
  for (const Numbering& numbering : {kArray, kOpenMpi, kPmi, kStep, kSlurm, kKubernetes}) {
    if (auto share = ShareBy(numbering)) return share;
  }
  return std::nullopt;
}

std::optional<Task> TaskFromEnvironment() {
  if (isatty(STDIN_FILENO) != 0) return std::nullopt;
  // mpirun may have been started by srun, which then tells of mpirun's own helpers.
  Task task;
  std::optional<shards::Share> share = ShareBy(kOpenMpi);
  if (!share) share = ShareBy(kPmi);
  if (share) {
    task.run = MpiRun();
  } else if (IsInStep()) {
    share = ShareBy(kStep);
    if (!share) share = ShareBy(kSlurm);
    task.run = SlurmRun();
  }
  if (!share || share->of < 2) return std::nullopt;
  task.share = *share;
  return task;
}

std::string MachineName() {
  if (std::string node = Environment("SLURMD_NODENAME"); !node.empty()) return node;
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

}  // namespace debrief

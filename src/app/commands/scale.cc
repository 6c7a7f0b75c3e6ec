// debrief scale --slurm|--array|--mpi|--k8s JOB: prints the script that maps and reduces there.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "app/commands/commands.h"
#include "app/shell_word.h"
#include "app/terminal.h"

namespace debrief {

namespace {

// In all of them: {0} tasks, {1} job, {2} folder of the shards, {3} report.
constexpr std::string_view kSlurm = R"(#!/bin/bash
#SBATCH --job-name=debrief
#SBATCH --ntasks={0}
#SBATCH --cpus-per-task=2
# Every task reads its share; a task that fails costs its share alone.
srun --kill-on-bad-exit=0 --no-kill debrief map {1} -o {2}/ --jobs "$SLURM_CPUS_PER_TASK"
debrief reduce {2} -o {3}
)";

constexpr std::string_view kArray = R"(#!/bin/bash
# Submits an array that maps, and a job that reduces once all of it has ended, well or not.
set -e
array=$(sbatch --parsable --job-name=debrief-map --array=0-{4} --cpus-per-task=2 <<'END'
#!/bin/bash
debrief map {1} -o {2}/ --jobs 2
END
)
sbatch --job-name=debrief-reduce --dependency=afterany:"$array" --cpus-per-task=4 <<'END'
#!/bin/bash
debrief reduce {2} -o {3}
END
)";

constexpr std::string_view kMpi = R"(#!/bin/bash
# Every process reads its share; mpirun gives each its number.
mpirun -n {0} debrief map {1} -o {2}/ --jobs 1
debrief reduce {2} -o {3}
)";

constexpr std::string_view kKubernetes =
    R"(# kubectl apply -f -; IMAGE has debrief, and CLAIM is the volume with the job, mounted at /data.
apiVersion: batch/v1
kind: Job
metadata: {{name: debrief-map}}
spec:
  completions: {0}
  parallelism: {0}
  completionMode: Indexed
  backoffLimit: {0}
  template:
    spec:
      restartPolicy: OnFailure
      containers:
      - name: map
        image: IMAGE
        command: [debrief, map, "{1}", -o, "{2}/"]
        env: [{{name: DEBRIEF_SHARDS, value: "{0}"}}]
        volumeMounts: [{{name: data, mountPath: /data}}]
      volumes: [{{name: data, persistentVolumeClaim: {{claimName: CLAIM}}}}]
---
# Apply this one when the first has completed: kubectl wait --for=condition=complete job/debrief-map
apiVersion: batch/v1
kind: Job
metadata: {{name: debrief-reduce}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: reduce
        image: IMAGE
        command: [debrief, reduce, "{2}", -o, "{3}"]
        volumeMounts: [{{name: data, mountPath: /data}}]
      volumes: [{{name: data, persistentVolumeClaim: {{claimName: CLAIM}}}}]
)";

}  // namespace

int RunScale(const ScaleOptions& options) {
  const std::string_view script = options.slurm   ? kSlurm
                                  : options.array ? kArray
                                  : options.mpi   ? kMpi
                                                  : kKubernetes;
  const auto word = [&](const std::string& text) { return options.k8s ? text : ShellWord(text); };
  const std::string text =
      fmt::format(fmt::runtime(script), options.tasks, word(options.job),
                  word(options.output + "_shards"), word(options.output), options.tasks - 1);
  StdoutSink().Write(text);
  return 0;
}

}  // namespace debrief

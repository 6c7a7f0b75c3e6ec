// What launchers put before the lines of their processes, taken off from the left:
//
//   [default3]:[rank11]:[E1115 02:42:35.285 ...   torchrun --tee: local rank 3, rank 11
//   [rank3]: ValueError: bad batch                 PyTorch's own mark: rank 3
//    3: text          [3] text                     srun --label, mpiexec -l, where most lines have
//    it
//   [1,3]<stderr>:text                             mpirun --tag-output
//   [1,mpirank:3,algo-2]<stderr>:text              SageMaker's
//   [pod/job-worker-1/pytorch] text                kubectl logs --prefix
//   2026-11-15T23:22:09.123456789Z stderr F text   a container's log on its node
//   Nov 15 23:22:09 gpu07 trainer-rank3[4711]: text    syslog and journalctl
//   worker-0: text                                 pdsh, where most lines have it
//   vllm-1  | text                                 docker compose, where most lines have it
//   [2026-11-15 23:22:09] text                     ts, terminals (line_starts.h)
//   (RayTrainWorker pid=75298, ip=10.0.0.2) text   Ray
//   [RANK 3] text                                  loggers of accelerate and others
//   (Worker_TP1 pid=77) ERROR 11-10 12:30:57 [core.py:710] text    vLLM, and SGLang's
//   (engine_marks.h)
//   18:19:06.687 text, stderr: text, > text         whatever stands before all lines
//   (foreign_heads.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "torch/engine_marks.h"
#include "torch/glog_time.h"

namespace debrief {

// Marks that are marks only where most lines of a text have them.
enum class LineLabels : uint8_t {
  kNone,
  kColon,    // " 3: text"; of a heterogeneous job "P0 3: text"
  kBracket,  // "[3] text", "[3]: text"
};

struct PrefixStyle {
  LineLabels labels = LineLabels::kNone;
  bool label_is_node = false;  // srun --label torchrun: a task is a node and not a rank
  bool hosts = false;          // "worker-0: text", "vllm-1  | text"
  bool tee_says_rank = false;  // torchrun --role rank --tee: the outer [rank3]: is a local rank
  bool rank_heads = false;     // a logger puts the rank into the head of each line (rank_heads.h)
  bool stamps = false;         // "[2026-11-15 23:22:09] text": times that no process put there
  bool wrapped = false;        // lines are records of a log service: UnwrapLine() before all else
  std::vector<std::string> heads = {};  // forms of what else stands before lines (foreign_heads.h)
};

// The style of a text by its first lines. Numbers that only ever grow are line numbers and not
// labels.
PrefixStyle DetectPrefixStyle(std::string_view head);

// The same for the last lines of a text, where its errors are: heads that its first lines did not
// show.
void DetectPrefixesOfEnd(std::string_view tail, PrefixStyle& style);

struct PeeledLine {
  std::string_view text;  // what is left
  int32_t rank = kNone32;
  int32_t local_rank = kNone32;
  int64_t pid = kNone64;
  std::string_view host;  // or pod, or address; as the mark spells it
  int64_t time_ns = kNone64;
  bool is_error = false;           // the head of its logger says so
  bool raised = false;             // "[rank3]: " with a blank: an exception that nobody caught
  EnginePlace engine;              // of a serving engine's process
  std::optional<GlogTime> logged;  // when its logger wrote the line, where each line has a head
  std::optional<GlogTime> kept;    // when the host's log got the line
};

// Five characters that Kubernetes puts behind the names of pods: "job-worker-2-xk2lp".
bool IsPodSuffix(std::string_view text);

// Takes "Nov 15 23:22:09 gpu07 trainer-rank3[4711]: " off: host, pid, time, and the rank where the
// name of the program has one. What systemd and the kernel say stays as it is.
bool TakeSyslogMark(PeeledLine& line);

PeeledLine PeelPrefixes(std::string_view line, const PrefixStyle& style);

}  // namespace debrief

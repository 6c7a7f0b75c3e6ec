// Who wrote a text, as its first and last lines tell: ranks, process, host, times. What happened is
// the importer's business; this only helps to find the job, attempt and rank of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

struct TextClues {
  std::vector<int32_t> ranks;   // global ranks that lines name, ascending: [rank3]:, GLOBAL_RANK: 3
  int32_t said_rank = kNone32;  // the only one that a program's own lines name: "rank 3 done"
  int32_t connected_rank = kNone32;  // as gloo names the process in the largest group
  bool several = false;              // lines of more than one rank
  bool is_labelled = false;          // by a launcher, which put several processes into one text
  bool is_launcher = false;          // lines of torchrun, srun, mpirun, ...
  int32_t launched_rank = kNone32;   // the only process of that launcher, as in a pod of one GPU
  bool is_pods = false;              // what Kubernetes says of pods, as YAML
  bool is_pasted = false;            // outputs of ranks between the fences of a note
  bool is_output = false;            // anything that only a program's output has
  int32_t world_size = kNone32;      // largest communicator
  int32_t first_rank = kNone32;      // of a launcher: the lowest rank of its node
  int64_t pid = kNone64;             // the only process of NCCL's lines
  std::string host = {};             // its host
  int64_t start_ns = kNone64;        // first and last time of a line, local time taken as UTC
  int64_t end_ns = kNone64;
  std::vector<int64_t> restarts;  // when an attempt had failed after which another one came
  std::vector<std::pair<int64_t, int32_t>> processes;  // pid and rank, as the text names them

  // The one rank whose output it is; none when there are several or nothing tells.
  int32_t OnlyRank() const;
};

// `tail` is empty when `head` is all. `now_ns` gives times their year.
TextClues CluesOfText(std::string_view head, std::string_view tail, int64_t now_ns);

}  // namespace debrief

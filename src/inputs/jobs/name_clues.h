// What names of files and folders tell: rank, host, attempt. People and launchers write them in
// many ways; docs/formats/names.md lists the forms. A name is a hint: what the bytes tell decides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

struct NameClues {
  int32_t rank = kNone32;
  std::string host = {};
  int32_t local_rank = kNone32;
  int32_t attempt = kNone32;
  int64_t pid = kNone64;
};

// dedicated_log_torch_trace_rank_3_x.log, stdout_rank3.txt, nemo_log_globalrank-3_localrank-1.txt
// nccl_trace_rank_container-node02_5, node02_4711.1700000000000.pt.trace.json     rank or host
// stdout_rank3_attempt1.log, train_restart2.out, job_cycle3.log                   attempt
// worker-<56 hex digits>-01000000-4711.out                                        pid (Ray)
NameClues CluesOfFile(std::string_view name);

enum class FolderRole : uint8_t {
  kPlain,
  kData,       // named after what is in it (torch_trace, logs, profiles)
  kRank,       // rank_3, rank.03
  kLocalRank,  // local_rank_3, or a bare number below attempt_0 as torchrun makes it
  kAttempt,    // attempt_0
  kNode,       // node_rank_1
};

struct FolderClues {
  FolderRole role = FolderRole::kPlain;
  int32_t number = kNone32;  // of the rank, the attempt or the node
};

// `parent` is the name of the folder above.
FolderClues CluesOfFolder(std::string_view name, std::string_view parent);

// All numbers that fit, in order: 4711 and 3 of "llm_4711_3.out".
std::vector<int64_t> NumbersIn(std::string_view name);

// "node01" and "node02" have the same pattern "node#".
std::string NumberPattern(std::string_view name);

// Named as output of a job is: train.log, slurm-123.out, stderr, console.txt, dmesg.
bool IsNamedAsOutput(std::string_view name);

// Named as machines and pods are: node01, ip-10-0-3-7, 10.0.0.3, gpu-a100-07.cluster.local, hostA.
bool IsNamedAsHost(std::string_view name);

// Written by people or programs for people, and no output of a rank: README.md, train.py.
bool IsNamedAsDocument(std::string_view name);

// The name as it would be in a job that never restarted: rank3.log of rank3_attempt1.log and of
// rank3.previous.log.
std::string WithoutAttempt(std::string_view name);

bool AllDigits(std::string_view text);  // not of an empty one

// The last part of a path, and what is before it: "c" and "a/b" of "a/b/c".
std::string_view LastPart(std::string_view folder);
std::string_view ParentPart(std::string_view folder);

}  // namespace debrief

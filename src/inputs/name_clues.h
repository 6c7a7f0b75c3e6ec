// What names of files and folders tell: rank, host, attempt. People and launchers write them in
// many ways; docs/formats/names.md lists the forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief {

struct NameClues {
  int32_t rank = kNone32;
  std::string host;
};

// dedicated_log_torch_trace_rank_3_x.log, stdout_rank3.txt, rank-0.Apr_03.pt.trace.json  -> rank
// nccl_trace_rank_container-node02_5                                                      -> rank,
// host node02_4711.1700000000000.pt.trace.json (TensorBoard's <host>_<pid>.<time>)             ->
// host
NameClues CluesOfFile(std::string_view name);

enum class FolderRole : uint8_t {
  kPlain,
  kData,     // named after what is in it (torch_trace, logs, profiles): part of the job above it
  kRank,     // rank_3, or a bare number below attempt_0 as torchrun makes it
  kAttempt,  // attempt_0
};

struct FolderClues {
  FolderRole role = FolderRole::kPlain;
  int32_t number = kNone32;  // of the rank or the attempt
};

// `parent` is the name of the folder above.
FolderClues CluesOfFolder(std::string_view name, std::string_view parent);

// "node01" and "node02" have the same pattern "node#".
std::string NumberPattern(std::string_view name);

}  // namespace debrief

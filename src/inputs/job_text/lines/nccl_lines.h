// What NCCL_DEBUG=INFO prints about connections and settings:
//
//   n1:1111:1111 [0] NCCL INFO Channel 01/0 : 3[0] -> 4[0] [send] via NET/IB/0/GDRDMA
//   n1:1111:1111 [0] NCCL INFO Channel 00/02 : 0 1 2 3                    a ring
//   n1:1111:1111 [0] NCCL INFO Trees [0] -1/-1/-1->3->2 [1] 5/1/-1->3->7
//   n1:1111:1111 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.
//   n1:1111:1111 [0] NCCL INFO Using network Socket
//
// RCCL prints the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct NcclLine {
  enum class Kind : uint8_t { kLink, kRing, kTrees, kSetting };

  Kind kind = Kind::kLink;
  std::string_view host;
  int64_t pid = kNone64;
  int64_t thread = kNone64;
  // of a link and a ring
  int32_t channel = kNone32;
  int32_t from = kNone32, to = kNone32;  // ranks of the communicator
  bool receives = false;                 // the process is the receiver
  std::string_view via;                  // NET/IB/0/GDRDMA
  // of a setting: name and value; of rings and trees the value is the text behind
  std::string_view name, value;
};

// Tells fast that a line is none.
bool MayBeNcclLine(std::string_view text);
std::optional<NcclLine> ParseNcclLine(std::string_view text);

// "host:pid:tid [dev] NCCL INFO ", of any line of NCCL: the process and its thread.
bool ParseNcclSpeaker(std::string_view text, NcclLine& line);

}  // namespace debrief::inputs::job_text

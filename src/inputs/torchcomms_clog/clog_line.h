// One line of a clog of torchcomms, taken apart.
//
//   new_comm|comm=world|rank=0|world_size=8
//   split|parent=world|child=dp_0|ranks=0,2
//   C7|sig|all_reduce|in_count=8|out_count=8|dtype=f32|red_op=sum|async_op=t|comm=world
//   C7|Q|work_id=12|+3.201           asked for; S started, E ended, W waited for by the host
//   G42|C7|Q|work_id=4|+1.000        while a CUDA graph is captured
//   G42|R2|C7|E|+3.004               in its second replay
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief::inputs::torchcomms_clog {

enum class LineKind : uint8_t {
  kOther,
  kHead,       // V|1|base_timestamp=1714234567.890
  kComm,       // new_comm
  kSplit,      // split
  kSignature,  // sig
  kEnqueue,    // Q
  kStart,      // S
  kEnd,        // E
  kWait,       // W
  kReplay,     // any event of a replayed graph
  kWarning,    // WARN
};

struct ClogLine {
  LineKind kind = LineKind::kOther;
  int64_t signature = -1;    // 7 of C7
  int64_t graph = -1;        // 42 of G42
  int64_t after_ms = 0;      // of an event: since the time in the head
  int64_t head_ms = 0;       // of the head: since 1970
  std::string_view version;  // of the head
  std::string_view op;       // of a signature
  std::vector<std::pair<std::string_view, std::string_view>> fields;  // name and value

  // The value of a field; empty when there is none.
  std::string_view Get(std::string_view name) const;
};

// Views into `line`. A line that is cut or of another form has kind kOther.
ClogLine ParseLine(std::string_view line);

// "1714234567.890" in milliseconds.
std::optional<int64_t> MillisOf(std::string_view seconds);

// "4,4" as PyTorch prints shapes: [[4], [4]]; "[]" for nothing.
std::string ShapesOf(std::string_view counts);

// The sum of "4,4": 8. None when it is no list of numbers.
std::optional<int64_t> SumOf(std::string_view counts);

// "f32" as PyTorch calls it: Float.
std::string_view DtypeOf(std::string_view name);

}  // namespace debrief::inputs::torchcomms_clog

// One event of tritonparse: a line of JSON.
//
//   {"event_type": "compilation", "pid": 7, "stack": [...], "timestamp": "2025-07-07T19:58:27.%fZ",
//    "payload": {"metadata": {"hash": "3b8...", "name": "add_kernel", "num_warps": 4, "shared": 0,
//                             "target": {"backend": "cuda", "arch": 90}, "cache_hit": false, ...},
//                "pt_info": {"frame_id": 0, "frame_compile_id": 1},
//                "python_source": {"file_path": "k.py", "start_line": 12, ...},
//                "file_content": {"add_kernel.ttir": "...", ...}}}
//   {"event_type": "launch", "name": "add_kernel", "grid": [128, 1, 1],
//    "compilation_metadata": {"hash": "3b8...", ...}, "extracted_args": {...}}
//   {"event_type": "autotune", "kernel_name": "mm", "best_config": "...", "duration": 0.8, ...}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/cursor.h"
#include "model/model.h"
#include "tables/triton_kernel.h"
#include "tables/triton_tuning.h"

namespace debrief::inputs::tritonparse {

enum class EventKind : uint8_t { kOther, kCompilation, kLaunch, kTuning };

struct Event {
  EventKind kind = EventKind::kOther;
  TritonKernelRow kernel;
  TritonTuningRow tuning;
  std::string launched;       // name of a launched kernel
  std::string launched_hash;  // "" when not told
  std::string grid;
};

// Texts go into the pools of `part`. A Status when the line is no JSON object.
Result<Event> ReadEvent(JsonReader& reader, std::string_view line, Part& part);

// "2025-07-07T19:58:27.%fZ" in nanoseconds; none when it is no time.
int64_t TimeOf(std::string_view timestamp);

}  // namespace debrief::inputs::tritonparse

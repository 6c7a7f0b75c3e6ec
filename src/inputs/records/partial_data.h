// The head of a file of torch.distributed.debug for which not all ranks answered (PyTorch 2.12 and
// later). All kinds of its files may have one.
//
//   PARTIAL DATA: 6/8 workers responded
//     Rank 2: timed out after 10.0 s
//     Rank 5: connection refused
#pragma once

#include <cstdint>
#include <string_view>

#include "model/model.h"

namespace debrief::inputs {

class PartialData {
 public:
  PartialData(const Identity& who, int64_t time_ns) : who_(who), time_ns_(time_ns) {}

  static bool IsHead(std::string_view line) { return line.starts_with("PARTIAL DATA: "); }

  // True for a line of the head; ranks that it names become rows of debug_no_answer.
  bool Add(std::string_view line, int64_t number, Part& part);

 private:
  Identity who_;
  int64_t time_ns_;
  bool open_ = false;
};

}  // namespace debrief::inputs

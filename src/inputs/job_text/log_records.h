// Records of TORCH_LOGS -> rows of torch_log. Whose they are is known at the end of the text only,
// as for events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "tables/torch_log.h"

namespace debrief::inputs::job_text {

// How much of a record is kept, by its artifact: all of what is read for what it says (reasons of
// recompilations and of graph breaks, exceptions that were suppressed), the beginning of graphs and
// code.
size_t LongestRecord(std::string_view artifact, std::string_view text);

class LogRecords {
 public:
  explicit LogRecords(const Identity& who) : who_(who) {}

  // `text`: the first line with its head, then the messages of the others, a line each.
  void Add(std::string_view text, int64_t line, int64_t lines, uint32_t stream, int64_t now_ns,
           Pools& pools);

  bool empty() const { return records_.empty(); }
  int64_t dropped() const { return dropped_; }

  // `rank_of` a stream, `attempt_of` a line.
  void Write(const std::function<int32_t(uint32_t)>& rank_of,
             const std::function<int32_t(int64_t)>& attempt_of, Part& part);

 private:
  struct Record {
    TorchLogRow row;
    uint32_t stream = 0;
  };

  Identity who_;
  std::vector<Record> records_;
  size_t bytes_ = 0;  // of texts
  int64_t dropped_ = 0;
};

}  // namespace debrief::inputs::job_text

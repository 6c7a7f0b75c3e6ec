// One timeline of the model -> events of the Trace Event Format.
//
//   M   names of processes and threads
//   X   slices; b and e those of asynchronous chains
//   i   instants and changes of memory
//   C   counters
//   s t f   arrows: those of table timeline_flow, and from launches to their work (ac2g)
//
// Args have the names that PyTorch's profiler gives them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/bytes/output_file.h"
#include "outputs/timeline_merge.h"

namespace debrief::outputs::chrome {

// Writes elements of an array into a file.
class EventFile {
 public:
  explicit EventFile(OutputFile& file) : file_(file) {}

  // The text of the next event, to append to.
  std::string& Begin() {
    text_ = is_first_ ? "\n" : ",\n";
    is_first_ = false;
    return text_;
  }
  Status End() { return file_.Append(text_); }

 private:
  OutputFile& file_;
  std::string text_;
  bool is_first_ = true;
};

// Numbers for pids and tids, some of which are texts: viewers want numbers. A text that is a number
// keeps it where no other has it.
class NumberGiver {
 public:
  int64_t NumberFor(std::string_view text);

 private:
  std::unordered_set<int64_t> taken_;
  int64_t next_ = 1'000'000;
};

// All must outlive the call. `base_ns` is taken off all times.
Status WriteTimelineEvents(const MergedTimeline& merged, int64_t base_ns, NumberGiver& pids,
                           EventFile& file);

}  // namespace debrief::outputs::chrome

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

class TimelineEvents {
 public:
  // All must outlive it. `base_ns` is taken off all times.
  TimelineEvents(const MergedTimeline& merged, int64_t base_ns, NumberGiver& pids, EventFile& file);

  Status Write();

 private:
  void NumberTracks(NumberGiver& pids);
  Status WriteNames();
  Status WriteName(std::string_view what, std::string_view key, int64_t pid, int64_t tid,
                   std::string_view value);
  Status WriteOrder(std::string_view what, int64_t pid, int64_t tid, int32_t value);
  Status WriteSlices();
  Status WriteSlice(int32_t slice, size_t track_row);
  Status WriteAsync(int32_t slice, size_t track_row);
  Status WriteLaunchArrow(int32_t slice, size_t track_row);
  Status WriteMemory();
  Status WriteCounters();
  Status WriteFlows();

  std::string& Begin(char phase, size_t track_row, int64_t time);
  void AppendArgs(int32_t slice, std::string& out);
  template <typename Table>
  void AppendColumns(const Table& table, size_t row, std::string& out);
  void AppendColumn(std::string_view key, int64_t value, std::string& out);
  void AppendColumn(std::string_view key, int32_t value, std::string& out);
  void AppendColumn(std::string_view key, double value, std::string& out);
  void AppendColumn(std::string_view key, StringId value, std::string& out);
  void AppendColumn(std::string_view key, ListId value, std::string& out);
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }
  void FindLaunched();

  const MergedTimeline& merged_;
  const timeline::TimelineView& view_;
  const Model& model_;
  int64_t base_ns_;
  EventFile& file_;
  std::vector<int64_t> pids_, tids_;                  // by process and by track
  std::unordered_set<int64_t> launched_, launching_;  // correlations of work and of launches
  size_t next_work_, next_op_, next_collective_;
};

}  // namespace debrief::outputs::chrome

// Which rank, process and thread the events of one file belong to.
//
// Flex writes the rank as pid: `distributedInfo.rank`, or the pid of each event, is its rank. (The
// reference takes the pid of the first event for the whole file.) A profiler of PyTorch writes the
// operating system's pids and the device's index: they stay, unless a file of another rank uses the
// same ones. A trace in which several ranks were merged says in the names of its processes ("rank
// 3: python") whose they are.
//
// A pid or tid that is text becomes a number that is not used otherwise; the text is kept in
// `opid`, `otid`.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "accel/ingest/metadata.h"
#include "accel/ingest/read_trace.h"

namespace debrief::accel {

class RankRules {
 public:
  explicit RankRules(Run& run) : run_(run) {}

  // To all events of a file; `job` is its index. What cannot be placed is left out.
  void Apply(TraceFile& file, const FileFacts& facts, uint32_t job);

  // The rank of the file that was seen last.
  int64_t rank() const { return rank_; }

 private:
  void ApplyFlex(Event& event);
  void ApplyTorch(Event& event);
  void PlaceTorchPids(const TraceFile& file);
  void ReadMergedRanks(const TraceFile& file);
  void FixFlexRank(const TraceFile& file);
  Value NumberOf(const Value& text);
  void MakeNumeric(Event& event);

  Run& run_;
  FileFacts facts_;
  int64_t rank_ = 0;
  bool rank_is_fixed_ = false;  // of a Flex file: every event has rank_
  int64_t files_ = 0;
  std::unordered_map<Value, int64_t, ValueHash> numbers_;      // of texts
  std::unordered_map<Value, int64_t, ValueHash> pid_owner_;    // the file a pid belongs to
  std::unordered_map<Value, Value, ValueHash> moved_pids_;     // of the current file
  std::unordered_map<Value, int64_t, ValueHash> rank_of_pid_;  // of the current file, where merged
};

}  // namespace debrief::accel

// Joins the ranges of a log in order: what one range cannot know.
//
//   string table   {"str": ["train.py", 1]} has no rank; it belongs to the process that logged it.
//                  A thread belongs to the rank that its entries name.
//   ranks          entries without a rank get that of their thread
//   lives          a process that starts anew numbers its strings anew: an index that comes twice
//                  begins a new life
//   lines, clock   counted from the beginning; year and zone from the first chromium event
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "inputs/importer.h"
#include "inputs/torch_trace/entry.h"
#include "inputs/torch_trace/repair.h"

namespace debrief::inputs::torch_trace {

class LogJoiner {
 public:
  // `is_marked`: a mark before each line says whose it is, so nothing is tangled.
  void Begin(const LogIdentity& log, bool is_marked) {
    log_ = log, who_ = log.who, is_marked_ = is_marked;
  }

  void Join(Part&& part, Part& whole);
  // Ranks that wrote into one log at once are taken apart: `source` is read again for that.
  Status Finish(const Source& source, Part& whole);

 private:
  // One process as far as the log tells: a rank, or all that has no rank.
  struct Lane {
    std::vector<StringId> strings;  // by index; of the present life
    int32_t life = 0;
    std::map<int64_t, size_t> first_of_thread;  // first row of each thread in the present life
  };

  Lane& LaneOf(int32_t rank) { return lanes_[rank]; }
  int32_t RankOf(int64_t thread) const;
  // The rank that the entry names, else that of its thread.
  int32_t RankOf(const CompileEntryTable& entries, size_t row) const;
  void TakeRow(size_t row, Part& whole);
  void TakeString(const LoggedString& string, size_t first_row, size_t first_string, Part& whole);
  void TakeStack(const LoggedStack& stack, const RangeNotes& notes, size_t first_row, Part& whole);
  StringId FileOf(const LoggedFrame& frame, int32_t rank, Part& whole);
  void BeginLife(int32_t rank, int64_t thread, size_t row, Part& whole);
  void Count(const RangeNotes& notes);
  void RankEarlyRows(Part& whole);
  Status Repair(const Source& source, Part& whole);
  void ReportTroubles(Part& whole);
  std::vector<int64_t> Ranks() const;
  void SetClock(Part& whole);
  void AddLog(Part& whole);

  LogIdentity log_;
  Identity who_;
  bool is_marked_ = false;
  std::map<int32_t, Lane> lanes_;  // by rank; kNone32: entries without one
  std::map<int64_t, int32_t> rank_of_thread_;
  RangeNotes totals_;  // sums of all ranges
  // Rows whose thread had not named its rank yet, with the thread.
  std::vector<std::pair<size_t, int64_t>> early_entries_, early_strings_;
  Diagnostics index_troubles_;  // behind those of all ranges, however these were cut
  Repaired repaired_;
  std::vector<FrameId> frames_;  // scratch
};

}  // namespace debrief::inputs::torch_trace

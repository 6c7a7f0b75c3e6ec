// Which rank a local rank, a process or a task is, as one text tells it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/pools/ids.h"
#include "inputs/job_text/line_scanner.h"

namespace debrief::inputs::job_text {

class RankMap {
 public:
  // A line with both marks, or an entry of torchrun's list, says so. Two hosts in one text that
  // carry no mark of their host contradict each other; then nothing is known.
  void Learn(uint32_t host, int32_t local_rank, int32_t rank);
  void LearnProcess(int64_t pid, int32_t rank);
  // A line with the mark of a host and of a rank. Where every host has one rank alone, lines that
  // have only the mark of the host are of that rank: a pod a rank.
  void LearnHost(uint32_t host, int32_t rank);
  // A serving engine's worker, by its place.
  void LearnEngine(uint32_t engine, int32_t rank) { by_engine_[engine] = rank; }

  // `rank_of_text` is that of the whole text, if it has one.
  int32_t RankOf(const Owner& owner, int32_t rank_of_text) const;
  int32_t RankOfProcess(int64_t pid) const;
  int32_t RankOfHost(uint32_t host) const;

 private:
  int32_t RankOfLocal(uint32_t host, int32_t local_rank, int32_t rank_of_text) const;

  std::map<std::pair<uint32_t, int32_t>, int32_t> by_local_;
  std::map<uint32_t, int32_t> first_rank_;  // of a host; kNone32 where lines contradict each other
  std::map<int64_t, int32_t> by_pid_;
  std::map<uint32_t, int32_t> by_host_;
  std::map<uint32_t, int32_t> by_engine_;
};

}  // namespace debrief::inputs::job_text

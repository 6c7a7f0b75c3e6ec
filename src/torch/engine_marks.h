// What the serving engines vLLM and SGLang put before their lines: who speaks, and when.
//
//   (EngineCore_DP0 pid=413) ERROR 11-10 12:30:57 [core.py:710] text       vLLM, one head a line
//   (Worker_DP1_TP0_EP8 pid=2646) text   (APIServer pid=1) text
//   INFO 05-12 12:11:25 metrics.py:334] text                               vLLM before 0.8
//   [2026-09-17 11:37:00 DP1 TP3 EP3] text                                 SGLang, one a record
//
// A mark tells the place of a worker in its groups and not its rank; with the places of all workers
// of a text the rank follows (RankOfWorker).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "torch/glog_time.h"

namespace debrief {

enum class EngineRole : uint8_t { kNone, kFrontEnd, kCore, kWorker };

struct EnginePlace {
  EngineRole role = EngineRole::kNone;
  int32_t data = kNone32;      // DP
  int32_t pipeline = kNone32;  // PP
  int32_t tensor = kNone32;    // TP

  // One number, 0 for nobody; places above 1022 are not told.
  uint32_t Pack() const;
  static EnginePlace Unpack(uint32_t packed);
};

// "Worker_DP1_TP0_EP8", "EngineCore_DP0", "APIServer"; of any other process nobody.
EnginePlace ParseEngineProcess(std::string_view name);

// "[2026-09-17 11:37:00 DP1 TP3 EP3] " at the start of `text`.
struct EngineTag {
  EnginePlace place;
  int64_t time_ns = kNone64;
  size_t size = 0;  // bytes, with the blank behind it
};
std::optional<EngineTag> ParseEngineTag(std::string_view text);

// "ERROR 11-10 12:30:57 [core.py:710] " at the start of `text`.
struct EngineHead {
  GlogTime time;
  size_t size = 0;
};
std::optional<EngineHead> ParseEngineHead(std::string_view text);

// The rank of a worker among all of its text. vLLM counts TP inside of PP inside of DP. Where each
// TP number occurs with one DP number alone, TP counts all ranks (SGLang with DP attention).
class WorkerRanks {
 public:
  void Add(const EnginePlace& place);
  bool empty() const { return places_.empty(); }
  int32_t RankOf(const EnginePlace& place) const;
  // The worker that the engine of data-parallel rank `data` counts as `index`.
  int32_t RankOfIndex(int32_t data, int32_t index) const;

 private:
  bool TensorCountsAll() const;
  int32_t WorldOfOne() const { return tensors_ * pipelines_; }

  std::vector<EnginePlace> places_;
  int32_t tensors_ = 1;
  int32_t pipelines_ = 1;
};

}  // namespace debrief

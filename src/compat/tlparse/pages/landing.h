// index.html above the trees of several ranks: where they differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debrief::outputs::tlparse_tree {

struct LandingRank {
  int32_t rank = 0;
  std::string folder;  // "rank_0"
  int64_t compilations = 0;
  int64_t failed = 0;
  int64_t restarted = 0;
  int64_t files = 0;
};

// Ranks that agree with each other; the groups differ.
using RankGroups = std::vector<std::vector<int32_t>>;

// One graph on the rank that takes least and the one that takes most.
struct RuntimeDelta {
  std::string graph;
  double delta_ms = 0;
  int32_t fastest = 0;
  double fastest_ms = 0;
  int32_t slowest = 0;
  double slowest_ms = 0;
};

enum class OrderResult : uint8_t { kUnavailable, kDiffers, kConsistent };

struct LandingData {
  std::string custom_header_html;
  std::vector<LandingRank> ranks;
  bool has_chromium = false;  // chromium_events.json
  bool has_runtime = false;   // chromium_trace_with_runtime.json, runtime_estimations.json
  // Groups of ranks; fewer than two: no divergence.
  RankGroups compile_ids;
  RankGroups cache;
  RankGroups collectives;
  RankGroups tensor_meta;
  // With has_runtime only.
  bool runtime_comparable = false;  // ranks have the same graphs
  std::vector<RuntimeDelta> runtime;
  OrderResult order = OrderResult::kUnavailable;
  std::vector<int32_t> schedule_mismatch;  // ranks
  std::vector<int32_t> cache_mismatch;
};

std::string LandingPage(const LandingData& data);

}  // namespace debrief::outputs::tlparse_tree

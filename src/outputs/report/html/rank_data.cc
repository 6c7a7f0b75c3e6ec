#include "outputs/report/html/rank_data.h"

#include "outputs/report/html/table_shares.h"

namespace debrief::outputs::html {

namespace {

// At most 6 MB, packed a tenth of that.
constexpr Share kRankShares[] = {
    {"compile_rank_time", 5000, 1'000'000},
    {"compile_rank_check", 500, 100'000},
    {"compile_divergence", 1000, 400'000},
    {"compile_first_difference", 1000, 200'000},
    {"compile_rank_only", 1000, 400'000},
    {"compile_overlap", 64, 200'000},
    {"compile_runtime_delta", 1000, 400'000, "delta_ms"},
    {"compile_order", 5000, 800'000},
    {"profile_rank", 5000, 2'000'000},
    {"comm_arrival", 5000, 1'000'000},
};

}  // namespace

std::string RanksJson(const Model& model) { return TablesJson(model, kRankShares); }

Status AddRanks(const Model& model, Islands& islands) {
  const std::string json = RanksJson(model);
  return json.empty() ? Status() : islands.Add("ranks", json);
}

}  // namespace debrief::outputs::html

#include "outputs/report/html/cost_data.h"

#include "outputs/report/html/table_shares.h"

namespace debrief::outputs::html {

namespace {

// At most 4 MB, packed a tenth of that.
constexpr Share kCostShares[] = {
    {"cost_fix", 1000, 600'000, "lost_ns"},
    {"cost_rank", 5000, 1'500'000},
    {"cost_collective", 2000, 800'000, "exposed_ns"},
    {"cost_region", 3000, 1'000'000, "compile_ns"},
};

}  // namespace

std::string CostJson(const Model& model) { return TablesJson(model, kCostShares); }

Status AddCost(const Model& model, Islands& islands) {
  const std::string json = CostJson(model);
  return json.empty() ? Status() : islands.Add("cost", json);
}

}  // namespace debrief::outputs::html

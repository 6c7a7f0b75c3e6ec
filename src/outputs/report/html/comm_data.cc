#include "outputs/report/html/comm_data.h"

#include "outputs/report/html/comm_arrivals.h"
#include "outputs/report/html/comm_waits.h"
#include "outputs/report/html/table_shares.h"
#include "tables/comm_match.h"
#include "tables/profile_collective_match.h"

namespace debrief::outputs::html {

namespace {

// At most 9 MB, most of it lists of members that repeat: packed less than a tenth of that.
constexpr Share kCommShares[] = {
    {"comm_traffic", 2000, 2'000'000},
    {"comm_arrival", 5000, 1'000'000},
    {"profile_arrival", 5000, 3'000'000},
    {"profile_bandwidth", 4000, 3'000'000},
};

}  // namespace

std::string CommJson(const Model& model) { return TablesJson(model, kCommShares); }

Status AddComm(const Model& model, Islands& islands) {
  const bool has_dumps = model.tables.Get<CommMatchTable>().size() > 0;
  const bool has_profiles = model.tables.Get<ProfileCollectiveMatchTable>().size() > 0;
  const std::string tables = CommJson(model);
  if (!tables.empty()) {
    TRY(islands.Add("comm", tables));
  } else if (has_dumps || has_profiles) {
    TRY(islands.Add("comm", R"({"tables": {}})"));  // views of arrivals ask for it
  }
  if (has_dumps) TRY(islands.Add("waits", WaitsJson(model)));
  if (has_dumps || has_profiles) TRY(islands.Add("arrivals", ArrivalsJson(model)));
  return {};
}

}  // namespace debrief::outputs::html

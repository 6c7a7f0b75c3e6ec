// The flat database of `debrief flight -o`: what the dumps hold, as tables whose ids join.
//
//   groups(id, ...)  <- memberships.group_id, collectives.group_id, ncclcalls.group_id,
//   ops.group_id tracebacks(id, frames)  <- collectives, ncclcalls, ops collectives(id, ...)  <-
//   ncclcalls.collective_id, ops.collective_id processes(rank, ...)  <- memberships, ncclcalls,
//   ops, threads
//
// The names are the analyzer's; its own database is a pickle that only PyTorch can read, has no
// tracebacks, and its group ids do not join. Collectives are those of our matching where it ran, of
// the analyzer's with --compat.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outputs/terminal/flight_text/flight_text.h"

namespace debrief::outputs::flight_text {

struct FlatColumn {
  std::string_view name;
  std::string_view sql_type;
};

struct FlatTable {
  std::string_view name;
  std::vector<FlatColumn> columns;
  std::vector<std::string> rows;  // each a JSON object with these columns
};

// kUsage when the model has dumps of several jobs or attempts.
Result<std::vector<FlatTable>> MakeFlatTables(const Model& model, const FlightTextOptions& options,
                                              bool compat);

// {"schema": 1, "groups": [...], ...}, one row a line.
std::string FlatTablesAsJson(const std::vector<FlatTable>& tables);

}  // namespace debrief::outputs::flight_text

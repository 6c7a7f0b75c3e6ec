// Writes tables by their columns, not by their C++ types: an analysis that adds a column needs no
// change here. `total` counts all rows that the share is of; the page tells the reader when it has
// fewer. Rows are taken in the order of the table, or, where a column tells what matters (seconds,
// failures of a guard), largest first. A row is written apart and then taken or not, so that one
// text of 100 MB costs its row and not the page. Cost: one pass over the rows taken; of the tables
// that are ordered one sort of their row numbers.
#include "outputs/report/html/table_islands.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/json/writer.h"
#include "outputs/table_cell.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kLargestRow = 40'000;  // bytes of JSON
constexpr size_t kMostRefused = 100;    // larger ones of a table that are passed over

// ---- which tables an island has. Bounds are on the JSON; packed it is a tenth of that.

// At most 45 MB.
constexpr Share kCompileShares[] = {
    {"compilation", 20000, 12'000'000},
    {"compile_recompile", 20000, 6'000'000},
    {"compile_frame_group", 5000, 2'000'000},
    {"compile_break", 2000, 600'000},
    {"compile_failure", 1000, 400'000},
    {"compile_progress", 5000, 100'000},
    {"compile_blocker", 2000, 200'000},
    {"compile_guard", 2000, 400'000, "failed"},
    {"compile_graph", 20000, 6'000'000},
    {"compile_graph_op", 5000, 300'000},
    {"compile_graph_input", 5000, 400'000},
    {"compile_graph_change", 5000, 300'000},
    {"compile_module", 5000, 300'000},
    {"compile_shape", 2000, 300'000},
    {"compile_phase", 2000, 400'000, "self_ns"},
    {"compile_span", 20000, 6'000'000, "seconds"},
    {"compile_phase_total", 5000, 200'000},
    {"compile_kernel", 2000, 200'000, "seconds"},
    {"compile_autotune", 2000, 200'000},
    {"triton_use", 2000, 300'000, "seconds"},
    {"compile_piece", 2000, 300'000},
    {"compile_cache_use", 20000, 4'000'000},
    {"compile_cache_total", 5000, 100'000},
    {"compile_weight", 2000, 100'000},
    {"compile_overlap", 64, 50'000},
    {"compile_log", 1000, 50'000},
    {"compile_life", 1000, 50'000},
};

// At most 26 MB. Of each table the rows that matter come first: a whole timeline before its steps,
// long before short. Where there are several definitions of a figure the page shows debrief's own;
// the others are for comparing with older numbers, and `debrief profile --definition` has them.
constexpr std::string_view kOwn = "debrief";
constexpr Share kProfileShares[] = {
    {"profile_breakdown", 6000, 3'000'000, "total_ns", kOwn},
    {"profile_step", 6000, 2'000'000},
    {"profile_overlap", 3000, 800'000, "communication_ns", kOwn},
    {"profile_rank", 2000, 1'000'000},
    {"profile_kernel", 8000, 3'000'000, "total_ns", kOwn},
    {"profile_kernel_op", 8000, 2'500'000, "total_ns"},
    {"profile_op", 6000, 1'500'000, "device_total_ns"},
    {"profile_op_shape", 6000, 2'000'000, "device_total_ns"},
    {"profile_roofline", 6000, 2'500'000, "busy_ns", kOwn},
    {"profile_mfu", 2000, 400'000},
    {"profile_module", 4000, 1'000'000, "host_total_ns"},
    {"profile_idle", 3000, 600'000, "idle_ns", kOwn},
    {"profile_gap", 3000, 1'000'000, "duration_ns"},
    {"profile_critical_summary", 3000, 1'500'000, "total_ns", kOwn},
    {"profile_memory_peak", 1000, 400'000, "peak_allocated_bytes"},
    {"profile_memory_curve", 16'000, 4'000'000},
    {"profile_memory_holder", 2000, 500'000, "bytes"},
    {"profile_memory_op", 2000, 500'000, "allocated_bytes"},
    {"memory_use", 500, 300'000, "peak_allocated_bytes"},
    {"memory_timeline", 10'000, 2'500'000},
    {"memory_holder", 1500, 2'000'000, "bytes"},
    {"memory_category", 2000, 300'000, "bytes"},
    {"memory_rank", 1000, 300'000, "excess_bytes"},
};

// Ranks beside each other: at most 6 MB.
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

// Traffic and arrivals: at most 9 MB, most of it lists of members that repeat.
constexpr Share kCommShares[] = {
    {"comm_traffic", 2000, 2'000'000},
    {"comm_arrival", 5000, 1'000'000},
    {"profile_arrival", 5000, 3'000'000},
    {"profile_bandwidth", 4000, 3'000'000},
};

// Lost time: at most 8 MB. A heat map of ranks needs all of them.
constexpr Share kCostShares[] = {
    {"cost_fix", 1000, 600'000, "lost_ns"},
    {"cost_rank", 5000, 1'500'000},
    {"cost_collective", 2000, 800'000, "exposed_ns"},
    {"cost_region", 3000, 1'000'000, "compile_ns"},
    {"what_if_job", 200, 200'000},
    {"what_if_change", 20'000, 4'000'000, "gain_ns"},
};

// What ranks printed: at most 8 MB.
constexpr Share kOutputShares[] = {
    {"text_event", 6000, 4'000'000},
    {"progress", 6000, 1'500'000},
    {"process_exit", 2000, 600'000},
    {"tail_line", 3000, 1'000'000},
};

// Which line of a graph became which line of the code.
constexpr Share kLineMapShares[] = {
    {"provenance_graph", 5000, 1'000'000},
    {"provenance_line", 100'000, 12'000'000},
};

// Views of arrivals ask for "comm" also when none of its tables has rows.
constexpr TableIsland kIslands[] = {
    {"compile", kCompileShares},
    {"profile", kProfileShares, Meanings::kTold},
    {"ranks", kRankShares},
    {"comm", kCommShares, Meanings::kLeftOut, {"comm_match", "profile_collective_match"}},
    {"cost", kCostShares},
    {"provenance", kLineMapShares},
    {"output", kOutputShares},
};

bool HasRows(const Model& model, std::string_view table) {
  return model.tables.FindFilled(table) != nullptr;
}

void KeepDefinition(const Model& model, const Table& table, std::string_view definition,
                    std::vector<size_t>& rows) {
  const std::optional<size_t> column = FindColumn(table.info(), "definition");
  if (definition.empty() || !column) return;
  std::erase_if(rows, [&](size_t row) {
    return ReadCell(model.pools, table, *column, row).text != definition;
  });
}

// Numbers of the rows that a share is of, in the order in which they are taken.
std::vector<size_t> OrderOf(const Model& model, const Table& table, const Share& share) {
  std::vector<size_t> order(table.size());
  std::iota(order.begin(), order.end(), size_t{0});
  KeepDefinition(model, table, share.definition, order);
  const std::optional<size_t> column = FindColumn(table.info(), share.largest);
  if (!column) return order;
  std::vector<double> keys(table.size());
  for (size_t row : order) keys[row] = SortKey(ReadCell(model.pools, table, *column, row));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys[a] > keys[b]; });
  return order;
}

void WriteTable(const Model& model, const Table& table, const Share& share, JsonWriter& json) {
  const std::vector<size_t> order = OrderOf(model, table, share);
  json.Key(share.table).BeginObject().Field("total", order.size()).Key("rows").BeginArray();
  size_t taken = 0;
  size_t refused = 0;
  size_t bytes = 0;
  std::string text;
  for (size_t row : order) {
    if (taken == share.rows) break;
    text.clear();
    JsonWriter one(&text);
    WriteRow(model, table, row, one);
    if (text.size() > kLargestRow && ++refused <= kMostRefused) continue;
    bytes += text.size() + 1;
    if (bytes > share.bytes) break;
    json.Raw(text);
    ++taken;
  }
  json.EndArray().EndObject();
}

void WriteMeanings(const Model& model, std::span<const Share> shares, JsonWriter& json) {
  json.Key("meanings").BeginObject();
  for (const Share& share : shares) {
    const Table* table = model.tables.FindFilled(share.table);
    if (table == nullptr) continue;
    json.Key(share.table).BeginObject();
    for (const ColumnInfo& column : table->info().columns) json.Field(column.name, column.doc);
    json.EndObject();
  }
  json.EndObject();
}

}  // namespace

std::span<const TableIsland> TableIslands() { return kIslands; }

std::string TablesJson(const Model& model, const TableIsland& island) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("tables").BeginObject();
  bool any = false;
  for (const Share& share : island.shares) {
    const Table* table = model.tables.FindFilled(share.table);
    if (table == nullptr) continue;
    WriteTable(model, *table, share, json);
    any = true;
  }
  json.EndObject();
  if (island.meanings == Meanings::kTold) WriteMeanings(model, island.shares, json);
  json.EndObject();
  if (any) return out;
  const bool is_needed =
      HasRows(model, island.needed_with[0]) || HasRows(model, island.needed_with[1]);
  return is_needed ? R"({"tables": {}})" : "";
}

std::string TablesJson(const Model& model, std::string_view island) {
  const auto* const at = std::find_if(std::begin(kIslands), std::end(kIslands),
                                      [&](const TableIsland& one) { return one.name == island; });
  DEBRIEF_CHECK(at != std::end(kIslands));
  return TablesJson(model, *at);
}

}  // namespace debrief::outputs::html

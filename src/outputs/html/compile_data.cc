// Writes the tables of compile logs as they are, with a bound on each.
//
//   {"tables": {"compilation": {"total": 41, "rows": [{"rank": 0, "compile_id": "0/0", ...}]}}}
//
// Tables are found by name and written by their columns, not by their C++ types: an analysis that
// adds a column needs no change here, and a view of a table that nobody fills is not shown. `total`
// counts all rows of the table; the page tells the reader when it has fewer. Rows are taken in the
// order of the table, which analyses write with what matters first. A row is written apart and then
// taken or not, so that one text of 100 MB costs its row and not the page. Cost: one pass over the
// rows taken. web/src/compile_data.ts reads it.
#include "outputs/html/compile_data.h"

#include <span>
#include <string_view>

#include "base/json_writer.h"
#include "outputs/table_json.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kLargestRow = 40'000;  // bytes of JSON
constexpr size_t kMostRefused = 100;    // larger ones of a table that are passed over

struct Share {
  std::string_view table;
  size_t rows;
  size_t bytes;  // all of them together make 8 MB
};

constexpr Share kShares[] = {
    {"compilation", 5000, 1'000'000},
    {"compile_recompile", 5000, 700'000},
    {"compile_frame_group", 2000, 200'000},
    {"compile_break", 2000, 600'000},
    {"compile_failure", 1000, 400'000},
    {"compile_progress", 5000, 100'000},
    {"compile_blocker", 2000, 200'000},
    {"compile_guard", 2000, 400'000},
    {"compile_graph", 5000, 600'000},
    {"compile_graph_op", 5000, 300'000},
    {"compile_graph_input", 5000, 400'000},
    {"compile_graph_change", 5000, 300'000},
    {"compile_module", 5000, 300'000},
    {"compile_shape", 2000, 300'000},
    {"compile_phase", 2000, 400'000},
    {"compile_span", 5000, 400'000},
    {"compile_phase_total", 5000, 200'000},
    {"compile_kernel", 2000, 200'000},
    {"compile_autotune", 2000, 200'000},
    {"compile_cache_use", 2000, 200'000},
    {"compile_cache_total", 5000, 100'000},
    {"compile_weight", 2000, 100'000},
    {"compile_rank_time", 5000, 100'000},
    {"compile_rank_only", 1000, 100'000},
    {"compile_first_difference", 1000, 50'000},
    {"compile_overlap", 64, 50'000},
    {"compile_log", 1000, 50'000},
    {"compile_life", 1000, 50'000},
};

const Table* FindTable(const Model& model, std::string_view name) {
  const std::span<const TableInfo* const> all = AllTables();
  for (TableId id = 0; id < all.size(); ++id)
    if (all[id]->name == name) return model.tables.Find(id);
  return nullptr;
}

void WriteTable(const Model& model, const Table& table, const Share& share, JsonWriter& json) {
  json.Key(share.table).BeginObject().Field("total", table.size()).Key("rows").BeginArray();
  size_t taken = 0;
  size_t refused = 0;
  size_t bytes = 0;
  std::string text;
  for (size_t row = 0; row < table.size() && taken < share.rows; ++row) {
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

}  // namespace

std::string CompileJson(const Model& model) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Key("tables").BeginObject();
  bool any = false;
  for (const Share& share : kShares) {
    const Table* table = FindTable(model, share.table);
    if (table == nullptr || table->size() == 0) continue;
    WriteTable(model, *table, share, json);
    any = true;
  }
  json.EndObject().EndObject();
  return any ? out : "null";
}

}  // namespace debrief::outputs::html

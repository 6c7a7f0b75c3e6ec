// Island "compile": the tables of compile logs. A view of a table that nobody fills is not shown.
#include "outputs/report/html/compile_data.h"

#include "outputs/report/html/table_shares.h"

namespace debrief::outputs::html {

namespace {

// All of them together make at most 45 MB, packed a tenth of that.
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
    {"compile_cache_use", 20000, 4'000'000},
    {"compile_cache_total", 5000, 100'000},
    {"compile_weight", 2000, 100'000},
    {"compile_overlap", 64, 50'000},
    {"compile_log", 1000, 50'000},
    {"compile_life", 1000, 50'000},
};

}  // namespace

std::string CompileJson(const Model& model) { return TablesJson(model, kCompileShares); }

Status AddCompile(const Model& model, Islands& islands) {
  const std::string json = CompileJson(model);
  return json.empty() ? Status() : islands.Add("compile", json);
}

}  // namespace debrief::outputs::html

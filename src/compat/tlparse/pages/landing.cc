// index.html above the trees of several ranks: where they differ, from the tables of compile_ranks.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "tables/compilation.h"
#include "tables/compile_divergence.h"
#include "tables/compile_order.h"
#include "tables/compile_rank_check.h"
#include "tables/compile_runtime_delta.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// "Rank 0, Rank 2"
template <typename Ranks>
std::string Join(const Ranks& ranks, std::string_view before) {
  std::string text;
  for (int64_t rank : ranks) text += fmt::format("{}{}{}", text.empty() ? "" : ", ", before, rank);
  return text;
}

class LandingWriter {
 public:
  LandingWriter(const Model& model, int32_t job, int32_t attempt, std::string& out)
      : model_(model), job_(job), attempt_(attempt), out_(out) {}

  void Warnings() {
    std::string warnings;
    auto add = [&](std::string_view what, std::string_view words) {
      const std::string groups = Groups(what);
      if (groups.empty()) return;
      Put(warnings, "<div><p><strong>Warning:</strong> {}</p>{}</div>\n", words, Raw{groups});
    };
    add("compile_ids",
        "Diverging Compilation IDs detected: these groups of ranks did not compile the same "
        "things.");
    add("cache",
        "Diverging Cache hit/miss patterns detected: these groups of ranks found different things "
        "in the cache, and some waited for a compiler where others did not.");
    add("collectives",
        "Diverging collective operation sequences detected: these groups of ranks call different "
        "collectives, which can hang the job.");
    if (!Groups(kTensors).empty()) {
      warnings +=
          "<p><strong>Warning:</strong> Tensors of the graphs differ: see <a href=\"#tensors\">"
          "Tensor Metadata Analysis</a>.</p>\n";
    }
    if (warnings.empty()) return;
    out_ += "<section class=\"warning\"><h2>Ranks differ</h2>\n" + warnings + "</section>\n";
  }

  void Ranks(std::span<const TreePlan> plans) {
    out_ +=
        "<section><h2>Ranks</h2><table><thead><tr><th>Rank</th><th>Compilations</th><th>Failed</th>"
        "<th>Restarted</th><th>Files</th></tr></thead>\n<tbody>\n";
    for (const TreePlan& plan : plans) Rank(plan);
    out_ += "</tbody></table></section>\n";
  }

  void Traces(bool has_events, bool has_runtime) {
    if (!has_events && !has_runtime) return;
    out_ += "<section><h2>Traces of all ranks</h2><ul>";
    if (has_events) {
      out_ +=
          "<li><a href=\"chromium_events.json\">chromium_events.json</a> <small>what the compiler "
          "did when</small></li>";
    }
    if (has_runtime) {
      out_ +=
          "<li><a href=\"chromium_trace_with_runtime.json\">chromium_trace_with_runtime.json</a> "
          "<small>how long the compiler expects graphs to run</small></li>";
    }
    out_ += "</ul><p class=\"quiet\">They open in ui.perfetto.dev.</p></section>\n";
  }

  void Runtime() {
    out_ += "<section><h2>Graph Runtime Analysis</h2>";
    if (State("runtime") == "unavailable") {
      out_ += "<p>Runtime analysis not available: ranks have different graphs.</p></section>\n";
      return;
    }
    out_ += "<ul>\n";
    const auto& table = model_.tables.Get<CompileRuntimeDeltaTable>();
    for (size_t i = 0; i < table.size(); ++i) {
      if (!IsMine(table, i) || Text(table.pairing[i]) != "position") continue;
      Put(out_,
          "<li>Graph <code>{}</code>: {} ms delta (Fastest: Rank {} - {} ms, Slowest: Rank {} - {} "
          "ms)</li>\n",
          Text(table.graph[i]), table.delta_ms[i], table.fastest_rank[i], table.fastest_ms[i],
          table.slowest_rank[i], table.slowest_ms[i]);
    }
    out_ += "</ul></section>\n";
  }

  void Order() {
    out_ +=
        "<section><h2>Graph Execution-Order Diagnostics</h2><p class=\"quiet\">Whether ranks ran "
        "their graphs in the same order (artifact graph_execution).</p>";
    const std::string_view state = State("order");
    if (state == "unavailable") {
      out_ += "<p>Execution-order analysis unavailable.</p></section>\n";
      return;
    }
    const auto& table = model_.tables.Get<CompileOrderTable>();
    std::set<int32_t> schedule, cache;
    for (size_t i = 0; i < table.size(); ++i) {
      if (IsMine(table, i) && table.schedule_mismatch[i]) schedule.insert(table.rank[i]);
      if (IsMine(table, i) && table.cache_mismatch[i]) cache.insert(table.rank[i]);
    }
    constexpr std::string_view kSame = "Consistent across ranks";
    Put(out_,
        "<ul><li>Graph execution order{}</li><li>Collective schedules: {}</li><li>Cache hit/miss "
        "sequence: {}</li></ul></section>\n",
        state == "differs" ? " differs across ranks" : ": Consistent across ranks",
        schedule.empty() ? kSame : "differ at the same position on " + Join(schedule, "Rank "),
        cache.empty() ? kSame : "differs at the same position on " + Join(cache, "Rank "));
  }

  void Tensors() {
    const std::string groups = Groups(kTensors);
    Put(out_, "<section id=\"tensors\"><h2>Tensor Metadata Analysis</h2><p>{}</p>{}</section>\n",
        groups.empty() ? "No rank has tensors that differ from those of another."
                       : "Ranks exhibit divergent inductor tensor meta:",
        Raw{groups});
  }

 private:
  static constexpr std::string_view kTensors = "tensor_shapes";  // without tlparse's estimates

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  template <typename Table>
  bool IsMine(const Table& table, size_t row) const {
    return table.job[row] == job_ && table.attempt[row] == attempt_;
  }

  // Ranks that agree with each other, as a list; empty when all of them do.
  std::string Groups(std::string_view what) const {
    const auto& table = model_.tables.Get<CompileDivergenceTable>();
    std::string list;
    size_t count = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      if (!IsMine(table, i) || Text(table.what[i]) != what) continue;
      list += "<li>Ranks: " + Join(model_.pools.lists.Get(table.ranks[i]), "") + "</li>";
      ++count;
    }
    return count < 2 ? "" : "<ul class=\"groups\">" + list + "</ul>";
  }

  std::string_view State(std::string_view what) const {
    const auto& table = model_.tables.Get<CompileRankCheckTable>();
    for (size_t i = 0; i < table.size(); ++i) {
      if (IsMine(table, i) && Text(table.what[i]) == what) return Text(table.state[i]);
    }
    return "unavailable";
  }

  // Counted by compilation: a restarted one that failed is one failure.
  void Rank(const TreePlan& plan) {
    const auto& table = model_.tables.Get<CompilationTable>();
    size_t all = 0, failed = 0, restarted = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.input[i] != plan.input || table.rank[i] != plan.rank) continue;
      ++all;
      failed += Text(table.outcome[i]) == "failed";
      restarted += table.restarts[i] > 0;
    }
    const std::string failures =
        failed == 0 ? "0" : fmt::format("<span class=\"error-mark\">{}</span>", failed);
    Put(out_,
        "<tr><td><a href=\"rank_{0}/index.html\">Rank {0}</a></td><td>{1}</td><td>{2}</td>"
        "<td>{3}</td><td>{4}</td></tr>\n",
        plan.rank, all, Raw{failures}, restarted, plan.files.size());
  }

  const Model& model_;
  int32_t job_;
  int32_t attempt_;
  std::string& out_;
};

}  // namespace

std::string LandingPage(const Model& model, std::span<const TreePlan> plans,
                        const TreeOptions& options, int32_t job, int32_t attempt,
                        bool has_runtime) {
  std::string out = BeginPage({.kind = PageKind::kIndex,
                               .title = "Multi-Rank TLParse Report",
                               .custom_html = options.custom_header_html});
  Put(out, "<main><div><h1>Multi-Rank TLParse Report</h1><p class=\"quiet\">{} ranks</p></div>\n",
      plans.size());
  LandingWriter writer(model, job, attempt, out);
  writer.Warnings();
  writer.Ranks(plans);
  writer.Traces(HasEvents(plans), has_runtime);
  if (has_runtime) writer.Runtime();
  writer.Order();
  writer.Tensors();
  out += "</main>\n";
  return EndPage(PageKind::kIndex, std::move(out));
}

}  // namespace debrief::outputs::tlparse_tree

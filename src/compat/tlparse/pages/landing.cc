#include "compat/tlparse/pages/landing.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "base/text/escape.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

std::string Join(const std::vector<int32_t>& ranks, std::string_view before) {
  std::string text;
  for (int32_t rank : ranks) {
    fmt::format_to(std::back_inserter(text), "{}{}{}", text.empty() ? "" : ", ", before, rank);
  }
  return text;
}

void AppendGroups(const RankGroups& groups, std::string& out) {
  out += "<ul class=\"groups\">";
  for (const std::vector<int32_t>& group : groups) {
    out += "<li>Ranks: " + Join(group, "") + "</li>";
  }
  out += "</ul>";
}

void AppendWarning(const RankGroups& groups, std::string_view words, std::string& out) {
  if (groups.size() < 2) return;
  fmt::format_to(std::back_inserter(out), "<div><p><strong>Warning:</strong> {}</p>", words);
  AppendGroups(groups, out);
  out += "</div>\n";
}

void AppendWarnings(const LandingData& data, std::string& out) {
  std::string warnings;
  AppendWarning(data.compile_ids,
                "Diverging Compilation IDs detected: these groups of ranks did not compile the "
                "same things.",
                warnings);
  AppendWarning(data.cache,
                "Diverging Cache hit/miss patterns detected: these groups of ranks found different "
                "things in the cache, and some waited for a compiler where others did not.",
                warnings);
  AppendWarning(data.collectives,
                "Diverging collective operation sequences detected: these groups of ranks call "
                "different collectives, which can hang the job.",
                warnings);
  if (data.tensor_meta.size() > 1) {
    warnings +=
        "<p><strong>Warning:</strong> Tensors of the graphs differ: see <a "
        "href=\"#tensors\">Tensor "
        "Metadata Analysis</a>.</p>\n";
  }
  if (warnings.empty()) return;
  out += "<section class=\"warning\"><h2>Ranks differ</h2>\n" + warnings + "</section>\n";
}

void AppendRank(const LandingRank& rank, std::string& out) {
  fmt::format_to(std::back_inserter(out), "<tr><td><a href=\"{}/index.html\">Rank {}</a></td>",
                 rank.folder, rank.rank);
  fmt::format_to(std::back_inserter(out), "<td>{}</td><td>", rank.compilations);
  if (rank.failed > 0) {
    fmt::format_to(std::back_inserter(out), "<span class=\"error-mark\">{}</span>", rank.failed);
  } else {
    out += '0';
  }
  fmt::format_to(std::back_inserter(out), "</td><td>{}</td><td>{}</td></tr>\n", rank.restarted,
                 rank.files);
}

void AppendRanks(const LandingData& data, std::string& out) {
  out +=
      "<section><h2>Ranks</h2><table><thead><tr><th>Rank</th><th>Compilations</th><th>Failed</th>"
      "<th>Restarted</th><th>Files</th></tr></thead>\n<tbody>\n";
  for (const LandingRank& rank : data.ranks) AppendRank(rank, out);
  out += "</tbody></table></section>\n";
}

void AppendTraces(const LandingData& data, std::string& out) {
  if (!data.has_chromium && !data.has_runtime) return;
  out += "<section><h2>Traces of all ranks</h2><ul>";
  if (data.has_chromium) {
    out +=
        "<li><a href=\"chromium_events.json\">chromium_events.json</a> <small>what the compiler "
        "did when</small></li>";
  }
  if (data.has_runtime) {
    out +=
        "<li><a href=\"chromium_trace_with_runtime.json\">chromium_trace_with_runtime.json</a> "
        "<small>how long the compiler expects graphs to run</small></li>";
  }
  out += "</ul><p class=\"quiet\">They open in ui.perfetto.dev.</p></section>\n";
}

void AppendRuntime(const LandingData& data, std::string& out) {
  if (!data.has_runtime) return;
  out += "<section><h2>Graph Runtime Analysis</h2>";
  if (!data.runtime_comparable) {
    out += "<p>Runtime analysis not available: ranks have different graphs.</p></section>\n";
    return;
  }
  out += "<ul>\n";
  for (const RuntimeDelta& delta : data.runtime) {
    out += "<li>Graph ";
    AppendElement("code", delta.graph, out);
    fmt::format_to(std::back_inserter(out),
                   ": {} ms delta (Fastest: Rank {} - {} ms, Slowest: Rank {} - {} ms)</li>\n",
                   delta.delta_ms, delta.fastest, delta.fastest_ms, delta.slowest,
                   delta.slowest_ms);
  }
  out += "</ul></section>\n";
}

void AppendOrder(const LandingData& data, std::string& out) {
  out +=
      "<section><h2>Graph Execution-Order Diagnostics</h2><p class=\"quiet\">Whether ranks ran "
      "their graphs in the same order (artifact graph_execution).</p>";
  if (data.order == OrderResult::kUnavailable) {
    out += "<p>Execution-order analysis unavailable.</p></section>\n";
    return;
  }
  out += "<ul><li>";
  out += data.order == OrderResult::kDiffers ? "Graph execution order differs across ranks"
                                             : "Graph execution order: Consistent across ranks";
  out += "</li><li>Collective schedules: ";
  out += data.schedule_mismatch.empty()
             ? "Consistent across ranks"
             : "differ at the same position on " + Join(data.schedule_mismatch, "Rank ");
  out += "</li><li>Cache hit/miss sequence: ";
  out += data.cache_mismatch.empty()
             ? "Consistent across ranks"
             : "differs at the same position on " + Join(data.cache_mismatch, "Rank ");
  out += "</li></ul></section>\n";
}

void AppendTensorMeta(const LandingData& data, std::string& out) {
  out += "<section id=\"tensors\"><h2>Tensor Metadata Analysis</h2>";
  if (data.tensor_meta.size() < 2) {
    out += "<p>No rank has tensors that differ from those of another.</p></section>\n";
    return;
  }
  out += "<p>Ranks exhibit divergent inductor tensor meta:</p>";
  AppendGroups(data.tensor_meta, out);
  out += "</section>\n";
}

}  // namespace

std::string LandingPage(const LandingData& data) {
  std::string out;
  BeginPage({.kind = PageKind::kIndex,
             .title = "Multi-Rank TLParse Report",
             .custom_html = data.custom_header_html},
            out);
  fmt::format_to(std::back_inserter(out),
                 "<main><div><h1>Multi-Rank TLParse Report</h1><p class=\"quiet\">{} ranks</p>"
                 "</div>\n",
                 data.ranks.size());
  AppendWarnings(data, out);
  AppendRanks(data, out);
  AppendTraces(data, out);
  AppendRuntime(data, out);
  AppendOrder(data, out);
  AppendTensorMeta(data, out);
  out += "</main>\n";
  EndPage(PageKind::kIndex, out);
  return out;
}

}  // namespace debrief::outputs::tlparse_tree

#include <fmt/format.h>

#include "base/text/escape.h"
#include "compat/tlparse/names.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// Where in the user's program; of a restart the log tells no more than the function.
std::string SourceOf(const PageContext& context, const Failure& failure) {
  const CompileMetricsTable& metrics = context.metrics;
  const size_t row = failure.metrics_row;
  if (!failure.is_restart && metrics.fail_user_frame_filename[row] != StringId::kNone) {
    return fmt::format("{}:{}", ShortPath(context.Text(metrics.fail_user_frame_filename[row])),
                       std::max<int64_t>(metrics.fail_user_frame_lineno[row], 0));
  }
  if (metrics.co_filename[row] == StringId::kNone) return "N/A:0";
  return fmt::format("{}:{} ({})", ShortPath(context.Text(metrics.co_filename[row])),
                     std::max(metrics.co_firstlineno[row], 0), context.Text(metrics.co_name[row]));
}

void AppendRow(const PageContext& context, const Failure& failure, std::string& out) {
  out += "<tr><td class=\"n\">";
  AppendCompileLink(context, failure.metrics_row, out);
  Put(out, "</td><td><span class=\"{}\">{}</span></td><td>",
      failure.is_restart ? "break" : "error-mark", failure.type);
  if (failure.reason.empty()) {
    out += "<span class=\"quiet\">the log gives no reason</span>";
  } else {
    Put(out, "<pre>{}</pre>", failure.reason);
  }
  Put(out, "</td><td>{}</td></tr>\n", SourceOf(context, failure));
}

}  // namespace

std::vector<Failure> FindFailures(const PageContext& context) {
  std::vector<Failure> failures;
  for (size_t row : context.metrics_rows()) {
    const CompileMetricsTable& metrics = context.metrics;
    if (context.Text(metrics.kind[row]) == "compilation_metrics") {
      for (size_t restart : context.RestartsOf(metrics.entry[row])) {
        failures.push_back(
            {true, row, "RestartAnalysis", context.Text(context.restarts.reason[restart])});
      }
    }
    if (metrics.fail_type[row] == StringId::kNone) continue;
    failures.push_back(
        {false, row, context.Text(metrics.fail_type[row]), context.Text(metrics.fail_reason[row])});
  }
  return failures;
}

void AppendCompileLink(const PageContext& context, size_t metrics_row, std::string& out) {
  const std::string text = DisplayId(context.Text(context.metrics.compile_id[metrics_row]));
  const std::string_view path = context.MetricsPath(metrics_row);
  if (path.empty()) return AppendHtml(out, text);
  AppendFileLink("", path, text, out);
}

std::string FailuresPage(const PageContext& context) {
  const std::vector<Failure> failures = FindFailures(context);
  std::string out = BeginPage({.title = "Failures and Restarts"});
  out += "<main><h1>Failures and Restarts</h1>\n<section>";
  if (failures.empty()) {
    out += "<p>No compilation failed, and none was restarted.</p>";
  } else {
    out +=
        "<table><thead><tr><th>Compile Id</th><th>Failure Type</th><th>Failure Description</th>"
        "<th>Failure Source</th></tr></thead>\n<tbody>\n";
    for (const Failure& failure : failures) AppendRow(context, failure, out);
    out += "</tbody></table>";
  }
  out += "</section></main>\n";
  return EndPage(PageKind::kPlain, std::move(out));
}

}  // namespace debrief::outputs::tlparse_tree

// A compilation is an id without its attempt in one life of a process. What fails and what breaks
// graphs is shown above everything else; restarts have a page of their own. Figures are those of
// the tables that the report and --summary show.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_log.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kMaxShown = 12;  // failures; the rest are on their page

struct Totals {
  size_t all = 0, failed = 0, restarted = 0, again = 0, unfinished = 0;
  int64_t breaks = 0;
  double seconds = 0;
};

// Rows of compile_break that the tree is about.
std::vector<size_t> BreakRows(const PageContext& context) {
  const auto& breaks = context.model.tables.Get<CompileBreakTable>();
  const int32_t rank = context.plan.rank;
  std::vector<size_t> rows;
  for (size_t row = 0; row < breaks.size(); ++row) {
    const bool same_rank =
        rank == kNone32 || breaks.rank[row] == kNone32 || breaks.rank[row] == rank;
    if (breaks.input[row] == context.plan.input && same_rank) rows.push_back(row);
  }
  return rows;
}

Totals AddUp(const PageContext& context, const std::vector<size_t>& breaks) {
  const auto& table = context.model.tables.Get<CompilationTable>();
  Totals totals;
  for (size_t row : context.compilation_rows()) {
    const std::string_view outcome = context.Text(table.outcome[row]);
    ++totals.all;
    totals.failed += outcome == "failed";
    totals.unfinished += outcome == "unfinished";
    totals.restarted += table.restarts[row] > 0;
    totals.again += table.previous_id[row] != StringId::kNone;
    if (!std::isnan(table.seconds[row])) totals.seconds += table.seconds[row];
  }
  for (size_t row : breaks)
    totals.breaks += context.model.tables.Get<CompileBreakTable>().count[row];
  return totals;
}

void AppendNumbers(const Totals& totals, int64_t trouble, std::string& out) {
  // `style` is for numbers that are not zero.
  auto add = [&](std::string_view name, auto number, std::string_view style) {
    Put(out, "<li class=\"{}\"><b>{}</b>{}</li>\n", number > 0 ? style : "", number, name);
  };
  out += "<ul class=\"facts box\">\n";
  add("compilations", totals.all, "");
  add("ok", totals.all - totals.failed - totals.unfinished, "");
  add("failed", totals.failed, "bad");
  add("restarted", totals.restarted, "warn");
  if (totals.again > 0) add("recompiled", totals.again, "warn");
  if (totals.unfinished > 0) add("without metrics", totals.unfinished, "warn");
  if (totals.breaks > 0)
    add(totals.breaks == 1 ? "graph break" : "graph breaks", totals.breaks, "warn");
  if (totals.seconds > 0)  // old logs do not tell
    Put(out, "<li class=\"\"><b>{}</b>compile time</li>\n", SecondsText(totals.seconds));
  if (trouble > 0) add("troubles in the log", trouble, "warn");
  out += "</ul>\n";
}

// The first line of a reason; the next one, too, where the first only announces it ("... raised:").
std::string FirstWords(std::string_view reason) {
  auto next = [&] {
    reason.remove_prefix(std::min(reason.find_first_not_of(" \n"), reason.size()));
    return TakeLine(reason);
  };
  std::string words(next());
  return words.ends_with(':') ? fmt::format("{} {}", words, next()) : words;
}

void AppendFailure(const PageContext& context, const Failure& failure, std::string& out) {
  const CompileMetricsTable& metrics = context.metrics;
  const size_t row = failure.metrics_row;
  out += "<li><b>";
  AppendCompileLink(context, row, out);
  const std::string_view name = context.Text(metrics.co_name[row]);
  Put(out, "</b><span><strong>{}</strong>{}<code>{}</code>", failure.type,
      name.empty() ? "" : " in ", name);
  const bool told = metrics.fail_user_frame_filename[row] != StringId::kNone;
  const StringId file = told ? metrics.fail_user_frame_filename[row] : metrics.co_filename[row];
  const int64_t line = told ? metrics.fail_user_frame_lineno[row] : metrics.co_firstlineno[row];
  if (file != StringId::kNone) {
    Put(out, " <span class=\"quiet\">{}:{}</span>", ShortPath(context.Text(file)),
        std::max<int64_t>(line, 0));
  }
  out += "</span>";
  const std::string reason = FirstWords(failure.reason);
  if (!reason.empty()) Put(out, "<p>{}</p>", reason);
  out += "</li>\n";
}

// Lines and payloads of the log that were lost or wrong.
int64_t TroubleIn(const PageContext& context) {
  const auto& logs = context.model.tables.Get<CompileLogTable>();
  int64_t trouble = 0;
  for (size_t row : RowsOfInput(logs, context.plan.input)) {
    for (int64_t count :
         {logs.bad_prefix[row], logs.bad_json[row], logs.bad_checksum[row], logs.lost[row]}) {
      trouble += std::max<int64_t>(count, 0);
    }
  }
  return trouble;
}

// One distinct break: how often, where, why, in which compilation and at what cost.
void AppendBreak(const PageContext& context, const CompileBreakTable& breaks, size_t row,
                 std::string& out) {
  Put(out, "<li><b>{} x</b><span><strong>{}</strong>", breaks.count[row],
      FirstLine(context.Text(breaks.reason[row])));
  if (breaks.user_file[row] != StringId::kNone) {
    Put(out, " <span class=\"quiet\">{}:{}</span>", ShortPath(context.Text(breaks.user_file[row])),
        std::max(breaks.user_line[row], 0));
  }
  Put(out, " in <a href=\"#[{0}]\">[{0}]</a>", context.Text(breaks.first_compile_id[row]));
  const double seconds = breaks.wasted_s[row] + breaks.resume_s[row];
  if (seconds > 0) Put(out, " <span class=\"quiet\">cost {}</span>", SecondsText(seconds));
  out += "</span>";
  if (const auto code = context.Text(breaks.user_code[row]); !code.empty())
    Put(out, "<p>{}</p>", FirstLine(code));
  out += "</li>\n";
}

// The costliest first, as table compile_break has them. Breaks that ended their compilation stand
// among the failures.
void AppendBreaks(const PageContext& context, const std::vector<size_t>& rows, std::string& out) {
  const auto& breaks = context.model.tables.Get<CompileBreakTable>();
  std::vector<size_t> lasting;
  for (size_t row : rows)
    if (context.Text(breaks.kind[row]) != "failure") lasting.push_back(row);
  if (lasting.empty()) return;
  Put(out, "<section class=\"warning\"><h2>{}</h2><ul class=\"failures\">\n",
      Plural(lasting.size(), "distinct graph break"));
  for (size_t i = 0; i < std::min(kMaxShown, lasting.size()); ++i)
    AppendBreak(context, breaks, lasting[i], out);
  out += "</ul>";
  if (lasting.size() > kMaxShown)
    Put(out, "<p class=\"quiet\">and {} more</p>", lasting.size() - kMaxShown);
  out += "</section>\n";
}

void AppendFailed(const PageContext& context, const std::vector<Failure>& failures,
                  std::string& out) {
  const auto failed = static_cast<size_t>(
      std::ranges::count_if(failures, [](const Failure& one) { return !one.is_restart; }));
  if (failed == 0) return;
  Put(out, "<section class=\"error\"><h2>{} failed</h2><ul class=\"failures\">\n", failed);
  size_t shown = 0;
  for (const Failure& failure : failures) {
    if (failure.is_restart) continue;
    if (++shown > kMaxShown) break;
    AppendFailure(context, failure, out);
  }
  out += "</ul>";
  if (failed > kMaxShown) {
    Put(out, "<p><a href=\"failures_and_restarts.html\">and {} more</a></p>", failed - kMaxShown);
  }
  out += "</section>\n";
}

}  // namespace

void AppendSummary(const PageContext& context, const std::vector<Failure>& failures,
                   std::string& out) {
  const std::vector<size_t> breaks = BreakRows(context);
  AppendNumbers(AddUp(context, breaks), TroubleIn(context), out);
  AppendFailed(context, failures, out);
  AppendBreaks(context, breaks, out);
}

void AppendLogTrouble(const PageContext& context, std::string& out) {
  const auto& logs = context.model.tables.Get<CompileLogTable>();
  std::string facts;
  auto add = [&](int64_t count, std::string_view meaning) {
    if (count > 0) AppendFact(fmt::format("{}", count), meaning, facts);
  };
  for (size_t row : RowsOfInput(logs, context.plan.input)) {
    add(logs.bad_prefix[row], "lines that are neither an entry nor a payload");
    add(logs.bad_json[row], "entries with broken JSON or a field of the wrong type");
    add(logs.bad_checksum[row], "payloads that do not match their checksum (shown all the same)");
    add(logs.restored[row], "payloads of tangled ranks, put together again by their checksum");
    add(logs.lost[row], "payloads of tangled ranks that could not be put together");
  }
  AppendFact("Unknown keys", fmt::format("{}", fmt::join(context.plan.unknown_keys, ", ")), facts);
  if (facts.empty()) return;
  out += "<section><h2>What was odd in the log</h2><dl>" + facts + "</dl></section>\n";
}

}  // namespace debrief::outputs::tlparse_tree

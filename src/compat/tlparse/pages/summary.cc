// A compilation is an id without its attempt in one life of a process. What fails is shown in full
// above everything else; restarts have a page of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/text/scan.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"
#include "tables/compile_log.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kMaxShown = 12;  // failures; the rest are on their page

using Key = PageContext::Key;

struct Totals {
  std::set<Key> begun, failed, restarted, again, ended;
  std::map<int32_t, int64_t> graph_breaks;  // by life: the largest number that was logged
  double seconds = 0;
};

double SecondsOf(const CompileMetricsTable& metrics, size_t row) {
  const double seconds = metrics.entire_frame_compile_time_s[row];
  if (!std::isnan(seconds)) return seconds;
  const int64_t micros = metrics.duration_us[row];
  return micros == kNone64 ? 0 : static_cast<double>(micros) / 1e6;
}

void AddMetrics(const PageContext& context, size_t row, Totals& totals) {
  const CompileMetricsTable& metrics = context.metrics;
  const std::string_view kind = context.Text(metrics.kind[row]);
  const std::optional<size_t> entry_row = context.EntryRowOf(row);
  if (!entry_row || kind.ends_with("_runtime")) return;
  const Key key = context.KeyOf(*entry_row);
  totals.seconds += SecondsOf(metrics, row);
  if (metrics.fail_type[row] != StringId::kNone) totals.failed.insert(key);
  if (metrics.restart_reasons[row] > 0) totals.restarted.insert(key);
  const int64_t number = context.entries.frame_compile_id[*entry_row];
  if (number != kNone64 && number > 0) totals.again.insert(key);
  if (kind == "compilation_metrics" && key.second != "-/-") {
    totals.begun.insert(key);
    totals.ended.insert(key);
  }
  if (metrics.num_graph_breaks[row] != kNone64) {
    int64_t& breaks = totals.graph_breaks[key.first];
    breaks = std::max(breaks, metrics.num_graph_breaks[row]);
  }
}

Totals AddUp(const PageContext& context) {
  Totals totals;
  for (size_t row : context.plan.rows) {
    if (context.Text(context.entries.kind[row]) == "dynamo_start") {
      totals.begun.insert(context.KeyOf(row));
    }
  }
  for (size_t row : context.metrics_rows()) AddMetrics(context, row, totals);
  return totals;
}

void AppendNumbers(const Totals& totals, int64_t trouble, std::string& out) {
  const size_t unfinished = totals.begun.size() - totals.ended.size();
  size_t good = 0;
  for (const Key& key : totals.ended) good += !totals.failed.contains(key);
  int64_t breaks = 0;
  for (const auto& [life, count] : totals.graph_breaks) breaks += count;
  // `style` is for numbers that are not zero.
  auto add = [&](std::string_view name, auto number, std::string_view style) {
    Put(out, "<li class=\"{}\"><b>{}</b>{}</li>\n", number > 0 ? style : "", number, name);
  };
  out += "<ul class=\"facts box\">\n";
  add("compilations", totals.begun.size(), "");
  add("ok", good, "");
  add("failed", totals.failed.size(), "bad");
  add("restarted", totals.restarted.size(), "warn");
  if (!totals.again.empty()) add("recompiled", totals.again.size(), "warn");
  if (unfinished > 0) add("without metrics", unfinished, "warn");
  if (!totals.graph_breaks.empty()) add("graph breaks", breaks, "warn");
  if (totals.seconds > 0)  // old logs do not tell
    Put(out, "<li class=\"\"><b>{:.2f} s</b>compile time</li>\n", totals.seconds);
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

}  // namespace

void AppendSummary(const PageContext& context, const std::vector<Failure>& failures,
                   std::string& out) {
  AppendNumbers(AddUp(context), TroubleIn(context), out);
  const auto failed = static_cast<size_t>(std::count_if(
      failures.begin(), failures.end(), [](const Failure& one) { return !one.is_restart; }));
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

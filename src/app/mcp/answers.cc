#include "app/mcp/answers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "app/build_model.h"
#include "app/mcp/child.h"
#include "app/mcp/lines_around.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "base/paths.h"
#include "base/text/strings.h"
#include "outputs/findings_reader.h"
#include "outputs/store/store.h"
#include "serve/http.h"
#include "serve/sql_page.h"
#include "serve/sql_process.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;
using mcp::Arguments;
using mcp::Outcome;
using mcp::Work;

constexpr std::string_view kScheme = "debrief://";
constexpr int64_t kMostFindings = 1000, kUsualFindings = 100, kShownFindings = 30;
constexpr int64_t kUsualRows = 200;
constexpr int64_t kMostLines = 200, kUsualLines = 10;

Outcome Good(std::string json) { return {.json = std::move(json), .error = {}}; }

Outcome Bad(const Status& status) {
  std::string text = status.message();
  if (const std::string place = ToString(status.place()); !place.empty())
    text += " (" + place + ")";
  if (!status.remedy().empty()) text += ". " + status.remedy();
  return {.json = {}, .error = std::move(text)};
}

// What a command said on stderr when it failed.
Outcome Bad(const Captured& captured) {
  std::string_view text = Trimmed(captured.error);
  if (text.starts_with("debrief: ")) text.remove_prefix(9);
  return {.json = {},
          .error = text.empty() ? fmt::format("it ended with code {}", captured.code)
                                : std::string(text)};
}

// JSON without the blanks and line ends between its tokens: a message of the protocol is one line.
std::string InOneLine(std::string_view json) {
  std::string line;
  line.reserve(json.size());
  bool is_text = false, is_escaped = false;
  for (const char c : json) {
    if (!is_text && IsSpace(c)) continue;
    line += c;
    if (c == '"' && !is_escaped) is_text = !is_text;
    is_escaped = is_text && c == '\\' && !is_escaped;
  }
  return line;
}

// Everything that the answers need to know.
struct Desk {
  const Roots& roots;
  const OpenReports& reports;
  GlobalOptions global;
};

// The folder of a report: one that was opened, or one below the roots that debrief wrote.
Result<std::string> FindReport(const Desk& desk, const std::string& name) {
  if (desk.reports.paths.contains(name)) return desk.reports.folder + "/" + name;
  if (name.size() > 1 && name[0] == 'r' && std::ranges::all_of(name.substr(1), IsDigit))
    return Status(Code::kNotFound, fmt::format("no report {} is open", name))
        .Remedy("Call open_job with the path of the job again.");
  ASSIGN_OR_RETURN(std::string folder, desk.roots.Resolve(name));
  for (const std::string_view file :
       {std::string_view("findings.json"), outputs::store::kStoreFile}) {
    std::string path = fmt::format("{}/{}", folder, file);
    if (!IsThere(path)) continue;
    if (auto real = desk.roots.Resolve(path); !real.ok()) return real.status();
  }
  if (!fs::exists(folder + "/findings.json"))
    return Status(Code::kNotFound, fmt::format("{} is not a report of debrief", name))
        .Remedy("Call open_job with it, and use the report that it gives.");
  return folder;
}

void WriteFindings(const WrittenFindings& run, int64_t offset, int64_t limit, JsonWriter& json) {
  const size_t first = std::min(run.findings.size(), static_cast<size_t>(offset));
  const size_t count = std::min(run.findings.size() - first, static_cast<size_t>(limit));
  json.Field("count", run.findings.size());
  json.Objects("findings", std::span(run.findings).subspan(first, count),
               [&](const Finding& finding) {
                 json.Field("id", finding.id).Field("rule", finding.rule);
                 json.Field("severity", SeverityName(finding.severity));
                 json.Field("role", RoleName(finding.role)).Field("headline", finding.headline);
                 json.ListField("ranks", finding.ranks).Field("confidence", finding.confidence);
                 json.Field("next_step", finding.next_step);
               });
}

Outcome OpenedJson(const std::string& report, const std::string& folder,
                   const std::string& verdict) {
  auto run = ReadFindings(folder);
  if (!run.ok()) return Bad(run.status());
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Field("report", report);
  json.Array("jobs", run->jobs, [&](const auto& job) { json.Value(job.second); });
  if (!verdict.empty()) json.Field("verdict", verdict);
  WriteFindings(run.value(), 0, kShownFindings, json);
  json.EndObject();
  return Good(std::move(out));
}

Outcome OpenJob(const Desk& desk, const Arguments& arguments) {
  const std::string given = arguments.Text("path");
  auto path = desk.roots.Resolve(given);
  if (!path.ok()) return Bad(path.status());
  if (fs::exists(path.value() + "/findings.json")) {
    auto report = FindReport(desk, given);
    return report.ok() ? OpenedJson(given, report.value(), "") : Bad(report.status());
  }
  if (Status links = desk.roots.CheckLinks(path.value()); !links.ok()) return Bad(links);
  ReportOptions options;
  options.paths = {path.value()};
  // Next steps name the report as clients know it: "debrief query r1".
  if (chdir(desk.reports.folder.c_str()) != 0)
    return Bad(Status(Code::kIo, "the folder of this server is gone"));
  options.output = desk.reports.next;
  options.no_report = true;
  options.markdown = true;
  const Captured ran = Capture([&] { return RunReport(options, desk.global); });
  if (!fs::exists(options.output + "/findings.json")) return Bad(ran);
  return OpenedJson(desk.reports.next, options.output, ran.out);
}

Outcome ListFindings(const Desk& desk, const Arguments& arguments) {
  const int64_t limit = arguments.Number("limit", kUsualFindings);
  const int64_t offset = arguments.Number("offset", 0);
  if (limit < 1 || limit > kMostFindings || offset < 0)
    return Bad(Status(Code::kUsage, "limit is 1 to 1000, offset a number from 0"));
  auto folder = FindReport(desk, arguments.Text("report"));
  if (!folder.ok()) return Bad(folder.status());
  auto run = ReadFindings(folder.value());
  if (!run.ok()) return Bad(run.status());
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  WriteFindings(run.value(), offset, limit, json);
  json.EndObject();
  return Good(std::move(out));
}

Outcome ExplainFinding(const Desk& desk, const Arguments& arguments) {
  auto folder = FindReport(desk, arguments.Text("report"));
  if (!folder.ok()) return Bad(folder.status());
  const std::string finding = arguments.Text("finding");
  if (finding.empty()) return Bad(Status(Code::kUsage, "finding is an id, for example f1"));
  serve::LimitQueryProcess({});
  ExplainOptions options;
  options.output = folder.value();
  options.finding = finding;
  options.is_for_others = true;
  const Captured ran = Capture([&] { return RunExplain(options, desk.global); });
  return ran.code == 0 ? Good(InOneLine(ran.out)) : Bad(ran);
}

Outcome QueryRows(const std::string& folder, const std::string& sql, int64_t limit,
                  int64_t offset) {
  if (limit < 1 || limit > static_cast<int64_t>(serve::kMaxPageRows) || offset < 0)
    return Bad(Status(Code::kUsage, fmt::format("limit is 1 to {}, offset a number from 0",
                                                serve::kMaxPageRows)));
  serve::LimitQueryProcess({});
  auto database = serve::OpenForReaders(folder);
  if (!database.ok()) return Bad(database.status());
  auto connection = database->Connect();
  if (!connection.ok()) return Bad(connection.status());
  serve::CancelToken never;
  auto page = serve::ReadPage(connection.value(), sql, static_cast<uint64_t>(limit),
                              static_cast<uint64_t>(offset), never);
  if (!page.ok()) return Bad(page.status());
  return Good(InOneLine(fmt::format("{{\"columns\":{},\"rows\":{},\"more\":{}}}", page->columns,
                                    page->rows, page->more)));
}

Outcome QuerySql(const Desk& desk, const Arguments& arguments) {
  auto folder = FindReport(desk, arguments.Text("report"));
  if (!folder.ok()) return Bad(folder.status());
  return QueryRows(folder.value(), arguments.Text("sql"), arguments.Number("limit", kUsualRows),
                   arguments.Number("offset", 0));
}

Outcome ReadLines(const Desk& desk, const Arguments& arguments) {
  const LineRange range = {.line = arguments.Number("line", 1),
                           .before = arguments.Number("before", kUsualLines),
                           .after = arguments.Number("after", kUsualLines)};
  const auto is_count = [](int64_t lines) { return lines >= 0 && lines <= kMostLines; };
  if (range.line < 1 || range.line > int64_t{1} << 60 || !is_count(range.before) ||
      !is_count(range.after))
    return Bad(Status(Code::kUsage, "line is a number from 1, before and after are 0 to 200"));
  auto json = LinesAroundJson(desk.roots, arguments.Text("path"), range);
  return json.ok() ? Good(std::move(json).value()) : Bad(json.status());
}

Outcome DiffRuns(const Desk& desk, const Arguments& arguments) {
  DiffOptions options;
  for (const char* side : {"before", "after"}) {
    auto path = desk.roots.Resolve(arguments.Text(side));
    if (!path.ok()) return Bad(path.status());
    if (Status links = desk.roots.CheckLinks(path.value()); !links.ok()) return Bad(links);
    options.paths.push_back(std::move(path).value());
  }
  const Captured ran = Capture([&] { return RunDiffCommand(options, desk.global); });
  return ran.code == 0 ? Good(InOneLine(ran.out)) : Bad(ran);
}

// ---- Resources.

class NoClock final : public Clock {
 public:
  int64_t NowNs() const override { return 0; }
};

Outcome TablesOf(const std::string& folder) {
  serve::LimitQueryProcess({});
  const NoClock clock;
  serve::StoreApi api(folder, TemporaryFolder(), clock);
  serve::CancelToken never;
  const serve::Response response = api.Tables(never);
  if (response.status != 200) return {.json = {}, .error = std::string(Trimmed(response.body))};
  return Good(InOneLine(response.body));
}

void WriteResource(const std::string& report, std::string_view what, const std::string& title,
                   JsonWriter& json) {
  json.BeginObject().Field("uri", fmt::format("{}{}/{}", kScheme, report, what));
  json.Field("name", fmt::format("{} {}", report, what)).Field("title", title);
  json.Field("mimeType", "application/json").EndObject();
}

// Names of the tables with rows. None when the store cannot be read: a report without one is not
// wrong.
std::vector<std::string> TablesWithRows(const std::string& folder) {
  std::vector<std::string> names;
  auto database = serve::OpenForReaders(folder);
  if (!database.ok()) return names;
  auto connection = database->Connect();
  if (!connection.ok()) return names;
  serve::CancelToken never;
  auto rows = serve::ReadTexts(
      connection.value(),
      "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'stored' AND NOT internal AND "
      "estimated_size > 0 AND table_name IN (SELECT view_name FROM duckdb_views()) ORDER BY 1",
      never);
  if (!rows.ok()) return names;
  for (auto& row : rows.value()) names.push_back(std::move(row[0]));
  return names;
}

Outcome ListResources(const Desk& desk) {
  serve::LimitQueryProcess({});
  std::string out;
  JsonWriter json(&out);
  json.BeginArray();
  for (const auto& [report, job] : desk.reports.paths) {
    WriteResource(report, "findings", fmt::format("Findings of {}", job), json);
    WriteResource(report, "tables", fmt::format("Tables and columns of {}", job), json);
    for (const std::string& table : TablesWithRows(desk.reports.folder + "/" + report))
      WriteResource(report, "table/" + table, fmt::format("Table {} of {}", table, job), json);
  }
  json.EndArray();
  return Good(std::move(out));
}

Outcome FindingsFile(const std::string& folder) {
  auto run = ReadFindings(folder);
  if (!run.ok()) return Bad(run.status());
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  WriteFindings(run.value(), 0, kMostFindings, json);
  json.EndObject();
  return Good(std::move(out));
}

// debrief://REPORT/findings, debrief://REPORT/tables, debrief://REPORT/table/NAME
Outcome ReadResource(const Desk& desk, const std::string& uri) {
  Outcome unknown = {.json = {}, .error = "Resource not found"};
  if (!uri.starts_with(kScheme)) return unknown;
  const std::string rest = uri.substr(kScheme.size());
  const size_t slash = rest.find('/');
  const auto report = serve::PercentDecode(rest.substr(0, slash), false);
  if (slash == std::string::npos || !report) return unknown;
  const std::string what = rest.substr(slash + 1);
  auto folder = FindReport(desk, *report);
  if (!folder.ok()) return Bad(folder.status());
  if (what == "findings") return FindingsFile(folder.value());
  if (what == "tables") return TablesOf(folder.value());
  constexpr std::string_view kTable = "table/";
  if (!what.starts_with(kTable)) return unknown;
  return QueryRows(
      folder.value(),
      fmt::format("SELECT * FROM {}", outputs::store::QuoteName(what.substr(kTable.size()))),
      kUsualRows, 0);
}

struct Answerer {
  std::string_view tool;
  int seconds;
  Outcome (*answer)(const Desk&, const Arguments&);
};

constexpr Answerer kAnswerers[] = {
    {"open_job", 900, OpenJob},
    {"list_findings", 30, ListFindings},
    {"explain_finding", 60, ExplainFinding},
    {"query_sql", 30, QuerySql},
    {"read_lines", 30, ReadLines},
    {"diff_runs", 900, DiffRuns},
};

const Answerer* AnswererOf(const Work& work) {
  const auto* found = std::ranges::find(kAnswerers, work.tool, &Answerer::tool);
  return found == std::end(kAnswerers) ? nullptr : found;
}

}  // namespace

Outcome AnswerWork(const Work& work, const Roots& roots, const OpenReports& reports,
                   const GlobalOptions& global) {
  Desk desk{roots, reports, global};
  desk.global.json = desk.global.quiet = true;
  if (work.kind == Work::Kind::kListResources) return ListResources(desk);
  if (work.kind == Work::Kind::kReadResource) return ReadResource(desk, work.uri);
  const Answerer* answerer = AnswererOf(work);
  if (answerer == nullptr) return {.json = {}, .error = "no such tool"};
  if (answerer->answer == OpenJob) desk.global.json = false;  // its verdict is Markdown
  return answerer->answer(desk, work.arguments);
}

int SecondsFor(const Work& work) {
  const Answerer* answerer = AnswererOf(work);
  return answerer == nullptr ? 60 : answerer->seconds;
}

}  // namespace debrief

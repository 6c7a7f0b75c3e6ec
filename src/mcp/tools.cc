#include "mcp/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/strings.h"

namespace debrief::mcp {

namespace {

constexpr std::string_view kReportDoc =
    "What open_job gave as report (for example r1), or a folder that debrief wrote";

constexpr Parameter kOpenJob[] = {
    {"path", false, true, "File, folder or archive of a job, or a folder that debrief wrote"}};
constexpr Parameter kListFindings[] = {
    {"report", false, true, kReportDoc},
    {"limit", true, false, "At most this many findings, 1 to 1000 (100)"},
    {"offset", true, false, "Without the first ones (0)"}};
constexpr Parameter kExplainFinding[] = {{"report", false, true, kReportDoc},
                                         {"finding", false, true, "Id, for example f1"}};
constexpr Parameter kQuerySql[] = {
    {"report", false, true, kReportDoc},
    {"sql", false, true, "One SELECT statement of DuckDB over the tables of the report"},
    {"limit", true, false, "At most this many rows, 1 to 10000 (200)"},
    {"offset", true, false, "Without the first rows (0)"}};
constexpr Parameter kReadLines[] = {
    {"path", false, true, "A text file, packed or not; a member of an archive is archive!member"},
    {"line", true, true, "The line in the middle, from 1"},
    {"before", true, false, "Lines before it, 0 to 200 (10)"},
    {"after", true, false, "Lines after it, 0 to 200 (10)"}};
constexpr Parameter kDiffRuns[] = {{"before", false, true, "File, folder or archive of one run"},
                                   {"after", false, true, "The same of the other run"}};

constexpr Tool kTools[] = {
    {"open_job", "Analyse a job",
     "Reads everything a PyTorch job left (output of ranks, Flight Recorder dumps, compile logs, "
     "profiles, memory snapshots) and says what happened and which rank is to blame. Start here. "
     "Gives a report for the other tools, the verdict and the findings.",
     kOpenJob},
    {"list_findings", "Findings of a report",
     "All findings of a report, the most important first: severity, role, ranks, headline and next "
     "step of each.",
     kListFindings},
    {"explain_finding", "Evidence of a finding",
     "One finding whole: who is to blame, how sure that is and why, its evidence as rows of "
     "tables, "
     "and the SQL that gives them.",
     kExplainFinding},
    {"query_sql", "SQL over a report",
     "Runs one SELECT over the tables of a report (read only, 30 s at most). The resource "
     "debrief://REPORT/tables lists tables and columns with their meaning.",
     kQuerySql},
    {"read_lines", "Lines of an input",
     "Lines of an input of the job around one that evidence names, for example a rank's output.",
     kReadLines},
    {"diff_runs", "Compare two runs",
     "What is different between two runs: findings, step times, collectives, compilations, memory; "
     "what is noise is left out.",
     kDiffRuns},
};

Status CannotCall(const Tool& tool, const std::string& why) {
  std::string takes;
  for (const Parameter& parameter : tool.parameters)
    takes += fmt::format("{}{}{}", takes.empty() ? "" : ", ", parameter.name,
                         parameter.is_required ? "" : " (optional)");
  return Status(Code::kUsage, fmt::format("{}: {}", tool.name, why))
      .Remedy(fmt::format("It takes: {}.", takes));
}

Status AddArgument(const Tool& tool, const std::string& name, const MessageValue& value,
                   Arguments& arguments) {
  const auto* parameter = std::ranges::find(tool.parameters, name, &Parameter::name).base();
  if (parameter == tool.parameters.data() + tool.parameters.size())
    return CannotCall(tool, fmt::format("no argument {}", name.substr(0, 100)));
  if (!parameter->is_number) {
    if (value.kind != JsonKind::kString)
      return CannotCall(tool, fmt::format("{} is a string", name));
    arguments.texts[name] = value.text;
    return {};
  }
  const auto number = ParseNumber<int64_t>(value.text);
  if (value.kind != JsonKind::kNumber || !number)
    return CannotCall(tool, fmt::format("{} is an integer", name));
  arguments.numbers[name] = *number;
  return {};
}

}  // namespace

std::span<const Tool> AllTools() { return kTools; }

const Tool* FindTool(std::string_view name) {
  const auto* found = std::ranges::find(kTools, name, &Tool::name);
  return found == std::end(kTools) ? nullptr : found;
}

Result<Arguments> ReadArguments(const Tool& tool, const Message& message) {
  Arguments arguments;
  for (const auto& [name, value] : message.Below({"params", "arguments"}))
    TRY(AddArgument(tool, name, *value, arguments));
  for (const Parameter& parameter : tool.parameters) {
    const bool is_given =
        arguments.texts.contains(parameter.name) || arguments.numbers.contains(parameter.name);
    if (parameter.is_required && !is_given)
      return CannotCall(tool, fmt::format("{} is missing", parameter.name));
  }
  return arguments;
}

void WriteTool(const Tool& tool, JsonWriter& json) {
  json.Field("name", tool.name).Field("title", tool.title).Field("description", tool.doc);
  json.Key("inputSchema").BeginObject().Field("type", "object");
  json.Key("properties").BeginObject();
  std::vector<std::string_view> required;
  for (const Parameter& parameter : tool.parameters) {
    json.Key(parameter.name).BeginObject();
    json.Field("type", parameter.is_number ? "integer" : "string");
    json.Field("description", parameter.doc).EndObject();
    if (parameter.is_required) required.push_back(parameter.name);
  }
  json.EndObject().ListField("required", required).Field("additionalProperties", false);
  json.EndObject();
  json.Key("annotations").BeginObject().Field("readOnlyHint", true);
  json.Field("openWorldHint", false).EndObject();
}

}  // namespace debrief::mcp

// The run as JSON and on a terminal, with text that wants to break out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>

#include "base/json/cursor.h"
#include "outputs/output.h"
#include "outputs/run_json.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"
#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace text_outputs_test {

using namespace std::string_view_literals;

constexpr DiagnosticKind kBad = {"test.bad", Severity::kError, "it is bad", "Mend it."};
const std::string kHostile(
    "\x1b]0;title\x07\x1b[2J \r\n\"</script>\\ \0 \xff\xc2\x9b\xe2\x80\xae end"sv);

// A run whose every text is `text`.
void Fill(Model& model, const std::string& text) {
  model.tables.Edit<JobTable>().Add({0, model.pools.Intern(text), kNone32, 2, 2});
  model.tables.Edit<RankTable>().Add({0, 0, 3, StringId::kNone, 1});
  for (int32_t i = 0; i < 2; ++i) {
    InputRow row;
    row.input = i;
    row.job = i == 0 ? 0 : kNone32;
    row.path = model.pools.Intern(text);
    row.kind = model.pools.Intern(text);
    row.state = model.pools.Intern(i == 0 ? "failed" : "recognised");
    model.tables.Edit<InputTable>().Add(row);
  }
  model.diagnostics.Add(kBad, 0, {.offset = 5, .line = -1, .detail = text});
  model.diagnostics.Add(kBad, kNone32);
  Finding& cause = model.findings.emplace_back();
  cause.id = "f1";
  cause.rule = cause.headline = cause.op = cause.why = cause.next_step = text;
  cause.groups.push_back({text, text, {1}});
  cause.compile_ids = {text};
  cause.source.push_back({.rank = kNone32, .file = text, .line = 1});
  cause.evidence.push_back({text, text, {0}});
  cause.explains = {1};
  cause.confidence = kNoDouble;
  model.findings.emplace_back().id = "f2";
  model.findings.back().headline = text;
  model.analyses.push_back({text, AnalysisOutcome::State::kFailed, text, 0});
}

// All scalars of a document by path; array elements are counted. False: it is no JSON.
using Values = std::map<std::string, std::string>;
Status Collect(JsonValue value, const std::string& path, Values& values) {
  if (value.kind() == JsonKind::kObject) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      return Collect(field, path.empty() ? std::string(key) : path + "." + std::string(key),
                     values);
    });
  }
  if (value.kind() == JsonKind::kArray) {
    size_t i = 0;
    return value.ForEachElement([&](JsonValue element) {
      return Collect(element, fmt::format("{}[{}]", path, i++), values);
    });
  }
  auto text = value.String();
  values[path] = std::string(text ? *text : value.Raw().value_or("?"));
  return {};
}

Values Parse(const std::string& json) {
  std::string padded = json + std::string(simdjson::SIMDJSON_PADDING, ' ');
  JsonReader reader;
  Values values;
  Status status = reader.Open(std::string_view(padded).substr(0, json.size()));
  EXPECT_TRUE(status.ok()) << status.ToString();
  if (!status.ok()) return values;
  EXPECT_FALSE(reader.repaired()) << "we must write valid UTF-8";
  status = Collect(reader.root(), "", values);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return values;
}

TEST(RunJson, EmptyModel) {
  Values values = Parse(RunJson(Model(), 0));
  EXPECT_EQ(values["schema"], "1");
  EXPECT_EQ(values["tool.name"], "debrief");
}

TEST(RunJson, ComesBack) {
  for (int indent : {0, 1, 4}) {
    Model model;
    Fill(model, "plain text");
    Values values = Parse(RunJson(model, indent));
    EXPECT_EQ(values["jobs[0].name"], "plain text");
    EXPECT_EQ(values["jobs[0].world_size"], "null");
    EXPECT_EQ(values["jobs[0].ranks[0]"], "3");
    EXPECT_EQ(values["findings[0].confidence"], "null");
    EXPECT_EQ(values["findings[0].explains[0]"], "f2");
    EXPECT_EQ(values["findings[0].source[0].rank"], "null");
    EXPECT_EQ(values["findings[0].seq"], "null");
    EXPECT_EQ(values["findings[0].evidence[0].rows[0]"], "0");
    EXPECT_EQ(values["diagnostics[0].first[0].offset"], "5");
    EXPECT_EQ(values["diagnostics[0].first[0].line"], "null");
    EXPECT_EQ(values["diagnostics[1].path"], "null");
    EXPECT_EQ(values["analyses[0].state"], "failed");
    EXPECT_EQ(values["inputs[1].job"], "null");
    EXPECT_EQ(values["inputs[1].rank"], "null");
  }
}

TEST(RunJson, HostileText) {
  Model model;
  Fill(model, kHostile);
  for (int indent : {0, 1}) {
    std::string json = RunJson(model, indent);
    EXPECT_EQ(json.find("</script"), std::string::npos);
    EXPECT_EQ(json.find('\x1b'), std::string::npos);
    Values values = Parse(json);
    std::string shown = values["findings[0].headline"];
    EXPECT_TRUE(shown.starts_with("\x1b]0;title\x07")) << "the text is kept, only escaped";
    EXPECT_EQ(values["findings[0].groups[0].desc"], shown);
    EXPECT_EQ(values["inputs[0].path"], shown);
    EXPECT_EQ(values["diagnostics[0].first[0].detail"], shown);
  }
}

const Output* FindOutput(std::string_view name) {
  for (const Output* output : AllOutputs()) {
    if (output->info.name == name) return output;
  }
  return nullptr;
}

std::string Console(const Model& model, int width, bool colour) {
  StringSink sink;
  OutputContext context{.text = &sink, .width = width, .colour = colour};
  EXPECT_TRUE(FindOutput("console")->write(model, context).ok());
  return sink.text();
}

// Takes out our own colours; what is left must have no control characters.
std::string WithoutColour(std::string text) {
  for (auto code : {"\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[33m", "\x1b[34m", "\x1b[0m"}) {
    for (size_t at; (at = text.find(code)) != std::string::npos;)
      text.erase(at, std::string(code).size());
  }
  return text;
}

TEST(Console, HostileTextNeverReachesTheTerminal) {
  Model model;
  Fill(model, kHostile);
  for (int width : {0, 1, 40, 100}) {
    for (bool colour : {false, true}) {
      std::string text = Console(model, width, colour);
      if (colour) text = WithoutColour(text);
      for (char c : text) {
        EXPECT_TRUE(c == '\n' || static_cast<uint8_t>(c) >= 0x20) << static_cast<int>(c);
        EXPECT_NE(c, '\x7f');
      }
      EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << "C1 control";
      EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << "reorders text";
      EXPECT_EQ(text.find('\xff'), std::string::npos);
      EXPECT_NE(text.find("\\x1b]0;title\\x07"), std::string::npos) << text;
    }
  }
}

TEST(Console, ColourChangesNoText) {
  Model model;
  Fill(model, "some words of a text that is long enough to be wrapped at forty columns");
  for (int width : {40, 100}) {
    std::string plain = Console(model, width, false);
    std::string coloured = Console(model, width, true);
    EXPECT_EQ(plain.find('\x1b'), std::string::npos);
    EXPECT_NE(coloured.find("\x1b["), std::string::npos);
    EXPECT_EQ(WithoutColour(coloured), plain);
  }
}

TEST(Console, KeepsTheWidth) {
  Model model;
  Fill(model, "w\xc3\xb6rds of a text that is l\xc3\xb6ng enough to be wrapped at forty");
  // A kind is a name; only the last column is cut.
  auto& inputs = model.tables.Edit<InputTable>();
  for (StringId& kind : inputs.kind) kind = model.pools.Intern("text");
  model.analyses[0].name = "analysis";
  for (int width : {40, 100}) {
    std::string text = Console(model, width, false);
    size_t columns = 0;
    std::string line;
    for (char c : text) {
      if (c == '\n') {
        EXPECT_LE(columns, static_cast<size_t>(width)) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
        columns = 0;
        line.clear();
        continue;
      }
      line += c;
      columns += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
    }
    EXPECT_EQ(text.back(), '\n');
  }
}

TEST(Console, LongListsAreCut) {
  Model model;
  model.tables.Edit<JobTable>().Add({0, model.pools.Intern("j"), 8, 1, 1});
  for (int32_t i = 0; i < 30; ++i) {
    Finding& finding = model.findings.emplace_back();
    finding.job = 0;
    finding.headline = fmt::format("finding number {}.", i);
  }
  std::string text = Console(model, 100, false);
  EXPECT_NE(text.find("finding number 3."), std::string::npos);
  EXPECT_EQ(text.find("finding number 4."), std::string::npos);
  EXPECT_NE(text.find("... and 26 more"), std::string::npos);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 15);
}

TEST(Console, EveryJobHasASectionTheWorstFirst) {
  Model model;
  for (int32_t i = 0; i < 30; ++i) {
    model.tables.Edit<JobTable>().Add({i, model.pools.Intern(fmt::format("j{}", i)), 8, 1, 1});
    for (int32_t k = 0; k < 3 && i < 25; ++k) {
      Finding& finding = model.findings.emplace_back();
      finding.job = i;
      finding.severity = i == 7 ? Severity::kError : Severity::kInfo;
      finding.headline = fmt::format("finding {} of job {}.", k, i);
    }
  }
  std::string text = Console(model, 100, false);
  EXPECT_TRUE(
      text.starts_with("j7\nerror    finding 0 of job 7.\nerror    finding 1 of job 7.\n"
                       "... and 1 more: see findings.json or --json\n\nj0\n"))
      << text.substr(0, 200);
  EXPECT_EQ(text.find("finding 2 of job"), std::string::npos);
  EXPECT_NE(text.find("... and 5 more jobs with findings"), std::string::npos);
  EXPECT_NE(text.find("No problem found\n  j25\n  j26\n  j27\n  j28\n  j29\n"), std::string::npos);
  EXPECT_NE(text.find("... and 18 more jobs: see --json"), std::string::npos);
}

TEST(Console, EmptyModel) {
  std::string text = Console(Model(), 100, false);
  EXPECT_EQ(text, "Nothing could be looked at: no input was read.\ninputs   0 inputs\n");
}

// What was looked at is said, so that a reader can tell health from a lack of data.
TEST(Console, NoProblemSaysWhatWasLookedAt) {
  Model model;
  model.tables.Edit<JobTable>().Add({0, model.pools.Intern("j"), 2, 1, 3});
  auto add = [&](int32_t rank, std::string_view kind, std::string_view state) {
    auto row = Part::RowOf<InputRow>({0, 0, 0, rank});
    row.kind = model.pools.Intern(kind);
    row.state = model.pools.Intern(state);
    model.tables.Edit<InputTable>().Add(row);
  };
  add(0, "flight_recorder", "imported");
  add(1, "flight_recorder", "imported");
  add(kNone32, "unknown", "skipped");
  std::string text = Console(model, 200, false);
  EXPECT_TRUE(
      text.starts_with("No problem found in 2 Flight Recorder dumps of ranks 0-1; 1 "
                       "input not read; no output shows how the job ended.\n"))
      << text;
  Finding& finding = model.findings.emplace_back();
  finding.headline = "work was in flight";
  finding.job = 0;
  const std::string remarked = Console(model, 200, false);
  EXPECT_NE(remarked.find("No failure found in 2 Flight"), std::string::npos) << remarked;
  EXPECT_LT(remarked.find("work was in flight"), remarked.find("No failure found"));
  finding.severity = Severity::kError;
  EXPECT_EQ(Console(model, 200, false).find("No failure found"), std::string::npos);
}

TEST(JsonOutput, WritesTheFile) {
  testing::TempFolder folder;
  Model model;
  Fill(model, kHostile);
  OutputContext context{.folder = folder.path()};
  ASSERT_TRUE(FindOutput("json")->write(model, context).ok());
  std::ifstream in(folder.File("findings.json"), std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), RunJson(model, 1));
  context.folder = folder.File("missing");
  EXPECT_FALSE(FindOutput("json")->write(model, context).ok());
}

}  // namespace text_outputs_test
}  // namespace debrief

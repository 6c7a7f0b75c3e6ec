#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <span>

#include "base/json/canonical.h"
#include "base/json/writer.h"
#include "base/text/escape.h"
#include "compat/tlparse/data_files.h"
#include "compat/tlparse/rust_text.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_string.h"
#include "torch/prefixes/glog_prefix.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kRowsPerBatch = 256;

// A string table with holes far beyond its texts is no string table (the importer says so).
constexpr int64_t kMostHoles = 1 << 20;

std::string StringTable(const Model& model, const TreePlan& plan) {
  const auto& strings = model.tables.Get<CompileStringTable>();
  std::vector<StringId> table;
  for (size_t i = 0; i < strings.size(); ++i) {
    if (strings.input[i] != plan.input) continue;
    int64_t number = strings.number[i];
    if (number > static_cast<int64_t>(table.size()) + kMostHoles) continue;
    table.resize(std::max(table.size(), static_cast<size_t>(number) + 1));
    table[static_cast<size_t>(number)] = strings.text[i];
  }
  if (table.empty()) table.push_back(StringId::kNone);
  std::string text = "{\"string_table\":[";
  for (size_t i = 0; i < table.size(); ++i) {
    if (i > 0) text += ',';
    text += table[i] == StringId::kNone ? "null" : SerdeString(model.pools.Text(table[i]));
  }
  return text + "]}\n";
}

// "1115 02:33:12.159000" of the year of `time_ns` as 2026-11-15T02:33:12.159000Z. The prefix has
// local time; what it says is kept.
std::string Timestamp(std::string_view time, int64_t time_ns) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace)
  year_month_day day(
      floor<days>(sys_time<nanoseconds>(nanoseconds(time_ns == kNone64 ? 0 : time_ns))));
  return fmt::format("\"{:04}-{}-{}T{}.{}Z\"", static_cast<int>(day.year()), time.substr(0, 2),
                     time.substr(2, 2), time.substr(5, 8), time.substr(14));
}

// Digits as a JSON number: without leading zeros, as text when no integer holds them.
std::string NumberJson(std::string_view digits) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? fmt::format("{}", number) : SerdeString(digits);
}

struct Lines {
  std::string text;
  std::vector<std::string> conflicts;
  int64_t refused = 0;
  Status status;
};

class LineMaker {
 public:
  LineMaker(const Model& model, const TreePlan& plan)
      : model_(model), entries_(model.tables.Get<CompileEntryTable>()), plan_(plan) {}

  Lines Make(size_t begin, size_t end) const {
    Lines lines;
    for (size_t i = begin; i < end && lines.status.ok(); ++i) lines.status = Append(i, lines);
    return lines;
  }

 private:
  Status Append(size_t i, Lines& lines) const {
    thread_local JsonCanonical canonical;
    size_t row = plan_.raw_rows[i];
    ASSIGN_OR_RETURN(ByteView header, HeaderLine(model_, entries_, row));
    auto prefix = FindGlogPrefix(header.text());
    if (!prefix) return {};  // the file changed
    std::string pathname = SerdeString(prefix->path);
    std::string timestamp = Timestamp(prefix->time, entries_.time_ns[row]);
    std::string thread = NumberJson(prefix->thread);
    std::string line = NumberJson(prefix->line);
    int32_t file = plan_.raw_files[i];
    std::string payload =
        file == kNone32 ? "" : SerdeString(plan_.files[static_cast<size_t>(file)].path);
    const JsonExtraField fields[] = {{"timestamp", timestamp},
                                     {"thread", thread},
                                     {"pathname", pathname},
                                     {"lineno", line},
                                     {"payload_filename", payload}};
    std::span<const JsonExtraField> added(fields, file == kNone32 ? 4 : 5);
    std::string_view json = header.text().substr(prefix->rest);
    using Outcome = JsonCanonical::Added::Outcome;
    auto outcome = canonical.AppendAdding(json, added, JsonCanonical::kCompact, lines.text);
    if (outcome.outcome == Outcome::kRefused) {
      std::string repaired = ValidUtf8(json);
      outcome = canonical.AppendAdding(repaired, added, JsonCanonical::kCompact, lines.text);
    }
    if (outcome.outcome == Outcome::kWritten) lines.text += '\n';
    if (outcome.outcome == Outcome::kRefused) ++lines.refused;
    if (outcome.outcome == Outcome::kConflict)
      lines.conflicts.emplace_back(fields[outcome.conflict].key);
    return {};
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  const TreePlan& plan_;
};

void WriteListed(const ListedFile& file, JsonWriter& json) {
  json.BeginObject().Field("name", file.name).Field("number", file.number).Key("readable_url");
  if (file.has_readable) {
    json.Value(file.readable_url);
  } else {
    json.Null();
  }
  json.Field("suffix", file.suffix).Field("url", file.url).EndObject();
}

}  // namespace

Status WriteRawLog(const Model& model, const TreePlan& plan, FileSink& sink) {
  constexpr size_t kPiece = 4 << 20;
  const Source* source = model.sources[static_cast<size_t>(plan.input)].get();
  ASSIGN_OR_RETURN(auto stream, sink.Open("raw.log"));
  uint64_t size = source == nullptr ? 0 : source->size();
  for (uint64_t at = 0; at < size; at += kPiece) {
    ASSIGN_OR_RETURN(ByteView piece, source->View(at, kPiece));
    TRY(stream.Append(piece.text()));
  }
  return {};
}

Status WriteRawLines(const Model& model, TreePlan& plan, ThreadPool& pool, FileSink& sink) {
  ASSIGN_OR_RETURN(auto stream, sink.Open("raw.jsonl"));
  TRY(stream.Append(StringTable(model, plan)));
  size_t count = plan.raw_rows.size();
  LineMaker maker(model, plan);
  Status status;
  pool.MapInOrder<Lines>(
      (count + kRowsPerBatch - 1) / kRowsPerBatch,
      [&](size_t i) {
        return maker.Make(i * kRowsPerBatch, std::min(count, (i + 1) * kRowsPerBatch));
      },
      [&](size_t, Lines&& lines) {
        if (status.ok()) status = std::move(lines.status);
        if (status.ok()) status = stream.Append(lines.text);
        plan.stats.fail_json_serialization += lines.refused;
        plan.stats.fail_key_conflict += static_cast<int64_t>(lines.conflicts.size());
        for (const std::string& key : lines.conflicts) {
          plan.messages.push_back(
              fmt::format("Key conflict: '{}' already exists in JSON payload, skipping raw.jsonl "
                          "JSONL conversion",
                          key));
        }
      });
  return status;
}

std::string DirectoryJson(const TreePlan& plan) {
  std::string compact;
  JsonWriter json(&compact);
  json.BeginObject();
  for (const Compilation& compilation : plan.compilations) {
    json.Key(compilation.key).BeginObject().Key("artifacts").BeginArray();
    for (const ListedFile& file : compilation.files) WriteListed(file, json);
    json.EndArray().EndObject();
  }
  json.EndObject();
  std::string pretty;
  JsonCanonical().Append(compact, JsonCanonical::kPretty, pretty);
  return pretty;
}

}  // namespace debrief::outputs::tlparse_tree

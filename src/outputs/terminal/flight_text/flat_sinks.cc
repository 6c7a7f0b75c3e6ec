#include "outputs/terminal/flight_text/flat_sinks.h"

#include <fmt/format.h>

#include <utility>

#include "base/text/safe_name.h"

namespace debrief::outputs::flight_text {

namespace {

// As the analyzer calls them.
constexpr std::pair<std::string_view, std::string_view> kTitles[] = {{"groups", "Groups"},
                                                                     {"memberships", "Memberships"},
                                                                     {"collectives", "Collectives"},
                                                                     {"ncclcalls", "NCCLCalls"},
                                                                     {"tracebacks", "Tracebacks"}};

std::string_view TitleOf(std::string_view table) {
  for (const auto& [name, title] : kTitles) {
    if (name == table) return title;
  }
  return {};
}

// The analyzer's table of groups has no names: they are the beginnings of the ids.
bool IsShown(std::string_view table, std::string_view column) {
  return table != "groups" || column != "name";
}

Cell CellOf(JsonValue value) {
  switch (value.kind()) {
    case JsonKind::kNull:
      return {};
    case JsonKind::kBool:
      return value.Bool().value_or(false) ? "True" : "False";
    case JsonKind::kString:
      return Printable(value.String().value_or(""));
    default:
      return Printable(value.Raw().value_or(""));
  }
}

}  // namespace

Status JsonSink::Begin(const FlatTable& table) {
  is_first_row_ = true;
  return append_(fmt::format(",\n\"{}\": [", table.name));
}

Status JsonSink::Row(std::string_view json) {
  TRY(append_(is_first_row_ ? "\n" : ",\n"));
  is_first_row_ = false;
  return append_(json);
}

Status PickleSink::Begin(const FlatTable& table) {
  pickle_.Key(table.name).BeginList();
  rows_ = 0;
  return Flush();
}

Status PickleSink::Row(std::string_view json) {
  constexpr size_t kPiece = 1000;  // as Python's own pickler
  if (++rows_ % kPiece == 0) pickle_.NextPiece();
  TRY(reader_.OpenElements(json));
  TRY(reader_.root().ForEachElement([&](JsonValue row) { return Put(row); }));
  return Flush();
}

Status PickleSink::End(const FlatTable&) {
  pickle_.EndList();
  return Flush();
}

Status PickleSink::Finish() {
  pickle_.EndDict().Stop();
  return Flush();
}

Status PickleSink::Flush() {
  TRY(append_(out_));
  out_.clear();
  return {};
}

Status PickleSink::Put(JsonValue value) {
  switch (value.kind()) {
    case JsonKind::kBool:
      pickle_.Bool(value.Bool().value_or(false));
      return {};
    case JsonKind::kNumber:
      if (auto number = value.Int()) {
        pickle_.Int(*number);
      } else {
        pickle_.Double(value.Double().value_or(0));
      }
      return {};
    case JsonKind::kString:
      pickle_.Text(value.String().value_or(""));
      return {};
    case JsonKind::kArray:
      pickle_.BeginList();
      TRY(value.ForEachElement([&](JsonValue item) { return Put(item); }));
      pickle_.EndList();
      return {};
    case JsonKind::kObject:
      pickle_.BeginDict();
      TRY(value.ForEachField([&](std::string_view key, JsonValue item) {
        pickle_.Key(key);
        return Put(item);
      }));
      pickle_.EndDict();
      return {};
    default:
      pickle_.Null();
      return {};
  }
}

Status TextTableSink::Begin(const FlatTable& table) {
  title_ = TitleOf(table.name);
  heads_.clear();
  rows_.clear();
  for (const FlatColumn& column : table.columns) {
    if (IsShown(table.name, column.name)) heads_.emplace_back(column.name);
  }
  return {};
}

Status TextTableSink::Row(std::string_view json) {
  if (title_.empty()) return {};
  std::vector<Cell>& row = rows_.emplace_back(heads_.size());
  TRY(reader_.OpenElements(json));
  return reader_.root().ForEachElement([&](JsonValue object) {
    return object.ForEachField([&](std::string_view key, JsonValue value) {
      for (size_t i = 0; i < heads_.size(); ++i) {
        if (heads_[i] == key) row[i] = CellOf(value);
      }
    });
  });
}

Status TextTableSink::End(const FlatTable&) {
  if (title_.empty()) return {};
  log_.Info(title_);
  log_.Info(Tabulate(heads_, rows_));
  rows_.clear();
  return {};
}

}  // namespace debrief::outputs::flight_text

#include "outputs/table_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace debrief {

namespace {

Cell Integer(int64_t value, bool is_none) {
  return is_none ? Cell{} : Cell{.kind = Cell::kInteger, .integer = value};
}

Cell Text(std::string text) { return {.kind = Cell::kText, .text = std::move(text)}; }

std::string FrameText(const Pools& pools, FrameId id) {
  const Frame& frame = pools.GetFrame(id);
  return fmt::format("{}:{} in {}", pools.Text(frame.file), frame.line, pools.Text(frame.function));
}

std::string StackText(const Pools& pools, StackId stack) {
  std::string text;
  for (FrameId id : pools.GetStack(stack)) {
    if (!text.empty()) text += '\n';
    text += FrameText(pools, id);
  }
  return text;
}

}  // namespace

std::optional<size_t> FindColumn(const TableInfo& table, std::string_view name) {
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (table.columns[i].name == name) return i;
  return std::nullopt;
}

Cell ReadCell(const Pools& pools, const Table& table, size_t column, size_t row) {
  switch (table.info().columns[column].type) {
    case ColumnType::kInt32: {
      auto value = ValueAt<int32_t>(table, column, row);
      return Integer(value, value == kNone32);
    }
    case ColumnType::kInt64: {
      auto value = ValueAt<int64_t>(table, column, row);
      return Integer(value, value == kNone64);
    }
    case ColumnType::kDouble: {
      auto value = ValueAt<double>(table, column, row);
      return std::isnan(value) ? Cell{} : Cell{.kind = Cell::kReal, .real = value};
    }
    case ColumnType::kBool:
      return {.kind = Cell::kFlag, .integer = ValueAt<uint8_t>(table, column, row)};
    case ColumnType::kString: {
      auto id = ValueAt<StringId>(table, column, row);
      return id == StringId::kNone ? Cell{} : Text(std::string(pools.Text(id)));
    }
    case ColumnType::kList: {
      auto id = ValueAt<ListId>(table, column, row);
      if (id == ListId::kNone) return {};
      return Text(fmt::format("[{}]", fmt::join(pools.lists.Get(id), ", ")));
    }
    case ColumnType::kStack: {
      auto id = ValueAt<StackId>(table, column, row);
      return id == StackId::kNone ? Cell{} : Text(StackText(pools, id));
    }
  }
  return {};
}

double SortKey(const Cell& cell) {
  if (cell.kind == Cell::kInteger) return static_cast<double>(cell.integer);
  return cell.kind == Cell::kReal ? cell.real : -1;
}

namespace {

void WriteCell(const Pools& pools, const Table& table, size_t column, size_t row,
               JsonWriter& json) {
  const ColumnInfo& info = table.info().columns[column];
  if (info.type == ColumnType::kString) {  // without a copy
    const auto id = ValueAt<StringId>(table, column, row);
    if (id != StringId::kNone) json.Field(info.name, pools.Text(id));
  } else if (info.type == ColumnType::kList) {
    const auto id = ValueAt<ListId>(table, column, row);
    if (id == ListId::kNone) return;
    json.Array(info.name, pools.lists.Get(id), [&](int64_t value) { json.Value(value); });
  } else if (info.type == ColumnType::kStack) {
    const auto id = ValueAt<StackId>(table, column, row);
    if (id == StackId::kNone) return;
    json.Array(info.name, pools.GetStack(id),
               [&](FrameId one) { json.Value(FrameText(pools, one)); });
  } else {
    const Cell cell = ReadCell(pools, table, column, row);
    if (cell.kind == Cell::kInteger) json.Field(info.name, cell.integer);
    if (cell.kind == Cell::kReal) json.Field(info.name, cell.real);
    if (cell.kind == Cell::kFlag) json.Field(info.name, cell.integer != 0);
  }
}

}  // namespace

void WriteRow(const Model& model, const Table& table, size_t row, JsonWriter& json) {
  json.BeginObject();
  for (size_t column = 0; column < table.info().columns.size(); ++column)
    WriteCell(model.pools, table, column, row, json);
  json.EndObject();
}

void WriteRows(const Model& model, const Table& table, size_t most, JsonWriter& json) {
  json.BeginArray();
  for (size_t row = 0; row < std::min(most, table.size()); ++row) WriteRow(model, table, row, json);
  json.EndArray();
}

}  // namespace debrief

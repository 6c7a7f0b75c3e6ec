#include "outputs/table_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace debrief {

namespace {

void WriteStack(const Model& model, StackId stack, JsonWriter& json) {
  json.BeginArray();
  for (FrameId id : model.pools.GetStack(stack)) {
    const Frame& frame = model.pools.GetFrame(id);
    json.Value(fmt::format("{}:{} in {}", model.pools.Text(frame.file), frame.line,
                           model.pools.Text(frame.function)));
  }
  json.EndArray();
}

void WriteList(const Model& model, ListId list, JsonWriter& json) {
  json.BeginArray();
  for (int64_t value : model.pools.lists.Get(list)) json.Value(value);
  json.EndArray();
}

void WriteCell(const Model& model, const Table& table, size_t column, size_t row,
               JsonWriter& json) {
  const ColumnInfo& info = table.info().columns[column];
  auto number = [&](auto value, bool is_none) {
    if (!is_none) json.Field(info.name, value);
  };
  switch (info.type) {
    case ColumnType::kInt32: {
      int32_t value = ValueAt<int32_t>(table, column, row);
      return number(value, value == kNone32);
    }
    case ColumnType::kInt64: {
      int64_t value = ValueAt<int64_t>(table, column, row);
      return number(value, value == kNone64);
    }
    case ColumnType::kDouble: {
      double value = ValueAt<double>(table, column, row);
      return number(value, std::isnan(value));
    }
    case ColumnType::kBool:
      json.Field(info.name, ValueAt<uint8_t>(table, column, row) != 0);
      return;
    case ColumnType::kString: {
      StringId value = ValueAt<StringId>(table, column, row);
      if (value != StringId::kNone) json.Field(info.name, model.pools.Text(value));
      return;
    }
    case ColumnType::kList: {
      ListId value = ValueAt<ListId>(table, column, row);
      if (value != ListId::kNone) WriteList(model, value, json.Key(info.name));
      return;
    }
    case ColumnType::kStack: {
      StackId value = ValueAt<StackId>(table, column, row);
      if (value != StackId::kNone) WriteStack(model, value, json.Key(info.name));
      return;
    }
  }
}

}  // namespace

void WriteRow(const Model& model, const Table& table, size_t row, JsonWriter& json) {
  json.BeginObject();
  for (size_t column = 0; column < table.info().columns.size(); ++column)
    WriteCell(model, table, column, row, json);
  json.EndObject();
}

void WriteRows(const Model& model, const Table& table, size_t most, JsonWriter& json) {
  json.BeginArray();
  for (size_t row = 0; row < std::min(most, table.size()); ++row) WriteRow(model, table, row, json);
  json.EndArray();
}

}  // namespace debrief

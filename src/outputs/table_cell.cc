#include "outputs/table_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace debrief {

namespace {

Cell Integer(int64_t value, bool is_none) {
  return is_none ? Cell{} : Cell{.kind = Cell::kInteger, .integer = value};
}

Cell Text(std::string text) { return {.kind = Cell::kText, .text = std::move(text)}; }

std::string StackText(const Pools& pools, StackId stack) {
  std::string text;
  for (FrameId id : pools.GetStack(stack)) {
    const Frame& frame = pools.GetFrame(id);
    text += fmt::format("{}{}:{} in {}", text.empty() ? "" : "\n", pools.Text(frame.file),
                        frame.line, pools.Text(frame.function));
  }
  return text;
}

}  // namespace

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

}  // namespace debrief

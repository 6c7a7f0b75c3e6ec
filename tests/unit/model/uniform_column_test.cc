#include "model/uniform_column.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tables/comm_op.h"

namespace debrief {
namespace {

template <typename T>
std::vector<T> ValuesOf(const UniformColumn<T>& column) {
  std::vector<T> values;
  for (size_t row = 0; row < column.size(); ++row) values.push_back(column[row]);
  return values;
}

UniformColumn<int32_t> ColumnOf(const std::vector<int32_t>& values) {
  UniformColumn<int32_t> column;
  for (int32_t value : values) column.push_back(value);
  return column;
}

int32_t Same(int32_t value) { return value; }
int32_t Twice(int32_t value) { return 2 * value; }

TEST(UniformColumn, HoldsWhatWasPushed) {
  const std::vector<std::vector<int32_t>> lists = {{}, {0}, {7, 7, 7}, {7, 7, 8, 7}, {1, 2}};
  for (const auto& values : lists) {
    EXPECT_EQ(ValuesOf(ColumnOf(values)), values);
    for (const auto& more : lists) {
      UniformColumn<int32_t> joined = ColumnOf(values);
      joined.reserve(3);
      joined.Append(ColumnOf(more), Twice);
      std::vector<int32_t> wanted = values;
      for (int32_t value : more) wanted.push_back(2 * value);
      EXPECT_EQ(ValuesOf(joined), wanted);
      joined.Append(ColumnOf(values), Same);
      wanted.insert(wanted.end(), values.begin(), values.end());
      EXPECT_EQ(ValuesOf(joined), wanted);
    }
  }
}

TEST(UniformColumn, RowsCanBeSetAndTranslated) {
  UniformColumn<int32_t> column = ColumnOf({3, 3, 3});
  column.Set(1, 3);
  EXPECT_EQ(ValuesOf(column), (std::vector<int32_t>{3, 3, 3}));
  column.Translate(Twice);
  EXPECT_EQ(ValuesOf(column), (std::vector<int32_t>{6, 6, 6}));
  column.Set(1, 5);
  column.Translate(Twice);
  EXPECT_EQ(ValuesOf(column), (std::vector<int32_t>{12, 10, 12}));
}

// Tables that know their columns by number alone.
TEST(UniformColumn, IsAColumnOfATable) {
  CommOpTable first, second;
  for (int32_t i = 0; i < 3; ++i) {
    CommOpRow row;
    row.job = 1;
    row.record = i;
    row.src = i == 2 ? 9 : kNone32;
    row.thread = StringId{1};
    first.Add(row);
    row.src = kNone32;
    second.Add(row);
  }
  Remap remap;
  remap.strings = {StringId::kNone, StringId{4}};
  remap.lists = {ListId::kNone};
  remap.stacks = {StackId::kNone};
  second.Append(first, remap);
  ASSERT_EQ(second.size(), 6u);
  EXPECT_EQ(ValuesOf(second.src),
            (std::vector<int32_t>{kNone32, kNone32, kNone32, kNone32, kNone32, 9}));
  EXPECT_EQ(second.thread[0], StringId{1});
  EXPECT_EQ(second.thread[5], StringId{4});
  const std::vector<uint32_t> rows = {5, 0};
  second.Gather(rows);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(ValuesOf(second.src), (std::vector<int32_t>{9, kNone32}));
  EXPECT_EQ(ValuesOf(second.job), (std::vector<int32_t>{1, 1}));
}

}  // namespace
}  // namespace debrief

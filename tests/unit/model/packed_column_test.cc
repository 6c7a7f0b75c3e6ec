#include "model/packed_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace debrief {
namespace packed_column_test {

template <typename T>
PackedColumn<T> Packed(const std::vector<T>& values) {
  PackedColumn<T> column;
  for (T value : values) column.push_back(value);
  return column;
}

template <typename T>
std::vector<T> Values(const PackedColumn<T>& column) {
  return std::vector<T>(column.begin(), column.end());
}

// Values whose differences take `bits` bits, with a null now and then.
std::vector<int64_t> Numbers(int bits, size_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(bits));
  std::vector<int64_t> values;
  for (size_t i = 0; i < count; ++i) {
    uint64_t number = bits == 0 ? 7 : random() >> (64 - bits);
    values.push_back(i % 97 == 5 ? kNone64 : static_cast<int64_t>(number));
  }
  return values;
}

TEST(PackedColumn, GivesBackValuesOfEveryWidth) {
  for (int bits = 0; bits <= 64; ++bits) {
    std::vector<int64_t> values = Numbers(bits, 2500);
    EXPECT_EQ(Values(Packed(values)), values) << bits << " bits";
  }
}

TEST(PackedColumn, HoldsTheEndsOfItsType) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min() + 1;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> values(3000, 0);
  values[0] = kLeast, values[1] = kMost, values[2] = kNone64, values[1500] = kMost;
  EXPECT_EQ(Values(Packed(values)), values);
  std::vector<int32_t> narrow(3000, std::numeric_limits<int32_t>::max());
  narrow[7] = kNone32, narrow[8] = -1;
  EXPECT_EQ(Values(Packed(narrow)), narrow);
  std::vector<StringId> ids(3000, StringId{~0U});
  ids[9] = StringId::kNone;
  EXPECT_EQ(Values(Packed(ids)), ids);
}

TEST(PackedColumn, MayBeChangedAnywhere) {
  std::vector<int64_t> values = Numbers(20, 5000);
  PackedColumn<int64_t> column = Packed(values);
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    size_t row = random() % values.size();
    column[row] = values[row] = i % 7 == 0 ? kNone64 : int64_t{1} << (i % 63);
  }
  column.push_back(3);
  values.push_back(3);
  EXPECT_EQ(Values(column), values);
}

TEST(PackedColumn, IsSearchedLikeAnArray) {
  std::vector<size_t> values(4000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i * 3;
  PackedColumn<size_t> column = Packed(values);
  auto found = std::lower_bound(column.begin(), column.end(), size_t{6001});
  EXPECT_EQ(found - column.begin(), 2001);
  EXPECT_EQ(*found, 6003u);
  EXPECT_EQ(column.front(), 0u);
  EXPECT_EQ(column.back(), 11997u);
}

}  // namespace packed_column_test
}  // namespace debrief

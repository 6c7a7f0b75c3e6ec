#include "base/pools/sequence_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace debrief {
namespace sequence_pool_test {

enum class ListId : uint32_t { kNone = 0 };
using Pool = SequencePool<int64_t, ListId>;
using Values = std::vector<int64_t>;

Values Get(const Pool& pool, ListId id) {
  auto values = pool.Get(id);
  return {values.begin(), values.end()};
}

TEST(SequencePool, StoresOnce) {
  Pool pool;
  ListId ranks = pool.Intern(Values{0, 1, 2});
  EXPECT_EQ(pool.Intern(Values{0, 1, 2}), ranks);
  EXPECT_NE(pool.Intern(Values{0, 1}), ranks);
  EXPECT_NE(pool.Intern(Values{2, 1, 0}), ranks);
  EXPECT_EQ(Get(pool, ranks), (Values{0, 1, 2}));
  EXPECT_EQ(pool.size(), 4u);
}

TEST(SequencePool, NoListIsNotTheEmptyList) {
  Pool pool;
  ListId empty = pool.Intern({});
  EXPECT_NE(empty, ListId::kNone);
  EXPECT_TRUE(pool.Get(empty).empty());
  EXPECT_TRUE(pool.Get(ListId::kNone).empty());
}

// Values of 1 to 8 bytes between others of odd sizes: each must come back aligned.
TEST(SequencePool, ValuesAreAligned) {
  SequencePool<uint8_t, ListId> bytes;
  Pool pool;
  for (size_t size = 0; size < 300; ++size) {
    Values values(size);
    std::iota(values.begin(), values.end(), static_cast<int64_t>(size));
    ListId id = pool.Intern(values);
    auto stored = pool.Get(id);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(stored.data()) % alignof(int64_t), 0u);
    EXPECT_EQ(Get(pool, id), values);
    bytes.Intern(std::vector<uint8_t>(size, 7));
  }
  EXPECT_EQ(bytes.size(), 301u);
}

TEST(SequencePool, AbsorbsThroughAMap) {
  Pool whole;
  ListId there = whole.Intern(Values{11, 12});
  Pool part;
  ListId mapped = part.Intern(Values{1, 2});
  ListId fresh = part.Intern(Values{5});
  ListId empty = part.Intern({});
  auto ids = whole.Absorb(part, [](int64_t value) { return value + 10; });
  ASSERT_EQ(ids.size(), part.size());
  EXPECT_EQ(ids[0], ListId::kNone);
  EXPECT_EQ(ids[static_cast<uint32_t>(mapped)], there);
  EXPECT_EQ(Get(whole, ids[static_cast<uint32_t>(fresh)]), (Values{15}));
  EXPECT_NE(ids[static_cast<uint32_t>(empty)], ListId::kNone);
  EXPECT_EQ(Get(part, mapped), (Values{1, 2}));
}

// Two lists may become one when the map joins values.
TEST(SequencePool, AbsorbJoinsWhatBecomesEqual) {
  Pool whole;
  Pool part;
  part.Intern(Values{1});
  part.Intern(Values{2});
  auto ids = whole.Absorb(part, [](int64_t) { return int64_t{0}; });
  EXPECT_EQ(ids[1], ids[2]);
  EXPECT_EQ(whole.size(), 2u);
}

}  // namespace sequence_pool_test
}  // namespace debrief

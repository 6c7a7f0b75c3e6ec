#include "base/bytes/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <unordered_set>
#include <vector>

namespace debrief {
namespace hash_test {

TEST(Hash, ReadsEveryByteAndNoOther) {
  for (size_t size = 0; size <= 100; ++size) {
    std::vector<char> exact(size, 'x');  // a sanitizer sees a byte read too many
    std::string_view text(exact.data(), size);
    uint64_t hash = HashBytes(text);
    EXPECT_EQ(hash, HashBytes(std::string(size, 'x')));
    for (size_t i = 0; i < size; ++i) {
      exact[i] = 'y';
      EXPECT_NE(HashBytes(text), hash) << size << " " << i;
      exact[i] = 'x';
    }
  }
}

TEST(Hash, LengthMatters) {
  std::unordered_set<uint64_t> hashes;
  for (size_t size = 0; size < 1000; ++size) hashes.insert(HashBytes(std::string(size, '\0')));
  EXPECT_EQ(hashes.size(), 1000u);
}

// Tables use the low bits: similar names must spread over them.
TEST(Hash, SimilarNamesSpread) {
  std::vector<int> buckets(1024);
  for (int i = 0; i < 102'400; ++i) {
    ++buckets[HashBytes("void at::native::kernel<" + std::to_string(i) + ">") % 1024];
  }
  for (int count : buckets) {
    EXPECT_GT(count, 40);
    EXPECT_LT(count, 200);
  }
}

TEST(Hash, OneBitChangesHalfOfTheBits) {
  double changed = 0;
  int trials = 0;
  for (size_t size : {1u, 4u, 8u, 12u, 16u, 24u, 40u}) {
    for (size_t bit = 0; bit < size * 8; ++bit) {
      std::string text(size, 'k');
      uint64_t before = HashBytes(text);
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
      changed += std::popcount(before ^ HashBytes(text));
      ++trials;
    }
  }
  EXPECT_NEAR(changed / trials, 32, 3);
}

}  // namespace hash_test
}  // namespace debrief

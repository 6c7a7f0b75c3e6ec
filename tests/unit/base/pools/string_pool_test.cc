#include "base/pools/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace debrief {
namespace string_pool_test {

TEST(StringPool, StoresOnceInOrder) {
  StringPool pool;
  EXPECT_EQ(pool.size(), 1u);
  StringId a = pool.Intern("a");
  StringId b = pool.Intern("b");
  EXPECT_EQ(static_cast<uint32_t>(a), 1u);
  EXPECT_EQ(static_cast<uint32_t>(b), 2u);
  EXPECT_EQ(pool.Intern(std::string("a")), a);
  EXPECT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool.Get(a), "a");
}

TEST(StringPool, NoStringIsNotTheEmptyString) {
  StringPool pool;
  EXPECT_EQ(pool.Get(StringId::kNone), "");
  StringId empty = pool.Intern("");
  EXPECT_NE(empty, StringId::kNone);
  EXPECT_EQ(pool.Intern(std::string_view()), empty);
  EXPECT_NE(pool.Intern(std::string_view("\0", 1)), empty);
}

TEST(StringPool, GrowsAndKeepsViews) {
  StringPool pool;
  std::vector<std::string_view> views;
  for (int i = 0; i < 100'000; ++i) {
    StringId id = pool.Intern("name " + std::to_string(i));
    ASSERT_EQ(static_cast<int>(id), i + 1);
    views.push_back(pool.Get(id));
  }
  for (int i = 0; i < 100'000; ++i) {
    std::string name = "name " + std::to_string(i);
    ASSERT_EQ(static_cast<int>(pool.Intern(name)), i + 1);
    ASSERT_EQ(views[static_cast<size_t>(i)], name);
  }
  EXPECT_EQ(pool.size(), 100'001u);
}

TEST(StringPool, AbsorbsAnotherInItsOrder) {
  StringPool whole;
  whole.Intern("x");
  whole.Intern("b");
  StringPool part;
  part.Intern("a");
  part.Intern("b");
  part.Intern("");
  std::vector<StringId> ids = whole.Absorb(part);
  ASSERT_EQ(ids.size(), part.size());
  EXPECT_EQ(ids[0], StringId::kNone);
  for (uint32_t i = 1; i < part.size(); ++i) EXPECT_EQ(whole.Get(ids[i]), part.Get(StringId{i}));
  EXPECT_EQ(static_cast<uint32_t>(ids[1]), 3u);  // new
  EXPECT_EQ(static_cast<uint32_t>(ids[2]), 2u);  // was there
  EXPECT_EQ(whole.size(), 5u);
  std::vector<StringId> same = whole.Absorb(whole);
  for (uint32_t i = 0; i < whole.size(); ++i) EXPECT_EQ(same[i], StringId{i});
}

TEST(StringPool, KeptTextsAreNotCopied) {
  const std::string kept(1000, 'k'), same(1000, 'k');
  StringPool part, other, whole;
  const StringId first = part.InternKept(kept, StringPool::HashOf(kept));
  EXPECT_EQ(part.Intern(same), first);
  EXPECT_EQ(whole.Get(whole.Absorb(part)[1]).data(), kept.data());
  other.Intern("before");
  other.Intern(same);
  EXPECT_EQ(static_cast<uint32_t>(whole.Absorb(other)[2]), 1u) << "found by its bytes";
  EXPECT_EQ(whole.Get(StringId{2}), "before");
  EXPECT_NE(whole.Get(StringId{2}).data(), other.Get(StringId{1}).data());
}

TEST(StringPool, Moves) {
  StringPool first;
  StringId id = first.Intern("kept");
  StringPool second = std::move(first);
  EXPECT_EQ(second.Get(id), "kept");
  EXPECT_EQ(second.Intern("kept"), id);
}

}  // namespace string_pool_test
}  // namespace debrief

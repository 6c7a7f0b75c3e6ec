// Names of the tree: numbers, and names that a log chose.
#include <gtest/gtest.h>

#include "compat/tlparse/names.h"
#include "compat/tlparse/plan.h"

namespace debrief::outputs::tlparse_tree {
namespace tlparse_tree_names_test {

TEST(TreeNames, NumbersStandBeforeTheLastDot) {
  EXPECT_EQ(Numbered("graph.txt", 7), "graph_7.txt");
  EXPECT_EQ(Numbered("no.dots.here.txt", 9), "no.dots.here_9.txt");
  EXPECT_EQ(Numbered("plain", 0), "plain_0");
  EXPECT_EQ(Numbered("a.b/plain", 1), "a.b/plain_1");
}

TEST(TreeNames, HarmlessNamesStay) {
  for (const char* name : {"graph.txt", "a b: c.json", "sub/part.txt", "\xc3\xa9.txt", "..."})
    EXPECT_EQ(InsidePath(name), name);
}

TEST(TreeNames, NothingLeavesTheFolder) {
  EXPECT_EQ(InsidePath("../../evil.txt"), "__/__/evil.txt");
  EXPECT_EQ(InsidePath("/etc/passwd"), "etc/passwd");
  EXPECT_EQ(InsidePath("a//./b"), "a/_/b");
  EXPECT_EQ(InsidePath(""), "_");
  EXPECT_EQ(InsidePath("/"), "_");
  EXPECT_EQ(InsidePath(std::string_view("a\0b\n\\", 5)), "a_b__");
  EXPECT_EQ(InsidePath("\xff"), "\xef\xbf\xbd");
}

TEST(TreeNames, LongPartsAreCutAndStayDifferent) {
  std::string a = InsidePath(std::string(5000, 'x') + "a.json");
  std::string b = InsidePath(std::string(5000, 'x') + "b.json");
  EXPECT_LE(a.size(), 220u);
  EXPECT_NE(a, b);
  EXPECT_TRUE(a.ends_with(".json")) << a;
}

TEST(TreeNames, StemOfAPath) {
  EXPECT_EQ(StemOf("/tmp/x/cabc.py"), "cabc");
  EXPECT_EQ(StemOf("cabc"), "cabc");
  EXPECT_EQ(StemOf(".hidden"), ".hidden");
  EXPECT_EQ(StemOf("a.b/c"), "c");
}

TEST(TreeStats, PrintsWhatIsNotZero) {
  EXPECT_EQ(Stats{}.Text(), "Stats { }");
  Stats stats;
  stats.ok = 64;
  stats.unknown = 1;
  EXPECT_EQ(stats.Text(), "Stats { ok: 64, unknown: 1 }");
  EXPECT_FALSE(stats.Failed()) << "unknown keys are no failure";
  stats.fail_payload_md5 = 1;
  EXPECT_TRUE(stats.Failed());
}

}  // namespace tlparse_tree_names_test
}  // namespace debrief::outputs::tlparse_tree

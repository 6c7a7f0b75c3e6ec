#include "base/text/safe_name.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace debrief {
namespace safe_name_test {

TEST(SafeName, KeepsWhatIsHarmless) {
  EXPECT_EQ(SafeName("graph_0-1.2.py"), "graph_0-1.2.py");
  EXPECT_EQ(SafeName("a b/c\\d:e"), "a_b_c_d_e");
  EXPECT_EQ(SafeName("\xC3\xA9"), "__");
}

TEST(SafeName, LeavesNoWayOut) {
  EXPECT_EQ(SafeName(""), "_");
  EXPECT_EQ(SafeName("."), "_");
  EXPECT_EQ(SafeName(".."), "__");
  EXPECT_EQ(SafeName("../../etc/passwd"), "_._.._etc_passwd");
  EXPECT_EQ(SafeName("-rf"), "_rf");
  EXPECT_EQ(SafeName(".bashrc"), "_bashrc");
  EXPECT_EQ(SafeName(std::string_view("a\0b", 3)), "a_b");
  EXPECT_EQ(SafeName("x."), "x_");
}

TEST(SafeName, AvoidsDevices) {
  EXPECT_EQ(SafeName("con"), "_con");
  EXPECT_EQ(SafeName("Lpt1.txt"), "_Lpt1.txt");
  EXPECT_EQ(SafeName("nul.tar.gz"), "_nul.tar.gz");
  EXPECT_EQ(SafeName("console"), "console");
  EXPECT_EQ(SafeName("com"), "com");
}

TEST(SafeName, LongNamesStayDifferent) {
  std::string exact(120, 'a');
  EXPECT_EQ(SafeName(exact), exact);
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(SafeName(std::string(200, 'a') + std::to_string(i)));
  EXPECT_EQ(names.size(), 100u);
  for (const std::string& name : names) EXPECT_LE(name.size(), 120u);
}

TEST(SafeName, HoldsItsPromisesForAnyBytes) {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (size_t n = random() % (i % 10 == 0 ? 200 : 6); n > 0; --n) {
      name += random() % 3 ? ".-_/cConNuU1"[random() % 12] : static_cast<char>(random() % 256);
    }
    std::string safe = SafeName(name);
    ASSERT_FALSE(safe.empty());
    ASSERT_LE(safe.size(), 120u);
    ASSERT_NE(safe[0], '.');
    ASSERT_NE(safe[0], '-');
    ASSERT_EQ(
        safe.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
        std::string::npos);
    ASSERT_EQ(SafeName(safe), safe);
  }
}

TEST(Printable, ShowsControlCharacters) {
  EXPECT_EQ(Printable("caf\xC3\xA9.json"), "caf\xC3\xA9.json");
  EXPECT_EQ(Printable("\x1B[31mred\x07\n"), "\\x1b[31mred\\x07\\x0a");
  EXPECT_EQ(Printable("\x7F"), "\\x7f");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");                                       // CSI as one character
  EXPECT_EQ(Printable("a\xE2\x80\xAEgpj"), "a\\xe2\\x80\\xaegpj");  // right-to-left override
  EXPECT_EQ(Printable("\xE2\x81\xA6"), "\\xe2\\x81\\xa6");
  EXPECT_EQ(Printable("\xC2\xA0\xE2\x80\xA9"), "\xC2\xA0\xE2\x80\xA9");
  EXPECT_EQ(Printable("\xFFx"), "\xEF\xBF\xBDx");
}

TEST(PrintableLines, NothingMovesACursorOrTurnsText) {
  EXPECT_EQ(PrintableLines("a\tb\nc\n", false), "a\tb\nc\n");
  EXPECT_EQ(PrintableLines("\x1b[2J\x07", false), "\\u001b[2J\\u0007");
  EXPECT_EQ(PrintableLines(std::string_view("\0\r\x7f", 3), false), "\\u0000\\u000d\\u007f");
  EXPECT_EQ(PrintableLines("\u202e\u2066\u009b", false), "\\u202e\\u2066\\u009b");
  EXPECT_EQ(PrintableLines("\u00e9\u2192\xff", false), "\u00e9\u2192\uFFFD");
}

TEST(PrintableLines, ColoursStayWhereTheyAreOurs) {
  EXPECT_EQ(PrintableLines("\x1b[1;31mred\x1b[0m", true), "\x1b[1;31mred\x1b[0m");
  EXPECT_EQ(PrintableLines("\x1b[2Jred\x1b]0;x", true), "\\u001b[2Jred\\u001b]0;x");
  EXPECT_EQ(PrintableLines("\x1b[31", true), "\\u001b[31");
}

}  // namespace safe_name_test
}  // namespace debrief

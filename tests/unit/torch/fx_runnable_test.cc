// That the result compiles is shown on recorded payloads; here that nothing else is touched.
#include <gtest/gtest.h>

#include "outputs/terminal/compile_summary/answers.h"

namespace debrief {
namespace fx_runnable_test {

using outputs::compile_summary::RunnableSource;

TEST(FxRunnable, PythonStaysAsItIs) {
  std::string_view text =
      "import os\nx = a < b\ny = a <= b, c >> d  # <lambda>\nz = '= <x>'\n"
      "def f(self) -> None:\n    return x\ns = \"\"\"\n y = <kept>\n\"\"\"\nt = f(\n    (a),\n)\n";
  EXPECT_EQ(RunnableSource(text), text);
  EXPECT_EQ(RunnableSource(""), "");
}

TEST(FxRunnable, TextsInAngleBracketsBecomeNone) {
  EXPECT_EQ(RunnableSource("    self.a = <lambda>()"),
            "    self.a = None  # was: self.a = <lambda>()\n");
  EXPECT_EQ(RunnableSource("y = f(x, <A <b> at 0x1>, k=<c>)"),
            "y = f(x, None, k=None)  # was: y = f(x, <A <b> at 0x1>, k=<c>)\n");
  EXPECT_EQ(RunnableSource("class <lambda>(M):"),
            "class _lambda_(M):  # was: class <lambda>(M):\n");
  EXPECT_EQ(RunnableSource("torch._inductor.config.x = <function g>"),
            "# torch._inductor.config.x = <function g>\n");
}

TEST(FxRunnable, EnvironmentIsQuoted) {
  EXPECT_EQ(RunnableSource("os.environ['A'] = 'it's C:\\x'\n"),
            "os.environ['A'] = 'it\\'s C:\\\\x'\n");
  EXPECT_EQ(RunnableSource("os.environ['A'] = 'two\nlines'\nos.environ['B'] = ''\n"),
            "os.environ['A'] = 'two\\nlines'\nos.environ['B'] = ''\n");
  EXPECT_EQ(RunnableSource("os.environ['A'] = 'open\n"), "os.environ['A'] = 'open'\n");
  EXPECT_EQ(RunnableSource("os.environ['A'] = '"), "os.environ['A'] = ''\n");
}

TEST(FxRunnable, PrintedTreesBecomeComments) {
  EXPECT_EQ(RunnableSource(
                "    self.a = M(\n      (b): N(\n        (c): O()\n      )\n    )\n    x = 1\n"),
            "    self.a = None  # M(\n#       (b): N(\n#         (c): O()\n#       )\n#     )\n"
            "    x = 1\n");
}

TEST(FxRunnable, BadBytesAreReplaced) {
  EXPECT_EQ(RunnableSource(std::string_view("# \xff\0\xc3\xa9 \xe2\x82\n", 9)),
            "# ??\xc3\xa9 ??\n");
}

TEST(FxRunnable, LongLinesAreLinear) {
  std::string angles;
  for (int i = 0; i < 300000; ++i) angles += "(<";
  EXPECT_EQ(RunnableSource(angles), angles + "\n");
}

}  // namespace fx_runnable_test
}  // namespace debrief

#include "base/text/escape.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/bytes/source.h"
#include "base/json/cursor.h"

namespace debrief {
namespace escape_test {

std::string Html(std::string_view text) {
  std::string out;
  AppendHtml(out, text);
  return out;
}
std::string Json(std::string_view text) {
  std::string out;
  AppendJson(out, text);
  return out;
}
std::string Csv(std::string_view text) {
  std::string out;
  AppendCsv(out, text);
  return out;
}

std::string Markdown(std::string_view text) {
  std::string out;
  AppendMarkdown(out, text);
  return out;
}
std::string Code(std::string_view text) {
  std::string out;
  AppendMarkdownCode(out, text);
  return out;
}

TEST(Escape, Markdown) {
  EXPECT_EQ(Markdown("all_reduce 5 of mesh_dp [0, 2]"), "all_reduce 5 of mesh_dp \\[0, 2\\]");
  EXPECT_EQ(Markdown("_a_ *b* `c` |d| #1 @me"), "\\_a\\_ \\*b\\* \\`c\\` \\|d\\| \\#1 &#64;me");
  EXPECT_EQ(Markdown("<b>&amp;</b>\r\nnext\tline"), "&lt;b&gt;&amp;amp;&lt;/b&gt;  next line");
  EXPECT_EQ(Markdown("see https://x.example: yes"), "see https&#58;//x.example: yes");
  EXPECT_EQ(Markdown("- item"), "\\- item");
  EXPECT_EQ(Markdown("12. item"), "12\\. item");
  EXPECT_EQ(Markdown("12.5 ms"), "12.5 ms");
  EXPECT_EQ(Markdown("a\x1B\xFF\xC3\xA9"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA9");
  EXPECT_EQ(Markdown(""), "");
}

TEST(Escape, MarkdownCode) {
  EXPECT_EQ(Code("train.py:5"), "`train.py:5`");
  EXPECT_EQ(Code("a`b``c"), "```a`b``c```");
  EXPECT_EQ(Code("`"), "`` ` ``");
  EXPECT_EQ(Code(""), "`  `");
  EXPECT_EQ(Code("a\nb\xFF"), "`a b\xEF\xBF\xBD`");
}

TEST(Escape, Html) {
  EXPECT_EQ(Html("<a href=\"x\" b='y'>&amp;</a>"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;");
  EXPECT_EQ(Html("plain, \t\r\n text"), "plain, \t\r\n text");
  EXPECT_EQ(Html(std::string_view("a\0b\x1B[1m\x7F", 8)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD[1m\xEF\xBF\xBD");
  EXPECT_EQ(Html("\xC3\xA9\xFF"), "\xC3\xA9\xEF\xBF\xBD");
}

TEST(Escape, Json) {
  EXPECT_EQ(Json("a\"b\\c/\n\r\t\b\x01"), "a\\\"b\\\\c/\\n\\r\\t\\u0008\\u0001");
  EXPECT_EQ(Json("</script><!--"), "\\u003c/script>\\u003c!--");
  EXPECT_EQ(Json("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA"), "\\u2028\\u2029\xE2\x80\xAA");
  EXPECT_EQ(Json("\x7F"), "\\u007f");
  EXPECT_EQ(Json("\xE2\x80"), "\xEF\xBF\xBD");
}

TEST(Escape, JsonFindsSpecialBytesAtEveryPlace) {
  for (size_t size = 0; size < 100; ++size) {
    for (size_t place = 0; place < size; ++place) {
      std::string text(size, 'x');
      text[place] = '"';
      std::string expected(size + 1, 'x');
      expected[place] = '\\';
      expected[place + 1] = '"';
      ASSERT_EQ(Json(text), expected);
    }
  }
}

TEST(Escape, JsonComesBackAsItWent) {
  std::mt19937 random(4);
  JsonReader reader;
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (size_t n = random() % 80; n > 0; --n) {
      text += static_cast<char>(random() % (random() % 2 ? 128 : 256));
    }
    std::string document = "[\"" + Json(text) + "\"]";
    EXPECT_EQ(document.find('<'), std::string::npos);
    size_t size = document.size();
    document.append(kPadding, '\0');
    ASSERT_TRUE(reader.Open({document.data(), size}).ok());
    EXPECT_FALSE(reader.repaired());
    ASSERT_TRUE(
        reader.root()
            .ForEachElement([&](JsonValue value) { EXPECT_EQ(value.String(), ValidUtf8(text)); })
            .ok());
  }
}

TEST(Escape, Csv) {
  EXPECT_EQ(Csv("plain text"), "plain text");
  EXPECT_EQ(Csv(""), "");
  EXPECT_EQ(Csv("a,b"), "\"a,b\"");
  EXPECT_EQ(Csv("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(Csv("a\nb"), "\"a\nb\"");
  EXPECT_EQ(Csv("\""), "\"\"\"\"");
}

TEST(Escape, ASpreadsheetComputesNothing) {
  EXPECT_EQ(Csv("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(Csv("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(Csv("+1+1"), "'+1+1");
  EXPECT_EQ(Csv("-a"), "'-a");
  EXPECT_EQ(Csv("-"), "'-");
  EXPECT_EQ(Csv("\t=1"), "'\t=1");
  EXPECT_EQ(Csv("\r=1,2"), "\"'\r=1,2\"");
  for (const char* number : {"-5", "+1.5e3", "-0.25", "12", "a=b", "x+1"})
    EXPECT_EQ(Csv(number), number);
}

TEST(Escape, ValidUtf8) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(ValidUtf8("\xF0\x9F\x98\x80\xC3\xA9x"), "\xF0\x9F\x98\x80\xC3\xA9x");
  EXPECT_EQ(ValidUtf8("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(ValidUtf8("\xE0\x80\xAF"), bad + bad + bad);            // overlong
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), bad + bad + bad);            // a surrogate
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
  EXPECT_EQ(ValidUtf8("\xF0\x9F\x98"), bad);  // cut: one for the whole beginning
  EXPECT_EQ(ValidUtf8("\xE2\x82x"), bad + "x");
  EXPECT_EQ(ValidUtf8("\x80"), bad);
}

}  // namespace escape_test
}  // namespace debrief

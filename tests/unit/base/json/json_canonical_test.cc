#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/canonical.h"

namespace debrief {
namespace json_canonical_test {

constexpr std::string_view kRefused = "<refused>";

// The text stands at the very end of its memory: reading behind it is an error for ASan.
std::string Rewrite(std::string_view text, JsonStyle style) {
  const auto exact = std::make_unique<char[]>(text.size());
  if (!text.empty()) std::memcpy(exact.get(), text.data(), text.size());
  JsonCanonical canonical;
  std::string out = "before";
  if (canonical.Append({exact.get(), text.size()}, style, out)) return out.substr(6);
  EXPECT_EQ(out, "before");
  return std::string(kRefused);
}

std::string Compact(std::string_view text) { return Rewrite(text, JsonCanonical::kCompact); }
std::string Pretty(std::string_view text) { return Rewrite(text, JsonCanonical::kPretty); }

std::string Nested(size_t depth, std::string_view open, std::string_view close) {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += open;
  text += "1";
  for (size_t i = 0; i < depth; ++i) text += close;
  return text;
}

struct Case {
  std::string_view text;
  std::string_view want;
};

TEST(JsonCanonical, LayoutIsCompactOrPretty) {
  constexpr std::string_view kText =
      "\t{ \"b\":[1 ,\r\n2], \"a\":{ },\"c\":[\t] ,\"d\":{\"x\":[{}]}} \n";
  EXPECT_EQ(Compact(kText), R"({"a":{},"b":[1,2],"c":[],"d":{"x":[{}]}})");
  EXPECT_EQ(Pretty(kText),
            "{\n  \"a\": {},\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": [],\n"
            "  \"d\": {\n    \"x\": [\n      {}\n    ]\n  }\n}");
}

TEST(JsonCanonical, ElementsAreIndentedButNotTheirFirstLine) {
  EXPECT_EQ(Rewrite(R"({"a":{"b":1}})", JsonCanonical::kElement),
            "{\n    \"a\": {\n      \"b\": 1\n    }\n  }");
  EXPECT_EQ(Rewrite("[1]", {.pretty = true, .indent_levels = 40}),
            "[\n" + std::string(82, ' ') + "1\n" + std::string(80, ' ') + "]");
}

TEST(JsonCanonical, ArrayOfElementsIsThePrettyArray) {
  const std::vector<std::string_view> events = {R"({"ph":"B","ts":1.5})", "[]", "3"};
  JsonCanonical canonical;
  std::string body;
  for (const auto event : events) {
    body += JsonCanonical::kBetweenElements;
    ASSERT_TRUE(canonical.Append(event, JsonCanonical::kElement, body));
  }
  EXPECT_EQ('[' + body.substr(1) + "\n]", Pretty(R"([{"ph":"B","ts":1.5},[],3])"));
}

TEST(JsonCanonical, KeysAreSortedByTheirBytes) {
  EXPECT_EQ(Compact(R"({"b":1,"a":2,"B":3,"":4,"aa":5})"), R"({"":4,"B":3,"a":2,"aa":5,"b":1})");
  // U+FF61 is less than U+1F600 in UTF-8, not in UTF-16; both are more than any ASCII.
  EXPECT_EQ(Compact(R"({"\ud83d\ude00":1,"\uff61":2,"~":3})"),
            "{\"~\":3,\"\xEF\xBD\xA1\":2,\"\xF0\x9F\x98\x80\":1}");
  // Longer than what is compared at once, and differing before, at and behind its end.
  EXPECT_EQ(Compact(R"({"12345678b":1,"12345678":2,"1234567":3,"12345678a":4,"1234567\u0000":5})"),
            R"({"1234567":3,"1234567\u0000":5,"12345678":2,"12345678a":4,"12345678b":1})");
}

TEST(JsonCanonical, KeysAreSortedAsTheyReadNotAsTheyAreWritten) {
  EXPECT_EQ(Compact(R"({"a":1,"\u0041":2,"[":3,"\\":4,"]":5,"\n":6,"!":7,"\"":8,"#":9})"),
            R"({"\n":6,"!":7,"\"":8,"#":9,"A":2,"[":3,"\\":4,"]":5,"a":1})");
}

TEST(JsonCanonical, ManyKeysAreSortedAsWell) {
  std::string text, want;
  for (int i = 0; i < 500; ++i) {
    const int key = 100 + (i * 7) % 500;
    text += (i ? ",\"k" : "{\"k") + std::to_string(key) + "\":" + std::to_string(key);
    want += (i ? ",\"k" : "{\"k") + std::to_string(100 + i) + "\":" + std::to_string(100 + i);
  }
  EXPECT_EQ(Compact(text + "}"), want + "}");
  // All equal: the last wins, however they are sorted.
  text.clear();
  for (int i = 0; i < 100; ++i) text += (i ? ",\"k\":" : "{\"k\":") + std::to_string(i);
  EXPECT_EQ(Compact(text + "}"), R"({"k":99})");
}

TEST(JsonCanonical, TheLastOfEqualKeysWins) {
  EXPECT_EQ(Compact(R"({"a":1,"b":2,"a":{"x":3,"x":4},"\u0061":[5,{}]})"), R"({"a":[5,{}],"b":2})");
  // What is dropped must be valid all the same.
  EXPECT_EQ(Compact(R"({"a":nul,"a":1})"), kRefused);
  EXPECT_EQ(Compact(R"({"a":{"b":[1e999]},"a":1})"), kRefused);
  EXPECT_EQ(Compact(R"({"a":"\ud800","a":1})"), kRefused);
}

TEST(JsonCanonical, Integers) {
  const std::vector<Case> cases = {
      {"0", "0"},
      {"-1", "-1"},
      {"-0", "-0.0"},
      {"9007199254740993", "9007199254740993"},
      {"18446744073709551615", "18446744073709551615"},
      {"18446744073709551616", "1.8446744073709552e19"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-9223372036854775809", "-9.223372036854776e18"},
      {"-18446744073709551615", "-1.8446744073709552e19"},
      {"100000000000000000000000", "1e23"},
      {"00", kRefused},
      {"01", kRefused},
      {"-", kRefused},
      {"-01", kRefused},
      {"+1", kRefused},
      {"0x1", kRefused},
      {"1a", kRefused},
      {"1\"a\"", kRefused},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Compact(text), want) << text;
  EXPECT_EQ(Compact("1" + std::string(400, '0')), kRefused);
}

TEST(JsonCanonical, DoublesPrintAsRyuPrintsThem) {
  const std::vector<Case> cases = {
      {"1.0", "1.0"},
      {"1.50", "1.5"},
      {"-0.0", "-0.0"},
      {"0e5", "0.0"},
      {"0.1", "0.1"},
      {"-2.5", "-2.5"},
      {"1e0", "1.0"},
      {"1E+2", "100.0"},
      {"1.25e-3", "0.00125"},
      {"1e15", "1000000000000000.0"},
      {"1e16", "1e16"},
      {"1234567890123456.7", "1234567890123456.8"},
      {"12345678901234568.0", "1.2345678901234568e16"},
      {"0.00001", "0.00001"},
      {"0.000001", "1e-6"},
      {"0.0000012", "1.2e-6"},
      {"1e-7", "1e-7"},
      {"1.5e300", "1.5e300"},
      {"5e-324", "5e-324"},
      {"1e-400", "0.0"},
      {"-1e-99999999999999999999", "-0.0"},
      {"0e99999999999999999999", "0.0"},
      {"0.30000000000000004", "0.30000000000000004"},
      {"123456789012345.0", "123456789012345.0"},
      {"1e308", "1e308"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Compact(text), want) << text;
}

// serde_json rounds twice, and drops digits behind the 64th bit.
TEST(JsonCanonical, DoublesAreNotAlwaysTheNearest) {
  EXPECT_EQ(Compact("1715885247.9018195"), "1715885247.9018197");
  EXPECT_EQ(Compact("1801439850948199.0"), "1801439850948199.2");
  EXPECT_EQ(Compact("0.1234567890123456789999999999"), "0.12345678901234568");
}

TEST(JsonCanonical, BrokenDoublesAreRefused) {
  for (const std::string_view text :
       {"1.", ".5", "1.e5", "1e", "1e+", "1.5.5", "1e5.5", "1e400", "-1e400",
        "1e99999999999999999999", "NaN", "Infinity", "-Infinity", "1.5e3x", "1_000"}) {
    EXPECT_EQ(Compact(text), kRefused) << text;
  }
}

TEST(JsonCanonical, StringsEscapeOnlyWhatTheyMust) {
  EXPECT_EQ(Compact(R"("\"\\\/\b\f\n\r\t")"), R"("\"\\/\b\f\n\r\t")");
  EXPECT_EQ(Compact(R"("\u0000\u001F\u000b\u0008\u007f\u0022\u005C\u002f")"),
            "\"\\u0000\\u001f\\u000b\\b\x7F\\\"\\\\/\"");
  EXPECT_EQ(Compact(R"("\u00e9\u20AC\ud83d\uDE00")"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  EXPECT_EQ(Compact("\"</script>\xC3\xA9\x7F\""), "\"</script>\xC3\xA9\x7F\"");
  EXPECT_EQ(Compact(R"({"\u000a\"":"k"})"), R"({"\n\"":"k"})");
}

TEST(JsonCanonical, LongStringsWithAnEscapeAnywhere) {
  for (size_t length = 0; length < 100; ++length) {
    for (size_t at = 0; at <= length; at += 7) {
      std::string text(length, 'x');
      text.insert(at, "\\u0041");
      std::string want(length, 'x');
      want.insert(at, "A");
      EXPECT_EQ(Compact("[\"" + text + "\"]"), "[\"" + want + "\"]");
      EXPECT_EQ(Compact("{\"" + text + "\":0}"), "{\"" + want + "\":0}");
    }
  }
}

TEST(JsonCanonical, BrokenStringsAreRefused) {
  for (const std::string_view text :
       {R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("\ud800x")", R"("\ud800\n")",
        R"("\x")", R"("\u12")", R"("\u12g4")", R"("\u+123")", "\"a\nb\"", "\"a\tb\"", "\"a", "\"",
        "\"\\\"", "\"\xFF\"", "\"\xC3\"", "\"\xED\xA0\x80\"", "\"\xC0\xAF\"", "'a'"}) {
    EXPECT_EQ(Compact(text), kRefused) << text;
  }
}

TEST(JsonCanonical, BrokenGrammarIsRefused) {
  for (const std::string_view text : {"",
                                      " ",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[1}",
                                      "{1:2}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\":1",
                                      "{\"a\" 1}",
                                      "{\"a\"::1}",
                                      "{,}",
                                      "[:]",
                                      "1 2",
                                      "{} {}",
                                      "[]]",
                                      "[1],",
                                      "tru",
                                      "truex",
                                      "True",
                                      "nul",
                                      "\"a\" \"b\"",
                                      "\"a\"b",
                                      "[\"a\"\"b\"]",
                                      "{a:1}",
                                      "{\"a\"x:1}",
                                      "[1\f]",
                                      "\v1",
                                      "[1]\x1A",
                                      "// c\n1",
                                      "\xEF\xBB\xBF[]",
                                      "[1]\xA0"}) {
    EXPECT_EQ(Compact(text), kRefused) << text;
  }
  EXPECT_EQ(Compact(std::string_view("[1\0]", 4)), kRefused);
  EXPECT_EQ(Compact(std::string_view("1\0", 2)), kRefused);
}

TEST(JsonCanonical, ScalarsAreDocumentsToo) {
  EXPECT_EQ(Compact(" true\n"), "true");
  EXPECT_EQ(Compact("\tfalse "), "false");
  EXPECT_EQ(Compact("null"), "null");
  EXPECT_EQ(Pretty("\"x\""), "\"x\"");
}

TEST(JsonCanonical, Nests127Containers) {
  EXPECT_EQ(Compact(Nested(127, "[", "]")), Nested(127, "[", "]"));
  EXPECT_EQ(Compact(Nested(128, "[", "]")), kRefused);
  EXPECT_EQ(Compact(Nested(127, "{\"a\":", "}")), Nested(127, "{\"a\":", "}"));
  EXPECT_EQ(Compact(Nested(128, "{\"a\":", "}")), kRefused);
  EXPECT_EQ(Compact(Nested(100000, "[", "]")), kRefused);
  // Each bracket, and the break and the indentation behind or before it, at levels 3 to 130.
  constexpr size_t kIndentation = 2 * (127 * (4 + 130) / 2 + 127 * (3 + 129) / 2);
  EXPECT_EQ(Rewrite(Nested(127, "[", "]"), {.pretty = true, .indent_levels = 3}).size(),
            kIndentation + 2 * (127 + 127) + 1);
}

TEST(JsonCanonical, OneObjectRewritesManyTexts) {
  JsonCanonical canonical;
  std::string out;
  EXPECT_TRUE(canonical.Append(R"({"\u0062":1,"a":2})", {}, out));
  EXPECT_FALSE(canonical.Append(R"({"x":{"y":[)", {}, out));
  EXPECT_TRUE(canonical.Append("[" + std::string(20000, ' ') + "]", {}, out));
  EXPECT_FALSE(canonical.Append(R"({"a":1,"a":2,"b":bad})", {}, out));
  EXPECT_TRUE(canonical.Append(R"({"c":3,"c":4})", {}, out));
  EXPECT_EQ(out, R"({"a":2,"b":1}[]{"c":4})");
}

TEST(JsonCanonicalExtras, ReplaceOrAdd) {
  const std::vector<JsonExtraField> fields = {{"pid", "7"}, {"a\"", "\"x\""}};
  JsonCanonical canonical;
  std::string out;
  EXPECT_TRUE(canonical.AppendReplacing(R"({"tid":1,"pid":0,"o":{"pid":0}})", fields, {}, out));
  EXPECT_EQ(out, R"({"a\"":"x","o":{"pid":0},"pid":7,"tid":1})");
  out.clear();
  EXPECT_TRUE(canonical.AppendReplacing("{}", fields, JsonCanonical::kElement, out));
  EXPECT_EQ(out, "{\n    \"a\\\"\": \"x\",\n    \"pid\": 7\n  }");
  out.clear();
  EXPECT_TRUE(canonical.AppendReplacing(R"({"p\u0069d":{"q":[]},"pid":2})", fields, {}, out));
  EXPECT_EQ(out, R"({"a\"":"x","pid":7})");
}

TEST(JsonCanonicalExtras, ReplacedValuesMustBeValidAndTheTextAnObject) {
  const std::vector<JsonExtraField> fields = {{"pid", "7"}};
  JsonCanonical canonical;
  std::string out;
  EXPECT_FALSE(canonical.AppendReplacing(R"({"pid":01})", fields, {}, out));
  EXPECT_FALSE(canonical.AppendReplacing(R"({"pid":1)", fields, {}, out));
  EXPECT_FALSE(canonical.AppendReplacing(R"([{"pid":1}])", fields, {}, out));
  EXPECT_FALSE(canonical.AppendReplacing("3", fields, {}, out));
  EXPECT_EQ(out, "");
}

TEST(JsonCanonicalExtras, AddInSortedPlace) {
  using Outcome = JsonCanonical::Added::Outcome;
  const std::vector<JsonExtraField> fields = {
      {"timestamp", "\"t\""}, {"thread", "5"}, {"pathname", "\"p\""}, {"lineno", "3"}};
  JsonCanonical canonical;
  std::string out;
  const auto added = canonical.AppendAdding(R"({"x":1,"rank":0,"artifact":{"lineno":2}})", fields,
                                            JsonCanonical::kCompact, out);
  EXPECT_EQ(added.outcome, Outcome::kWritten);
  EXPECT_EQ(out, R"({"artifact":{"lineno":2},"lineno":3,"pathname":"p","rank":0,"thread":5,)"
                 R"("timestamp":"t","x":1})");
}

TEST(JsonCanonicalExtras, TheFirstConflictIsTold) {
  using Outcome = JsonCanonical::Added::Outcome;
  const std::vector<JsonExtraField> fields = {{"timestamp", "1"}, {"thread", "2"}, {"lineno", "3"}};
  JsonCanonical canonical;
  std::string out;
  auto added = canonical.AppendAdding(R"({"lineno":1,"thread":2})", fields, {}, out);
  EXPECT_EQ(added.outcome, Outcome::kConflict);
  EXPECT_EQ(added.conflict, 1u);
  // A text that is refused has no conflicts.
  added = canonical.AppendAdding(R"({"lineno":1,"thread":-})", fields, {}, out);
  EXPECT_EQ(added.outcome, Outcome::kRefused);
  added = canonical.AppendAdding("[]", fields, {}, out);
  EXPECT_EQ(added.outcome, Outcome::kRefused);
  EXPECT_EQ(out, "");
}

}  // namespace json_canonical_test
}  // namespace debrief

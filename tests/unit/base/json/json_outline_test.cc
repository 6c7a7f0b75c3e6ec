#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/json/outline.h"

namespace debrief {
namespace json_outline_test {

std::string Paths(std::string_view text) {
  auto outline = JsonOutline::Of(text);
  if (!outline) return "none";
  std::string paths;
  for (const auto& entry : outline->entries()) paths += entry.path + " ";
  return paths;
}

TEST(JsonOutline, TellsPathsInOrderOfFirstSight) {
  EXPECT_EQ(Paths(R"({"schema": 1, "events": [{"ph": "X", "args": {"rank": 3}}, {"ph": 1, "b": 2)"),
            "schema events events[].ph events[].args events[].args.rank events[].b ");
  EXPECT_EQ(Paths(R"([{"a": []}, 3])"), "[].a [] ");
  EXPECT_EQ(Paths(R"({"r": [1, 2], "m": [[5]]})"), "r r[] m m[][] ");
  EXPECT_EQ(Paths("{}"), "");
  EXPECT_EQ(Paths("\xEF\xBB\xBF \n{\"a\":{}}"), "a ");
}

TEST(JsonOutline, IsNothingForOtherTexts) {
  for (const char* text : {"", " ", "x{}", "\"{\"", "1", "\x80\x02"}) {
    EXPECT_EQ(Paths(text), "none") << text;
  }
}

TEST(JsonOutline, GivesTheFirstScalar) {
  auto outline = JsonOutline::Of(
      R"({"i": -3, "s": "a\"b", "t": true, "n": NaN, "f": -Infinity, "d": 1.5, "l": [{"x": {}}, {"x": 7}, {"x": 8}],
          "big": 99999999999999999999, "text": "42"})");
  ASSERT_TRUE(outline);
  EXPECT_FALSE(outline->is_array());
  EXPECT_EQ(outline->Integer("i"), -3);
  EXPECT_EQ(outline->Scalar("s"), "a\\\"b");
  EXPECT_EQ(outline->Scalar("t"), "true");
  EXPECT_EQ(outline->Scalar("n"), "NaN");
  EXPECT_EQ(outline->Scalar("f"), "-Infinity");
  EXPECT_EQ(outline->Integer("d"), std::nullopt);
  EXPECT_EQ(outline->Integer("l[].x"), 7);
  EXPECT_EQ(outline->Integer("big"), std::nullopt);
  EXPECT_EQ(outline->Integer("text"), 42);
  EXPECT_EQ(outline->Scalar("l"), std::nullopt);
  EXPECT_EQ(outline->Scalar("none"), std::nullopt);
  EXPECT_TRUE(outline->Has("l"));
  EXPECT_FALSE(outline->Has("x"));
}

TEST(JsonOutline, StopsAtWhatCannotBe) {
  EXPECT_EQ(Paths(R"({"a": 1, "b": hello, "c": 2})"), "a b ");
  EXPECT_EQ(Paths(R"({"a": 1 "b": 2})"), "a ");
  EXPECT_EQ(Paths(R"({"a": 1], "b": 2})"), "a ");
  EXPECT_EQ(Paths(R"({"a": 1}, {"b": 2})"), "a ");
  EXPECT_EQ(Paths(R"({'a': 1})"), "");
}

TEST(JsonOutline, DoesNotTrustWhatTouchesTheCut) {
  std::string text = R"({"abc": "xyz", "n": 123})";
  for (size_t size = 1; size <= text.size(); ++size) {
    auto outline = JsonOutline::Of(std::string_view(text).substr(0, size));
    ASSERT_TRUE(outline);
    EXPECT_EQ(outline->Has("abc"), size >= 7) << size;
    EXPECT_EQ(outline->Scalar("abc").has_value(), size >= 13) << size;
    EXPECT_EQ(outline->Integer("n").value_or(123), 123) << size;
  }
}

TEST(JsonOutline, IsBounded) {
  EXPECT_EQ(Paths(std::string(10'000'000, '[')), "");  // NOLINT(bugprone-string-constructor)
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"k\":";
  EXPECT_EQ(Paths(deep), "k k.k k.k.k k.k.k.k k.k.k.k.k k.k.k.k.k.k ");
  std::string many = "{";
  for (int i = 0; i < 5000; ++i) many += "\"k" + std::to_string(i) + "\":{\"x\":[1]},";
  EXPECT_EQ(JsonOutline::Of(many)->entries().size(), JsonOutline::kMaxPaths);
  std::string wide = "{\"" + std::string(100'000, 'k') + "\":{\"a\":1},\"b\":2}";
  EXPECT_EQ(Paths(wide), "b ");
}

TEST(JsonOutline, GoesOnBehindWhatIsTooDeep) {
  EXPECT_EQ(Paths(R"({"a":[[[[[[["]",{"x":1}]]]]]]],"b":1})"), "a b ");
}

TEST(JsonOutline, SurvivesNonsense) {
  static constexpr std::string_view kBytes = "{}[]\",:\\1a \n-";
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random() % 2 ? "{\"a\":[" : "[";
    for (size_t n = random() % 60; n > 0; --n) text += kBytes[random() % kBytes.size()];
    // An exact copy, so that a sanitizer sees a byte read too many.
    std::vector<char> exact(text.begin(), text.end());
    EXPECT_TRUE(JsonOutline::Of({exact.data(), exact.size()}).has_value());
  }
}

}  // namespace json_outline_test
}  // namespace debrief

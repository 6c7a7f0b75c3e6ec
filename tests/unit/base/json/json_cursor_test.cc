#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bytes/source.h"
#include "base/json/cursor.h"

namespace debrief {
namespace json_cursor_test {

// Text with exactly the padding that is promised: a sanitizer sees a byte read too many.
class Padded {
 public:
  explicit Padded(std::string_view text)
      : bytes_(std::make_unique<char[]>(text.size() + kPadding)), size_(text.size()) {
    std::memcpy(bytes_.get(), text.data(), text.size());
  }
  std::string_view text() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

// Calls `check` with the only element of [`json`].
void WithValue(const std::string& json, const std::function<void(JsonValue)>& check) {
  Padded padded("[" + json + "]");
  JsonReader reader;
  ASSERT_TRUE(reader.Open(padded.text()).ok()) << json;
  int count = 0;
  Status status = reader.root().ForEachElement([&](JsonValue value) {
    ++count;
    check(value);
  });
  EXPECT_TRUE(status.ok()) << json << ": " << status.ToString();
  EXPECT_EQ(count, 1) << json;
}

std::optional<int64_t> IntOf(const std::string& json) {
  std::optional<int64_t> result;
  WithValue(json, [&](JsonValue value) { result = value.Int(); });
  return result;
}
std::optional<double> DoubleOf(const std::string& json) {
  std::optional<double> result;
  WithValue(json, [&](JsonValue value) { result = value.Double(); });
  return result;
}
std::optional<std::string> StringOf(const std::string& json) {
  std::optional<std::string> result;
  WithValue(json, [&](JsonValue value) {
    if (auto text = value.String()) result = std::string(*text);
  });
  return result;
}

// Reads everything there is, as an importer would that trusts nothing.
Status WalkAll(JsonValue value, size_t& seen) {
  ++seen;
  switch (value.kind()) {
    case JsonKind::kObject:
      return value.ForEachField([&](std::string_view key, JsonValue child) {
        seen += key.size();
        return WalkAll(child, seen);
      });
    case JsonKind::kArray:
      return value.ForEachElement([&](JsonValue child) { return WalkAll(child, seen); });
    default:
      seen += value.String().value_or("").size();
      value.IntOrText();
      value.Double();
      value.Bool();
      seen += value.Raw().value_or("").size();
      return {};
  }
}

TEST(JsonCursor, Integers) {
  EXPECT_EQ(IntOf("3"), 3);
  EXPECT_EQ(IntOf("3.0"), 3);
  EXPECT_EQ(IntOf("3e2 "), 300);
  EXPECT_EQ(IntOf("-0"), 0);
  EXPECT_EQ(IntOf("-0.0"), 0);
  EXPECT_EQ(IntOf("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(IntOf("-9223372036854775808"), INT64_MIN);
  for (const char* no :
       {"3.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e400", "\"3\"", "null",
        "true", "[]", "{}", "NaN", "-Infinity", "99999999999999999999999", "3x"}) {
    EXPECT_EQ(IntOf(no), std::nullopt) << no;
  }
}

TEST(JsonCursor, IntegersInStrings) {
  WithValue("\"-17\"", [](JsonValue value) { EXPECT_EQ(value.IntOrText(), -17); });
  WithValue("17", [](JsonValue value) { EXPECT_EQ(value.IntOrText(), 17); });
  WithValue("\"17x\"", [](JsonValue value) { EXPECT_EQ(value.IntOrText(), std::nullopt); });
  WithValue("\"\"", [](JsonValue value) { EXPECT_EQ(value.IntOrText(), std::nullopt); });
}

TEST(JsonCursor, Doubles) {
  EXPECT_EQ(DoubleOf("1.25"), 1.25);
  EXPECT_EQ(DoubleOf("3"), 3.0);
  EXPECT_EQ(DoubleOf("99999999999999999999999"), 1e23);
  EXPECT_TRUE(std::signbit(DoubleOf("-0.0").value()));
  for (const char* no : {"1e400", "NaN", "Infinity", "\"1\"", "null", "{}"}) {
    EXPECT_EQ(DoubleOf(no), std::nullopt) << no;
  }
}

TEST(JsonCursor, OtherScalars) {
  WithValue("true", [](JsonValue value) { EXPECT_EQ(value.Bool(), true); });
  WithValue("1", [](JsonValue value) { EXPECT_EQ(value.Bool(), std::nullopt); });
  WithValue("null ", [](JsonValue value) { EXPECT_TRUE(value.IsNull()); });
  WithValue("nul", [](JsonValue value) { EXPECT_FALSE(value.IsNull()); });
  WithValue("NaN", [](JsonValue value) { EXPECT_EQ(value.kind(), JsonKind::kOther); });
}

TEST(JsonCursor, Strings) {
  EXPECT_EQ(StringOf(R"("plain")"), "plain");
  EXPECT_EQ(StringOf(R"("")"), "");
  EXPECT_EQ(StringOf(R"("a\"b\\\/\b\f\n\r\t")"), "a\"b\\/\b\f\n\r\t");
  EXPECT_EQ(StringOf(R"("\u00e9\u20AC\ud83d\ude00")"), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(StringOf(R"("\u0000")"), std::string(1, '\0'));
  EXPECT_EQ(StringOf("7"), std::nullopt);
  std::string long_text(1000, 'x');
  EXPECT_EQ(StringOf('"' + long_text + '"'), long_text);
  EXPECT_EQ(StringOf('"' + long_text + "\\n\""), long_text + "\n");
}

TEST(JsonCursor, BrokenEscapesAreReplaced) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(StringOf(R"("a\udc80b")"), "a" + bad + "b");
  EXPECT_EQ(StringOf(R"("\ud83d")"), bad);
  EXPECT_EQ(StringOf(R"("\ud83d\u0041")"), bad + "A");
  EXPECT_EQ(StringOf(R"("\ud83d\n")"), bad + "\n");
  EXPECT_EQ(StringOf(R"("\u12")"), bad + "12");
  EXPECT_EQ(StringOf(R"("\u-123")"), bad + "-123");
  EXPECT_EQ(StringOf(R"("\u\u\u\u\u\u\u\u")"), bad + bad + bad + bad + bad + bad + bad + bad);
  EXPECT_EQ(StringOf(R"("\q")"), "q");
}

TEST(JsonCursor, ScalarsMayBeReadTwice) {
  WithValue("\"7\"", [](JsonValue value) {
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(value.String(), "7");
    EXPECT_EQ(value.Int(), std::nullopt);
    EXPECT_EQ(value.IntOrText(), 7);
  });
}

TEST(JsonCursor, FieldsWithNestingAndSkips) {
  Padded padded(
      R"({"a": {"b": [1, {"c": 2}]}, "skip": {"x": [1, [2]]}, "k\n": 3, "a": 4, "half": [5, 6]})");
  JsonReader reader;
  ASSERT_TRUE(reader.Open(padded.text()).ok());
  std::string keys;
  std::vector<uint64_t> offsets;
  Status status = reader.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    keys += std::string(key) + ";";
    offsets.push_back(value.offset());
    if (key == "half") {
      return value.ForEachElement([&](JsonValue element) { return element.Int() != 5; });  // stops
    }
    return {};
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(keys, "a;skip;k\n;a;half;");
  EXPECT_EQ(padded.text()[offsets[0]], '{');
  EXPECT_EQ(padded.text()[offsets[2]], '3');
}

TEST(JsonCursor, StoppingEarlyLeavesTheRestReadable) {
  Padded padded(R"([{"a": {"x": 1, "y": {"z": 2}}, "b": 3}, {"a": {}, "b": 4}])");
  JsonReader reader;
  ASSERT_TRUE(reader.Open(padded.text()).ok());
  std::vector<int64_t> values;
  Status status = reader.root().ForEachElement([&](JsonValue element) {
    return element.ForEachField([&](std::string_view key, JsonValue value) -> Status {
      if (key == "b") values.push_back(value.Int().value());
      if (key == "a") return value.ForEachField([](std::string_view, JsonValue) { return false; });
      return {};
    });
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(values, (std::vector<int64_t>{3, 4}));
}

TEST(JsonCursor, AStatusStopsTheWholeDocument) {
  Padded padded("[[1, 2], [3]]");
  JsonReader reader;
  ASSERT_TRUE(reader.Open(padded.text()).ok());
  int seen = 0;
  Status status = reader.root().ForEachElement([&](JsonValue inner) {
    return inner.ForEachElement([&](JsonValue) {
      ++seen;
      return Status(Code::kUsage, "enough");
    });
  });
  EXPECT_EQ(status.code(), Code::kUsage);
  EXPECT_EQ(seen, 1);
}

TEST(JsonCursor, RawIsTheTextAsItStands) {
  Padded padded(
      R"({"o": {"a": [1, "]"]} , "l": [ 2 ] ,"s": "x\n" , "n": 3.50 , "e": {}, "z": []})");
  JsonReader reader;
  ASSERT_TRUE(reader.Open(padded.text()).ok());
  std::string raws;
  Status status = reader.root().ForEachField(
      [&](std::string_view, JsonValue value) { raws += std::string(value.Raw().value()) + ";"; });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(raws, R"({"a": [1, "]"]};[ 2 ];"x\n";3.50;{};[];)");
}

TEST(JsonCursor, OpensElements) {
  JsonReader reader;
  std::string text = R"({"a": 1}, [2],"x")";
  ASSERT_TRUE(reader.OpenElements(text).ok());
  std::vector<uint64_t> offsets;
  EXPECT_TRUE(
      reader.root().ForEachElement([&](JsonValue v) { offsets.push_back(v.offset()); }).ok());
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 10, 14}));
  ASSERT_TRUE(reader.OpenElements("").ok());
  EXPECT_TRUE(reader.root().ForEachElement([](JsonValue) { FAIL(); }).ok());
  // Text that closes our bracket must not hide what follows.
  ASSERT_TRUE(reader.OpenElements("1], [2").ok());
  EXPECT_FALSE(reader.root().ForEachElement([](JsonValue) {}).ok());
}

// Each bad byte becomes three, and a sequence that breaks off in its middle one character.
TEST(JsonCursor, OffsetsOfRepairedText) {
  const std::string text = "[\"\xFF\", 1, \"\xE2\x82\", 2, \"\xC3\xA4\xFE\xFE\", [3, x]]";
  const auto offsets = [&](JsonReader& reader, uint64_t from) {
    std::vector<uint64_t> found;
    const Status status = reader.root().ForEachElement([&](JsonValue value) -> Status {
      found.push_back(value.offset() + from);
      if (value.kind() != JsonKind::kArray) return {};
      return value.ForEachElement([](JsonValue) {});
    });
    return found;
  };
  std::vector<uint64_t> expected;
  for (std::string_view word : {"\"\xFF", "1", "\"\xE2", "2", "\"\xC3", "[3"})
    expected.push_back(text.find(word));
  JsonReader reader;
  Padded padded(text);
  ASSERT_TRUE(reader.Open(padded.text()).ok());
  EXPECT_TRUE(reader.repaired());
  EXPECT_EQ(offsets(reader, 0), expected);
  ASSERT_TRUE(reader.OpenElements(text.substr(1, text.size() - 2)).ok());
  EXPECT_EQ(offsets(reader, 1), expected);
  Padded broken("{\"a\": \"\xFF\xFF\", \"b\": }");
  ASSERT_TRUE(reader.Open(broken.text()).ok());
  const Status status = reader.root().ForEachField([](std::string_view, JsonValue value) -> Status {
    return value.kind() == JsonKind::kOther ? value.ForEachElement([](JsonValue) {}) : Status();
  });
  EXPECT_EQ(status.place().offset, 17);
}

TEST(JsonCursor, RepairsBytesThatAreNoText) {
  JsonReader reader;
  Padded utf8("{\"a\": \"x\xFFy\", \"b\": 2}");
  ASSERT_TRUE(reader.Open(utf8.text()).ok());
  EXPECT_TRUE(reader.repaired());
  std::string seen;
  auto read = [&](std::string_view key, JsonValue value) {
    seen += std::string(key) + "=" + std::string(value.String().value_or("-")) + ";";
  };
  EXPECT_TRUE(reader.root().ForEachField(read).ok());
  Padded both("{\"a\": \"x\ny\xFF\", \"b\": 2}");
  ASSERT_TRUE(reader.Open(both.text()).ok());
  EXPECT_TRUE(reader.root().ForEachField(read).ok());
  ASSERT_TRUE(reader.OpenElements("\"\x01\"").ok());
  EXPECT_TRUE(reader.root()
                  .ForEachElement([&](JsonValue value) {
                    EXPECT_EQ(value.offset(), 0u);
                    read("e", value);
                  })
                  .ok());
  EXPECT_EQ(seen, "a=x\xEF\xBF\xBDy;b=-;a=x y\xEF\xBF\xBD;b=-;e= ;");
  Padded good("\xEF\xBB\xBF{\"a\": 1}");
  ASSERT_TRUE(reader.Open(good.text()).ok());
  EXPECT_FALSE(reader.repaired());
  EXPECT_TRUE(
      reader.root()
          .ForEachField([](std::string_view, JsonValue value) { EXPECT_EQ(value.offset(), 9u); })
          .ok());
}

TEST(JsonCursor, TellsWhatIsWrong) {
  struct Case {
    const char* text;
    Code code;
  };
  for (Case c : {Case{"", Code::kTruncated},
                 {"  ", Code::kTruncated},
                 {"{\"a\": 1", Code::kTruncated},
                 {"[1, 2", Code::kTruncated},
                 {"{\"a", Code::kTruncated},
                 {"3", Code::kInvalid},
                 {"[1] 2]", Code::kInvalid},
                 {"[1 2]", Code::kInvalid},
                 {"{\"a\" 1}", Code::kInvalid},
                 {"{1: 2}", Code::kInvalid},
                 {"[1], [2]", Code::kInvalid}}) {
    Padded padded(c.text);
    JsonReader reader;
    Status status = reader.Open(padded.text());
    size_t seen = 0;
    if (status.ok()) status = WalkAll(reader.root(), seen);
    EXPECT_EQ(status.code(), c.code) << c.text << ": " << status.ToString();
    EXPECT_GE(status.place().offset, 0) << c.text;
  }
}

TEST(JsonCursor, WrongContainerIsAnErrorOfTheCallOnly) {
  WithValue("[1, 2]", [](JsonValue value) {
    EXPECT_EQ(value.ForEachField([](std::string_view, JsonValue) {}).code(), Code::kInvalid);
    int count = 0;
    EXPECT_TRUE(value.ForEachElement([&](JsonValue) { ++count; }).ok());
    EXPECT_EQ(count, 2);
  });
}

TEST(JsonCursor, DeepNestingIsALimit) {
  for (int depth : {100, JsonReader::kMaxDepth + 1, 1'000'000}) {
    Padded padded(std::string(static_cast<size_t>(depth), '[') +
                  std::string(static_cast<size_t>(depth), ']'));
    JsonReader reader;
    ASSERT_TRUE(reader.Open(padded.text()).ok());
    size_t seen = 0;
    Status status = WalkAll(reader.root(), seen);
    EXPECT_EQ(status.code(), depth > JsonReader::kMaxDepth ? Code::kLimit : Code::kOk) << depth;
    ASSERT_TRUE(reader.Open(padded.text()).ok());  // skipped, it is no trouble
    EXPECT_TRUE(reader.root().ForEachElement([](JsonValue) {}).ok());
  }
}

TEST(JsonCursor, OneReaderForManyDocuments) {
  JsonReader reader;
  for (size_t i = 0; i < 200; ++i) {
    Padded padded("{\"k\": \"" + std::string(i * 37 % 500, 'v') + "\\n\"}");
    ASSERT_TRUE(reader.Open(padded.text()).ok());
    EXPECT_TRUE(reader.root()
                    .ForEachField([&](std::string_view, JsonValue value) {
                      EXPECT_EQ(value.String()->size(), i * 37 % 500 + 1);
                    })
                    .ok());
    Padded broken("{\"k\": [1");
    if (reader.Open(broken.text()).ok()) {
      size_t seen = 0;
      EXPECT_FALSE(WalkAll(reader.root(), seen).ok());
    }
  }
}

TEST(JsonCursor, SurvivesNonsense) {
  const std::string good =
      R"({"a": [1, -2.5e3, {"b": "x\u00e9\"y"}], "c": {"d": null, "e": [[], {}]}, "f": true})";
  static constexpr std::string_view kBytes = "{}[]\",:\\1e.-ntf \x01\xFFu";
  std::mt19937 random(6);
  JsonReader reader;
  size_t seen = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string text = good;
    for (size_t n = 1 + random() % 4; n > 0; --n) {
      size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
    }
    Padded padded(text);
    bool as_elements = random() % 4 == 0;
    Status opened = as_elements ? reader.OpenElements(padded.text()) : reader.Open(padded.text());
    if (!opened.ok()) continue;
    bool skips = random() % 2;
    Status status = skips && reader.root().kind() == JsonKind::kObject
                        ? reader.root().ForEachField([](std::string_view, JsonValue) {})
                        : WalkAll(reader.root(), seen);
    (void)status;
  }
  EXPECT_GT(seen, 0u);
}

}  // namespace json_cursor_test
}  // namespace debrief

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

#include "base/json/cursor.h"
#include "base/json/writer.h"

namespace debrief {
namespace json_writer_test {

using namespace std::string_view_literals;

TEST(JsonWriter, OneLine) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Field("a", 1).Key("b").BeginArray().Value("x").Value(true).Null().EndArray();
  json.Key("c").BeginObject().EndObject().ListField("d", std::vector<int>{}).Field("e", "f");
  json.ListField("g", std::set<int>{3, 1}).EndObject();
  EXPECT_EQ(out, R"({"a":1,"b":["x",true,null],"c":{},"d":[],"e":"f","g":[1,3]})");
}

TEST(JsonWriter, Indented) {
  std::string out;
  JsonWriter json(&out, 2);
  json.BeginObject().Key("a").BeginArray().BeginObject().Field("b", 1).EndObject().EndArray();
  json.ListField("c", std::vector<int>{1, 2}).Key("d").BeginArray().EndArray().EndObject();
  EXPECT_EQ(out,
            "{\n  \"a\": [\n    {\n      \"b\": 1\n    }\n  ],\n  \"c\": [1, 2],\n  \"d\": []\n}");
}

template <typename T>
std::string Written(const T& value) {
  std::string out;
  JsonWriter(&out).Value(value);
  return out;
}

TEST(JsonWriter, Numbers) {
  EXPECT_EQ(Written(std::numeric_limits<int32_t>::min()), "null");
  EXPECT_EQ(Written(std::numeric_limits<int64_t>::min()), "null");
  EXPECT_EQ(Written(std::numeric_limits<int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(Written(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(Written(std::numeric_limits<uint32_t>::max()), "4294967295");
  EXPECT_EQ(Written(int64_t{std::numeric_limits<int32_t>::min()}), "-2147483648");
  EXPECT_EQ(Written(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(Written(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(Written(0.1), "0.1");
  for (double number : {1e300, 5e-324, 123456789.125, -0.0}) {
    EXPECT_EQ(std::strtod(Written(number).c_str(), nullptr), number);
  }
}

TEST(JsonWriter, HostileTextComesBack) {
  const std::string hostile(
      "\"\\ \n\t\b\0\x1b[31m</script><!-- \xe2\x80\xa8 \xf0\x9f\x98\x80 {}[],:"sv);
  std::string out;
  JsonWriter(&out).BeginObject().Field(hostile, hostile).EndObject();
  EXPECT_EQ(out.find("</script"), std::string::npos);
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  out.reserve(out.size() + simdjson::SIMDJSON_PADDING);
  JsonReader reader;
  ASSERT_TRUE(reader.Open(out).ok()) << out;
  int fields = 0;
  EXPECT_TRUE(reader.root()
                  .ForEachField([&](std::string_view key, JsonValue value) {
                    EXPECT_EQ(key, hostile);
                    EXPECT_EQ(value.String().value_or(""), hostile);
                    ++fields;
                  })
                  .ok());
  EXPECT_EQ(fields, 1);
}

}  // namespace json_writer_test
}  // namespace debrief

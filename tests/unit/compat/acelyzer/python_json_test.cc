#include "compat/acelyzer/python_json.h"

#include <gtest/gtest.h>

#include "compat/acelyzer/python_text.h"

namespace debrief::accel {
namespace python_json_test {

std::string Rewritten(std::string_view json) {
  std::string out;
  PythonJson(out, 0).Rewrite(json);
  return out;
}

TEST(PythonJson, WritesAsPythonDoes) {
  EXPECT_EQ(Rewritten(R"({"a":[1,2.50,{}],"b":{"c":null}})"),
            "{\n    \"a\": [\n        1,\n        2.5,\n        {}\n    ],\n    \"b\": {\n        "
            "\"c\": null\n    }\n}");
  EXPECT_EQ(Rewritten("[]"), "[]");
  EXPECT_EQ(Rewritten("1e22"), "1e+22");
  EXPECT_EQ(Rewritten("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(Rewritten("NaN"), "NaN");
}

TEST(PythonJson, EscapesAgain) {
  EXPECT_EQ(Rewritten(R"("a\/b\u0041\u00E9\n")"), R"("a/bA\u00e9\n")");
  EXPECT_EQ(Rewritten("\"\xC3\xA9\""), R"("\u00e9")");
  EXPECT_EQ(Rewritten(R"("\ud83d\ude00")"), R"("\ud83d\ude00")");
}

TEST(PythonJson, SurvivesBrokenText) {
  for (const char* broken : {"", "]", "{", "[1,", "\"", "\"\\", "{\"a\"", "\"\\u12\"", "}}}"}) {
    Rewritten(broken);
  }
  EXPECT_EQ(Rewritten("]"), "");
}

TEST(PythonText, Escapes) {
  std::string out;
  AppendPythonEscaped(out, "a\"\\\n\t\x01\x7f\xF0\x9F\x98\x80\xff");
  EXPECT_EQ(out, "a\\\"\\\\\\n\\t\\u0001\x7f\\ud83d\\ude00\\ufffd");
}

TEST(PythonText, Integers) {
  EXPECT_EQ(PythonInteger("0x12345"), 74565);
  EXPECT_EQ(PythonInteger("-7"), -7);
  EXPECT_EQ(PythonInteger("1_000"), 1000);
  for (const char* none : {"", "x", "0x", "1.5", "99999999999999999999", "--1"})
    EXPECT_EQ(PythonInteger(none), std::nullopt) << none;
}

}  // namespace python_json_test
}  // namespace debrief::accel

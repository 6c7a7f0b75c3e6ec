#include "accel/value.h"

#include <gtest/gtest.h>

#include "accel/keys.h"

namespace debrief::accel {
namespace value_test {

TEST(AccelValue, StringsThatAreNumbersAreKeptAsWritten) {
  StringPool strings = MakeStrings();
  const size_t before = strings.size();
  for (const char* text : {"0", "12", "262144", "0x9919c0", "0x0", "0xff"}) {
    const Value value = Value::Of(text, strings);
    EXPECT_NE(value.kind, ValueKind::kText) << text;
    EXPECT_TRUE(value.IsString()) << text;
    EXPECT_EQ(value.AsText(strings), text);
  }
  EXPECT_EQ(strings.size(), before) << "numbers in quotes are not interned";
  for (const char* text :
       {"012", "0x0f", "0xFF", "-1", "+1", "1.5", "", "0x", "99999999999999999999"}) {
    const Value value = Value::Of(text, strings);
    EXPECT_EQ(value.kind, ValueKind::kText) << text;
    EXPECT_EQ(value.AsText(strings), text);
  }
}

TEST(AccelValue, TextsReadAsNumbers) {
  StringPool strings = MakeStrings();
  EXPECT_EQ(Value::Of("0x10", strings).AsInteger(strings), 16);
  EXPECT_EQ(Value::Of("0XFF", strings).AsInteger(strings), 255);
  EXPECT_EQ(Value::Of(" 12 ", strings).AsInteger(strings), 12);
  EXPECT_EQ(Value::Of("abc", strings).AsInteger(strings), std::nullopt);
  EXPECT_EQ(Value::Of("10.5", strings).AsNumber(strings), 10.5);
  EXPECT_EQ(Value::Number(3.9).AsInteger(strings), 3);
  EXPECT_EQ(Value::Number(1e300).AsInteger(strings), std::nullopt);
}

TEST(AccelValue, EqualBitsOfOtherKindsDiffer) {
  StringPool strings = MakeStrings();
  EXPECT_EQ(Value::Integer(5), Value::Integer(5));
  EXPECT_FALSE(Value::Integer(5) == Value::DecimalText(5));
  EXPECT_EQ(Value::Unsigned(5), Value::Integer(5));
  EXPECT_EQ(Value::Unsigned(15514734831341844875ull).AsText(strings), "15514734831341844875");
}

TEST(AccelKeys, IdsAreConstants) {
  const StringPool strings = MakeStrings();
  EXPECT_EQ(strings.Get(key::kTS1), "TS1");
  EXPECT_EQ(strings.Get(key::kTS5), "TS5");
  EXPECT_EQ(strings.Find("CollGroup"), key::kCollGroup);
}

}  // namespace value_test
}  // namespace debrief::accel

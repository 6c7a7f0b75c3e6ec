// Numbers as Python 3 prints and rounds them; expectations were taken from its documentation of
// repr() and round().
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "compat/acelyzer/python_text.h"

namespace debrief::accel {
namespace python_float_test {

TEST(PythonFloat, WritesWhatReprWrites) {
  EXPECT_EQ(PythonFloat(0.0), "0.0");
  EXPECT_EQ(PythonFloat(-0.0), "-0.0");
  EXPECT_EQ(PythonFloat(2), "2.0");
  EXPECT_EQ(PythonFloat(-17.5), "-17.5");
  EXPECT_EQ(PythonFloat(0.1), "0.1");
  EXPECT_EQ(PythonFloat(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(PythonFloat(0.0001), "0.0001");
  EXPECT_EQ(PythonFloat(0.00001), "1e-05");
  EXPECT_EQ(PythonFloat(1.5e-7), "1.5e-07");
  EXPECT_EQ(PythonFloat(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonFloat(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(PythonFloat(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(PythonFloat(1e16), "1e+16");
  EXPECT_EQ(PythonFloat(1e22), "1e+22");
  EXPECT_EQ(PythonFloat(5e-324), "5e-324");
  EXPECT_EQ(PythonFloat(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(PythonFloat(17917.14285714284), "17917.14285714284");
}

TEST(PythonFloat, WritesWhatJsonWritesForTheRest) {
  EXPECT_EQ(PythonFloat(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(PythonFloat(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(PythonFloat(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(PythonFloat, EveryNumberReadsBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = PythonFloat(value);
    ASSERT_LE(text.size(), 32u);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    ASSERT_EQ(back, value) << text;
  }
}

TEST(PythonRound, RoundsTheExactValueNotTheScaledOne) {
  EXPECT_EQ(PythonRound(2.675, 2), 2.67);  // the double lies below 2.675
  EXPECT_EQ(PythonRound(2.5, 0), 2.0);     // ties to even
  EXPECT_EQ(PythonRound(0.125, 2), 0.12);
  EXPECT_EQ(PythonRound(1.0005, 3), 1.0);
  EXPECT_EQ(PythonRound(-1.26, 1), -1.3);
  EXPECT_EQ(PythonRound(1e300, 3), 1e300);
}

TEST(PythonRound, AgreesWithRoundingDecimals) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    // Thousandths and their halves: where the quick way is nearest to being wrong.
    const double value = static_cast<double>(random() % 40'000'000) / 2000.0;
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 3);
    double expected = 0;
    std::from_chars(text, end.ptr, expected);
    ASSERT_EQ(PythonRound(value, 3), expected) << PythonFloat(value);
  }
}

}  // namespace python_float_test
}  // namespace debrief::accel

// Texts as pandas prints them; the rules are those of its display options at their defaults.
#include "compat/acelyzer/pandas_text.h"

#include <gtest/gtest.h>

namespace debrief::accel {
namespace pandas_text_test {

Column Numbers(std::string name, const std::vector<double>& values) {
  Column column{std::move(name), {}};
  for (const double value : values) column.cells.emplace_back(value);
  return column;
}

TEST(PandasText, AColumnHasTheDigitsItNeeds) {
  EXPECT_EQ(PandasText({Numbers("x", {1, 2.5})}), "  x\n1.0\n2.5");
  EXPECT_EQ(PandasText({Numbers("x", {0, 0})}), "  x\n0.0\n0.0");
  EXPECT_EQ(PandasText({Numbers("x", {1.0 / 3, 2})}), "       x\n0.333333\n2.000000");
}

TEST(PandasText, LargeNumbersWithFractionsGetExponents) {
  EXPECT_EQ(PandasText({Numbers("x", {2097962448601.916})}), "           x\n2.097962e+12");
  EXPECT_EQ(PandasText({Numbers("x", {20000000})}), "         x\n20000000.0");
}

TEST(PandasText, NumbersHaveRoomForASign) {
  Column text{"Phase", {}};
  text.cells.emplace_back(std::string("TTFT"));
  Column pid{"Pid", {}};
  pid.cells.emplace_back(int64_t{0});
  EXPECT_EQ(PandasText({pid, text}), " Pid Phase\n   0  TTFT");
}

TEST(PandasText, AnEmptyTableSaysSo) {
  EXPECT_EQ(PandasText({{"a", {}}, {"b", {}}}), "Empty DataFrame\nColumns: [a, b]\nIndex: []");
}

TEST(CommaSeparated, QuotesWhatWouldBeTakenApart) {
  Column name{"Name", {}};
  name.cells.emplace_back(std::string("f<int, \"x\">"));
  Column value{"Value", {}};
  value.cells.emplace_back(0.1);
  EXPECT_EQ(CommaSeparated({name, value}), "Name,Value\n\"f<int, \"\"x\"\">\",0.1\n");
}

}  // namespace pandas_text_test
}  // namespace debrief::accel

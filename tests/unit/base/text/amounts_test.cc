// The list that C++ and the page are held to.
#include "model/memory/amounts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/text/units.h"

namespace debrief {
namespace amounts_test {

std::string DurationOf(int64_t ns) { return DurationText(ns); }
std::string WordsOf(int64_t ns) { return DurationInWords(ns); }
std::string BytesOf(int64_t bytes) { return BytesText(static_cast<double>(bytes)); }
std::string MemoryOf(int64_t bytes) { return memory::SizeText(bytes); }

TEST(Amounts, AreWrittenAsListed) {
#define X(kind, value, text) EXPECT_EQ(kind##Of(value), text) << #kind " of " << (value);
#include "amounts.def"
#undef X
}

TEST(Amounts, HaveTheirSign) {
  EXPECT_EQ(DurationText(-12'500), "-12.5 us");
  EXPECT_EQ(SignedDurationText(12'500), "+12.5 us");
  EXPECT_EQ(SignedDurationText(0), "0");
}

}  // namespace amounts_test
}  // namespace debrief

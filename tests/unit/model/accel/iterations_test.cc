#include "model/accel/iterations.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

#include "unit/cpu_time.h"

namespace debrief::accel {
namespace iterations_test {

// A letter a kernel.
std::vector<uint32_t> Names(std::string_view text) { return {text.begin(), text.end()}; }

TEST(Iterations, FindsThePeriodBehindAPrologue) {
  const Iterations found = FindIterations(Names("stuabbcabbcabbce"));
  EXPECT_EQ(found.period, 4u);
  EXPECT_EQ(found.starts, (std::vector<size_t>{3, 7, 11}));
}

TEST(Iterations, ALayerIsNotAnIteration) {
  // Layers "lm" repeat inside; an iteration is i, three layers, o.
  const Iterations found = FindIterations(Names("ilmlmlmoilmlmlmoilmlmlmo"));
  EXPECT_EQ(found.period, 8u);
  EXPECT_EQ(found.starts.size(), 3u);
}

TEST(Iterations, AWordWithoutARareNameIsFound) {
  // No single name comes back after exactly one period of "aabb".
  const Iterations found = FindIterations(Names("aabbaabbaabb"));
  EXPECT_EQ(found.period, 4u);
  EXPECT_EQ(found.starts.size(), 3u);
}

TEST(Iterations, AnInterruptedRunGoesOn) {
  const Iterations found = FindIterations(Names("abcabcabcxabcabc"));
  EXPECT_EQ(found.period, 3u);
  EXPECT_EQ(found.starts, (std::vector<size_t>{0, 3, 6, 10, 13}));
}

TEST(Iterations, TheSmallestPeriodCounts) {
  const Iterations found = FindIterations(Names("aaaaaaaaaaaa"));
  EXPECT_EQ(found.period, 1u);
  EXPECT_EQ(found.starts.size(), 12u);
}

TEST(Iterations, SaysWhyThereAreNone) {
  EXPECT_EQ(FindIterations({}).why_not, "no kernel was recorded");
  EXPECT_EQ(FindIterations(Names("abcdef")).why_not, "no kernel runs twice");
  const Iterations found = FindIterations(Names("abcad"));
  EXPECT_EQ(found.period, 0u);
  EXPECT_EQ(found.why_not, "kernels repeat, but no sequence of them runs twice in a row");
}

double Seconds(const std::vector<uint32_t>& names) {
  const double start = CpuSeconds();
  const Iterations found = FindIterations(names);
  EXPECT_EQ(found.period, 0u);
  return CpuSeconds() - start;
}

TEST(Iterations, IsLinearWhereNothingRepeats) {
  std::vector<uint32_t> small(100'000), large(1'600'000);
  std::iota(small.begin(), small.end(), 0u);
  std::iota(large.begin(), large.end(), 0u);
  const double unit = Seconds(small) + 1e-3;
  EXPECT_LT(Seconds(large), 16 * unit * 20);  // quadratic would be 256 times
}

}  // namespace iterations_test
}  // namespace debrief::accel

#include "diff/gates.h"

#include <gtest/gtest.h>

namespace debrief::diff {
namespace gates_test {

RunDiff WithMetric(std::string_view name, Unit unit, Change change) {
  RunDiff diff;
  diff.metrics.push_back({name, unit, change});
  return diff;
}

bool Fails(std::string_view gate, const RunDiff& diff) {
  auto parsed = ParseGate(gate);
  EXPECT_TRUE(parsed.ok()) << gate;
  return parsed.ok() && Test(parsed.value(), diff).failed;
}

TEST(DiffGates, PercentAndAbsoluteThresholds) {
  const RunDiff slower =
      WithMetric("step_time", Unit::kNanoseconds,
                 {.a = 100'000'000, .b = 110'000'000, .noise = 1, .is_real = true});
  EXPECT_TRUE(Fails("step_time>5%", slower));
  EXPECT_FALSE(Fails("step_time>10%", slower));
  EXPECT_TRUE(Fails("step_time>9.5ms", slower));
  EXPECT_FALSE(Fails("step_time>0.01s", slower));
  EXPECT_FALSE(Fails("compile_time>0%", slower));
}

TEST(DiffGates, WhatIsWithinNoisePasses) {
  const RunDiff noisy = WithMetric("step_time", Unit::kNanoseconds,
                                   {.a = 100, .b = 200, .noise = 300, .is_real = false});
  EXPECT_FALSE(Fails("step_time>5%", noisy));
  const RunDiff unknown = WithMetric("step_time", Unit::kNanoseconds, {.a = 100, .b = 200});
  EXPECT_FALSE(Fails("step_time>5%", unknown));
}

TEST(DiffGates, ImprovementsPass) {
  EXPECT_FALSE(Fails("graph_breaks>0", WithMetric("graph_breaks", Unit::kCount,
                                                  {.a = 4, .b = 2, .noise = 0, .is_real = true})));
  EXPECT_TRUE(Fails("graph_breaks>0", WithMetric("graph_breaks", Unit::kCount,
                                                 {.a = 0, .b = 1, .noise = 0, .is_real = true})));
}

TEST(DiffGates, NewFindingsByLevel) {
  RunDiff diff;
  diff.sections.push_back({"findings", "Findings", {}});
  diff.sections[0].rows.push_back({.change = "gone", .name = "x", .note = "error"});
  diff.sections[0].rows.push_back({.change = "changed", .name = "y", .note = "error -> warning"});
  EXPECT_FALSE(Fails("new-error", diff));
  EXPECT_TRUE(Fails("new-warning", diff));
  diff.sections[0].rows.push_back({.change = "new", .name = "z", .note = "error"});
  EXPECT_TRUE(Fails("new-error", diff));
}

TEST(DiffGates, WhatIsNoGateIsRefused) {
  for (std::string_view text :
       {"", "new", "step_time", "step_time>", "step_time>x", "step_time>-1%", "step_time>5MB",
        "speed>5%", "graph_breaks>1s", "step_time>nan%"})
    EXPECT_FALSE(ParseGate(text).ok()) << text;
}

}  // namespace gates_test
}  // namespace debrief::diff

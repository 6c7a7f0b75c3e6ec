#include "accel/options.h"

#include <gtest/gtest.h>

#include "accel/run.h"

namespace debrief::accel {
namespace options_test {

Code CodeOf(const Arguments& arguments) { return MakeOptions(arguments).status().code(); }

TEST(AccelOptions, Defaults) {
  const Options options = MakeOptions({}).value();
  EXPECT_EQ(options.output, "processed_trace.pt.trace.json");
  EXPECT_EQ(MakeOptions({.disable_tb = true}).value().output, "processed_trace.json");
  EXPECT_EQ(options.soc_mhz, 1000);
  EXPECT_EQ(options.core_mhz, 1100);
  EXPECT_TRUE(options.counters.power_ts4 && options.counters.rcu_util);
  EXPECT_FALSE(options.counters.bandwidth);
}

TEST(AccelOptions, Frequency) {
  const Options both = MakeOptions({.freq = "560:800"}).value();
  EXPECT_EQ(both.soc_mhz, 560);
  EXPECT_EQ(both.core_mhz, 800);
  EXPECT_EQ(MakeOptions({.freq = "560"}).value().core_mhz, 1100);
  EXPECT_EQ(MakeOptions({.freq = "560:800:9"}).value().core_mhz, 800);
  EXPECT_TRUE(MakeOptions({.freq = "auto"}).value().freq_is_auto);
  for (const char* bad : {"abcd", "560:defg", "-500.0", "560.0:-800", "0.0:800", "nan"})
    EXPECT_EQ(CodeOf({.freq = bad}), Code::kInvalid) << bad;
}

TEST(AccelOptions, Limit) {
  const EventLimit limit =
      MakeOptions({.event_limit = R"({"skip": 2, "ts_end": 7.5})"}).value().limit;
  EXPECT_EQ(limit.skip, 2);
  EXPECT_EQ(limit.ts_end, 7.5);
  EXPECT_EQ(limit.count, int64_t{1} << 60);
  for (const char* bad : {"[1]", "{", R"({"other": 1})", R"({"skip": "x"})"})
    EXPECT_EQ(CodeOf({.event_limit = bad}), Code::kUsage) << bad;
}

TEST(AccelOptions, Counters) {
  const Options none = MakeOptions({.counters = {""}, .has_counters = true}).value();
  EXPECT_FALSE(none.counters.power_ts4 || none.counters.prep_queue);
  EXPECT_TRUE(none.counter_names.empty());
  EXPECT_EQ(CodeOf({.counters = {"power_ts3", "power_ts4"}, .has_counters = true}), Code::kInvalid);
}

TEST(AccelSidePath, StemOfTheOutput) {
  auto path = [](std::string output, bool compat) {
    Options options;
    options.output = std::move(output);
    options.compat = compat;
    return SidePath(options, "summary", "csv");
  };
  EXPECT_EQ(path("test_file.json", false), "test_file_summary.csv");
  EXPECT_EQ(path("processed_trace.pt.trace.json", true), "processed_trace_summary.csv");
  EXPECT_EQ(path("test_file", true), "test_file_summary.csv");
  EXPECT_EQ(path("./out", false), "./out_summary.csv");
  EXPECT_EQ(path("./out", true), "_summary.csv");
}

}  // namespace options_test
}  // namespace debrief::accel

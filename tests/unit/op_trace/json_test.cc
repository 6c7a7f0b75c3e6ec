// Op traces as JSON: every name survives, the old layout is met to the byte, broken text is
// refused.
#include <gtest/gtest.h>

#include "debrief/op_trace.hpp"
#include "op_trace/json_text.h"

namespace debrief::op_trace {
namespace json_test {

TEST(OpTraceJson, NamesSurvive) {
  const std::string names[] = {"a;b",
                               "a b",
                               "say \"hi\"\\",
                               std::string("nul\0in", 6),
                               "\n\t\x01",
                               "\u00e9\u4e16\U0001F600",
                               std::string(65536, 'x'),
                               ""};
  for (const Behaviour behaviour : {Behaviour::kCorrect, Behaviour::kReference}) {
    for (const std::string& name : names) {
      Trace trace(behaviour);
      trace.Add(Entry(7, "op" + name).WithDevice(name));
      trace.SetMetadata(name, name);
      const Loaded loaded = FromJson(trace.ToJson(), behaviour);
      ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
      EXPECT_EQ(loaded.trace->entries()[0].operation, "op" + name);
      EXPECT_EQ(loaded.trace->entries()[0].device, name);
      EXPECT_EQ(loaded.trace->metadata().at(name), name);
    }
  }
}

TEST(OpTraceJson, BytesThatAreNoText) {
  std::string out;
  AppendQuoted(out, "a\xff\xc0\xaf\xed\xa0\x80z");
  EXPECT_EQ(out, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\"");
}

TEST(OpTraceJson, OldLayout) {
  Trace trace(Behaviour::kReference);
  EXPECT_EQ(trace.ToJson(),
            "{\n  \"entries\": [],\n  \"total_duration_us\": 0.0,\n  \"metadata\": {}\n}");
  trace.Add(Entry(1, "mm")
                .WithDevice("gpu:0")
                .WithInputShapes({{2, 3}, {}})
                .WithOutputShape({4})
                .WithDurationUs(12.5));
  trace.SetMetadata("k", "v");
  EXPECT_EQ(trace.ToJson(), R"({
  "entries": [
    {
      "step": 1,
      "operation": "mm",
      "device_id": "gpu:0",
      "input_shapes": [
        [
          2,
          3
        ],
        []
      ],
      "output_shape": [
        4
      ],
      "duration_us": 12.5,
      "output_elements": 4,
      "memory_bytes": 32
    }
  ],
  "total_duration_us": 12.5,
  "metadata": {
    "k": "v"
  }
})");
}

TEST(OpTraceJson, KeysAreSortedAndTimesExact) {
  Trace trace;
  Entry entry =
      Entry(1, "mm").WithOutputShape({4}, Dtype::kFloat32).WithDuration(1'234'567'890'123);
  entry.start_ns = 1'700'000'000'000'000'001;
  entry.thread = 42;
  entry.open = true;
  trace.Add(entry);
  EXPECT_EQ(
      trace.ToJson(),
      "{\"entries\": [\n"
      "{\"device_id\": null, \"dtype\": \"float32\", \"duration_us\": 1234567890.123, "
      "\"input_shapes\": [], \"memory_assumed\": false, \"memory_bytes\": 16, \"open\": true, "
      "\"operation\": \"mm\", \"output_elements\": 4, \"output_shape\": [4], "
      "\"start_ns\": 1700000000000000001, \"step\": 1, \"thread\": 42}],\n"
      "\"metadata\": {},\n\"total_duration_us\": 1234567890.123}\n");
  const Loaded loaded = FromJson(trace.ToJson());
  ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
  EXPECT_EQ(loaded.trace->ToJson(), trace.ToJson());
}

TEST(OpTraceJson, BrokenTextIsRefusedWithItsPlace) {
  const std::string good = [] {
    Trace trace;
    trace.Add(Entry(0, "a").WithInputShapes({{1, 2}}));
    trace.SetMetadata("k", "v\u00e9");
    return trace.ToJson();
  }();
  for (size_t cut = 0; cut + 1 < good.size(); ++cut)
    EXPECT_FALSE(FromJson(good.substr(0, cut)).trace.has_value()) << cut;
  for (const char* text : {"", "[]", "{", "{}", R"({"entries": 3})", R"({"entries": [3]})",
                           R"({"entries": [], })", R"({"entries": [] "metadata": {}})",
                           R"({"entries": [{"operation": "\x"}]})", R"({"entries": []} x)",
                           R"({"entries": [], "x": {"a": ]})", R"({"entries": [{"step": -1}]})"}) {
    const Loaded loaded = FromJson(text);
    EXPECT_FALSE(loaded.trace.has_value()) << text;
    EXPECT_FALSE(loaded.problem.empty()) << text;
  }
  EXPECT_EQ(FromJson(R"({"entries": !})").problem, "broken JSON at byte 12");
}

TEST(OpTraceJson, AbsurdTimesStayWithinBounds) {
  const Loaded loaded = FromJson(
      R"({"entries": [{"operation": "a", "device_id": "x", "start_ns": 18446744073709551615, "duration_us": 9e15},
                      {"operation": "b", "device_id": "x", "start_ns": 5, "duration_us": 9e15},
                      {"operation": "c", "device_id": "x", "start_ns": 6, "duration_us": 9e15},
                      {"operation": "d", "device_id": "x", "start_ns": 7, "duration_us": -9e15}]})");
  ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
  EXPECT_GT(loaded.trace->TotalDurationNs(), 0);
  EXPECT_GT(SummariseDevices(*loaded.trace)[0].busy_ns, 0);
  EXPECT_FALSE(CollapsedStacks(*loaded.trace).empty());
}

TEST(OpTraceJson, UnknownKeysAreSkippedAndHolesAreFilled) {
  const Loaded loaded = FromJson(
      R"({"more": [{"a": [1, "]", null, true]}], "entries": [{"operation": "a", "new": {"x": []}}, {"step": 4}]})");
  ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
  EXPECT_EQ(loaded.trace->StepCount(), 1u);
  EXPECT_EQ(loaded.warnings.size(), 1u);
  EXPECT_FALSE(
      FromJson(R"({"entries": [{"operation": "a"}], "total_duration_us": 0, "metadata": {}})",
               Behaviour::kReference)
          .trace.has_value());
}

}  // namespace json_test
}  // namespace debrief::op_trace

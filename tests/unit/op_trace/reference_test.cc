// What the first op traces promised, promise by promise, through op_trace.hpp.
#include <gtest/gtest.h>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {
namespace reference_test {

Entry Op(std::string name, double us) { return Entry(0, std::move(name)).WithDurationUs(us); }

Entry Sized(std::string name, uint64_t elements) {
  return Entry(0, std::move(name)).WithOutputShape({elements});
}

Entry On(std::string device, double us) { return Op("matmul", us).WithDevice(std::move(device)); }

const OpSummary& Named(const std::vector<OpSummary>& ops, std::string_view name) {
  for (const OpSummary& op : ops) {
    if (op.operation == name) return op;
  }
  ADD_FAILURE() << "no " << name;
  return ops.front();
}

TEST(OpTraceEntry, New) {
  const Entry entry(3, "relu");
  EXPECT_EQ(entry.step, 3u);
  EXPECT_EQ(entry.operation, "relu");
  EXPECT_FALSE(entry.device.has_value());
  EXPECT_TRUE(entry.input_shapes.empty());
  EXPECT_FALSE(entry.output_shape.has_value());
  EXPECT_EQ(entry.duration_ns, 0);
  EXPECT_EQ(entry.output_elements, 0u);
  EXPECT_EQ(entry.memory_bytes, 0u);
}

TEST(OpTraceEntry, Builder) {
  const Entry entry = Entry(0, "conv2d")
                          .WithDevice("gpu:0")
                          .WithInputShapes({{1, 3, 32, 32}, {16, 3, 3, 3}})
                          .WithOutputShape({1, 16, 30, 30})
                          .WithDuration(500'000);
  EXPECT_EQ(entry.device, "gpu:0");
  EXPECT_EQ(entry.input_shapes.size(), 2u);
  EXPECT_EQ(entry.output_elements, 14'400u);
  EXPECT_EQ(entry.memory_bytes, 14'400u * 8);
  EXPECT_TRUE(entry.memory_assumed);
  EXPECT_NEAR(entry.DurationUs(), 500, 1);
}

TEST(OpTraceEntry, Throughput) {
  EXPECT_DOUBLE_EQ(Sized("a", 1000).WithDurationUs(100).ElementsPerUs(), 10);
  EXPECT_EQ(Sized("a", 1000).ElementsPerUs(), 0);
}

TEST(OpTraceTrace, NewEmpty) {
  const Trace trace;
  EXPECT_EQ(trace.StepCount(), 0u);
  EXPECT_EQ(trace.TotalDurationNs(), 0);
  EXPECT_TRUE(trace.metadata().empty());
}

TEST(OpTraceTrace, AddEntry) {
  Trace trace;
  trace.Add(Op("a", 100));
  trace.Add(Op("b", 200));
  EXPECT_EQ(trace.TotalDurationNs(), 300'000);
}

TEST(OpTraceTrace, StepCount) {
  Trace trace;
  EXPECT_EQ(trace.StepCount(), 0u);
  for (int i = 0; i < 3; ++i) trace.Add(Op("a", 1));
  EXPECT_EQ(trace.StepCount(), 3u);
}

TEST(OpTraceTrace, TotalMemory) {
  Trace trace;
  trace.Add(Sized("a", 10));
  trace.Add(Sized("b", 20));
  EXPECT_EQ(trace.TotalMemoryBytes(), 240u);
}

TEST(OpTraceTrace, PeakMemory) {
  Trace trace;
  EXPECT_EQ(trace.LargestOutputBytes(), 0u);
  for (const uint64_t elements : {10u, 100u, 50u}) trace.Add(Sized("a", elements));
  EXPECT_EQ(trace.LargestOutputBytes(), 800u);
}

TEST(OpTraceTrace, SlowestOps) {
  Trace trace;
  for (const double us : {10.0, 300.0, 100.0}) trace.Add(Op(std::to_string(us), us));
  const auto slowest = trace.SlowestOps(2);
  ASSERT_EQ(slowest.size(), 2u);
  EXPECT_EQ(slowest[0]->duration_ns, 300'000);
  EXPECT_EQ(slowest[1]->duration_ns, 100'000);
  EXPECT_EQ(trace.SlowestOps(9).size(), 3u);
}

TEST(OpTraceTrace, ToJson) {
  for (const Behaviour behaviour : {Behaviour::kCorrect, Behaviour::kReference}) {
    Trace trace(behaviour);
    trace.Add(Op("matmul", 12.5).WithOutputShape({2, 4}));
    const std::string json = trace.ToJson();
    EXPECT_NE(json.find("matmul"), std::string_view::npos);
    const Loaded loaded = FromJson(json, behaviour);
    ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
    ASSERT_EQ(loaded.trace->StepCount(), 1u);
    EXPECT_EQ(loaded.trace->entries()[0].output_elements, 8u);
    EXPECT_EQ(loaded.trace->ToJson(), json);
  }
}

TEST(OpTraceTrace, Metadata) {
  Trace trace;
  trace.SetMetadata("model", "tiny");
  trace.SetMetadata("batch", "32");
  trace.SetMetadata("model", "small");
  EXPECT_EQ(trace.metadata().size(), 2u);
  EXPECT_EQ(trace.metadata().at("model"), "small");
}

TEST(OpTraceAnalyzer, OperationSummary) {
  Trace trace;
  trace.Add(Sized("matmul", 10).WithDurationUs(100));
  trace.Add(Sized("matmul", 20).WithDurationUs(200));
  trace.Add(Sized("relu", 5).WithDurationUs(50));
  const auto ops = SummariseOps(trace);
  ASSERT_EQ(ops.size(), 2u);
  const OpSummary& matmul = Named(ops, "matmul");
  EXPECT_EQ(matmul.count, 2u);
  EXPECT_EQ(matmul.duration_ns, 300'000);
  EXPECT_EQ(matmul.bytes, 30u * 8);
  EXPECT_EQ(Named(ops, "relu").count, 1u);
}

TEST(OpTraceAnalyzer, MemoryHotspots) {
  Trace trace;
  trace.Add(Sized("small", 10));
  trace.Add(Sized("middle", 100));
  trace.Add(Sized("large", 1000));
  EXPECT_EQ(MemoryHotspots(trace, 500).size(), 2u);
  ASSERT_EQ(MemoryHotspots(trace, 1000).size(), 1u);
  EXPECT_EQ(MemoryHotspots(trace, 1000)[0]->operation, "large");
  EXPECT_TRUE(MemoryHotspots(trace, 8000).empty()) << "strictly above";
}

TEST(OpTraceAnalyzer, AvgDuration) {
  Trace trace;
  trace.Add(Op("matmul", 100));
  trace.Add(Op("matmul", 300));
  trace.Add(Op("relu", 200));
  EXPECT_EQ(Named(SummariseOps(trace), "matmul").mean_ns, 200'000);
  EXPECT_EQ(Named(SummariseOps(trace), "relu").mean_ns, 200'000);
}

TEST(OpTraceAnalyzer, PerDeviceSummary) {
  Trace trace;
  trace.Add(On("gpu:0", 100).WithOutputShape({4}));
  trace.Add(On("gpu:1", 50));
  trace.Add(On("gpu:0", 200));
  trace.Add(Op("host", 10));
  const auto devices = SummariseDevices(trace);
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, "gpu:0");
  EXPECT_EQ(devices[0].count, 2u);
  EXPECT_EQ(devices[0].duration_ns, 300'000);
  EXPECT_EQ(devices[0].bytes, 32u);
  EXPECT_EQ(devices[1].count, 1u);
}

TEST(OpTraceAnalyzer, LoadBalanceMetrics) {
  Trace trace;
  trace.Add(On("gpu:0", 300));
  EXPECT_FALSE(BalanceOfDevices(trace).has_value()) << "one device has nothing to be even with";
  trace.Add(On("gpu:1", 100));
  const auto balance = BalanceOfDevices(trace);
  ASSERT_TRUE(balance.has_value());
  EXPECT_EQ(balance->devices.size(), 2u);
  EXPECT_EQ(balance->ideal_ns, 200'000);
  EXPECT_EQ(balance->max_ns, 300'000);
  EXPECT_DOUBLE_EQ(balance->imbalance, 0.5);
}

TEST(OpTraceAnalyzer, CommunicationBottlenecks) {
  Trace trace;
  trace.Add(Op("allreduce", 600));
  trace.Add(Op("broadcast", 300));
  trace.Add(Op("matmul", 200));
  const auto found = CommunicationBottlenecks(trace, 0.2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].operation, "allreduce");
  EXPECT_NEAR(found[0].of_op_time, 600.0 / 1100, 1e-9);
  EXPECT_EQ(found[1].operation, "broadcast");
  EXPECT_EQ(CommunicationBottlenecks(trace, 0.5).size(), 1u);
}

TEST(OpTraceAnalyzer, FlamegraphCollapsed) {
  Trace trace(Behaviour::kReference);
  trace.Add(On("gpu:0", 123));
  trace.Add(On("gpu:0", 77));
  trace.Add(Op("relu", 50));
  EXPECT_EQ(CollapsedStacks(trace), "trace;gpu:0;matmul 200\ntrace;unknown;relu 50");
}

int64_t FakeNow() {
  static int64_t now = 0;
  return now += 1000;
}

TEST(OpTraceRecorder, BeginEnd) {
  Recorder recorder(Behaviour::kCorrect, FakeNow);
  recorder.BeginOp("matmul");
  recorder.EndOpWithShapes({{2, 3}, {3, 4}}, {2, 4});
  ASSERT_EQ(recorder.CurrentTrace().StepCount(), 1u);
  const Entry& entry = recorder.CurrentTrace().entries()[0];
  EXPECT_EQ(entry.output_elements, 8u);
  EXPECT_EQ(entry.duration_ns, 1000);
}

TEST(OpTraceRecorder, MultipleOps) {
  Recorder recorder;
  for (const char* name : {"a", "b", "c"}) {
    recorder.BeginOp(name);
    recorder.EndOp();
  }
  const Trace trace = recorder.Finish();
  ASSERT_EQ(trace.StepCount(), 3u);
  for (uint64_t step = 0; step < 3; ++step) EXPECT_EQ(trace.entries()[step].step, step);
}

TEST(OpTraceRecorder, Finish) {
  Recorder recorder;
  recorder.EndOp();  // nothing is open
  recorder.BeginOp("open");
  EXPECT_EQ(recorder.CurrentTrace().StepCount(), 0u);
  EXPECT_EQ(recorder.Finish().StepCount(), 1u);
}

TEST(OpTraceAnalyzer, OpSummaryDefault) {
  const OpSummary summary;
  EXPECT_EQ(summary.count, 0u);
  EXPECT_EQ(summary.duration_ns, 0);
  EXPECT_EQ(summary.bytes, 0u);
}

}  // namespace reference_test
}  // namespace debrief::op_trace

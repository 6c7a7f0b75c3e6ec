// The behaviour that the first op traces cut, each both ways.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {
namespace behaviour_test {

constexpr Behaviour kBoth[] = {Behaviour::kCorrect, Behaviour::kReference};

Trace OneOp(Behaviour behaviour, std::string name, double us) {
  Trace trace(behaviour);
  trace.Add(Entry(0, std::move(name)).WithDurationUs(us));
  return trace;
}

TEST(OpTraceBehaviour, CollectivesAreToldByWords) {
  for (const char* name : {"all_reduce",
                           "allreduce",
                           "c10d::allreduce_",
                           "nccl:all_reduce",
                           "_allgather_base",
                           "nccl:_all_gather_base",
                           "all_gather_into_tensor",
                           "_c10d_functional::all_gather_into_tensor",
                           "reduce_scatter_tensor",
                           "c10d::_reduce_scatter_base_",
                           "alltoall",
                           "all_to_all_single",
                           "alltoall_base",
                           "barrier",
                           "c10d::barrier",
                           "broadcast",
                           "broadcast_coalesced",
                           "c10d::broadcast_",
                           "send",
                           "recv",
                           "isend",
                           "nccl:send 0->1",
                           "gloo:reduce",
                           "gloo:gather",
                           "MPI_Allreduce",
                           "MPI_Bcast",
                           "MPI_Alltoallv",
                           "MPI_Sendrecv",
                           "ncclAllReduce",
                           "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                           "ncclDevKernel_SendRecv",
                           "NCCLBroadcast",
                           "allreduce_hook",
                           "grad_comm",
                           "pipeline_send",
                           "recv_forward",
                           "CommHook",
                           "param_broadcast",
                           "broadcast_buffers"}) {
    EXPECT_TRUE(IsCommunication(name)) << name;
  }
  for (const char* name :
       {"commit", "common_subexpr", "aten::broadcast_tensors", "broadcast_to", "aten::scatter_add",
        "aten::gather", "aten::scatter_reduce", "reduce_sum", "append", "resend_buffer", "recvx",
        "community", "all", "", "aten::mm", "prims::broadcast_in_dim", "command_buffer"}) {
    EXPECT_FALSE(IsCommunication(name)) << name;
  }
}

TEST(OpTraceBehaviour, CompatMissesAndMatchesAsEver) {
  for (const char* name : {"all_reduce", "_allgather_base", "alltoall", "barrier"})
    EXPECT_FALSE(IsCommunication(name, Behaviour::kReference)) << name;
  for (const char* name : {"commit", "common_subexpr", "aten::broadcast_tensors", "AllReduce"})
    EXPECT_TRUE(IsCommunication(name, Behaviour::kReference)) << name;
}

TEST(OpTraceBehaviour, UnknownDurationReadsBack) {
  for (const double us : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::string right = OneOp(Behaviour::kCorrect, "a", us).ToJson();
    EXPECT_NE(right.find("\"duration_us\": null"), std::string_view::npos);
    const Loaded loaded = FromJson(right);
    ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
    EXPECT_FALSE(loaded.trace->entries()[0].duration_ns.has_value());
    const std::string compat = OneOp(Behaviour::kReference, "a", us).ToJson();
    EXPECT_NE(compat.find("\"duration_us\": null"), std::string_view::npos);
    for (const Behaviour behaviour : kBoth) {
      const Loaded back = FromJson(compat, behaviour);
      ASSERT_TRUE(back.trace.has_value()) << back.problem;
      EXPECT_FALSE(back.trace->entries()[0].duration_ns.has_value());
    }
  }
  EXPECT_EQ(OneOp(Behaviour::kCorrect, "a", std::nan("")).TotalDurationNs(), 0);
}

TEST(OpTraceBehaviour, FramesAreEscapedOrNot) {
  EXPECT_EQ(CollapsedStacks(OneOp(Behaviour::kCorrect, "a;b c\nd", 2)), "no device;a,b c d 2000\n");
  EXPECT_EQ(CollapsedStacks(OneOp(Behaviour::kReference, "a;b c", 2)), "trace;unknown;a;b c 2");
  for (const Behaviour behaviour : kBoth) EXPECT_EQ(CollapsedStacks(Trace(behaviour)), "");
}

TEST(OpTraceBehaviour, ShortOpsWeighWhatTheyTake) {
  EXPECT_EQ(CollapsedStacks(OneOp(Behaviour::kCorrect, "a", 0.25)), "no device;a 250\n");
  EXPECT_EQ(CollapsedStacks(OneOp(Behaviour::kReference, "a", 0.25)), "trace;unknown;a 1");
}

TEST(OpTraceBehaviour, BytesFollowTheType) {
  const Shape shape = {10};
  EXPECT_EQ(SizeOfOutput(&shape, Dtype::kBfloat16, Behaviour::kCorrect).bytes, 20u);
  EXPECT_FALSE(SizeOfOutput(&shape, Dtype::kBfloat16, Behaviour::kCorrect).assumed);
  EXPECT_TRUE(SizeOfOutput(&shape, Dtype::kUnknown, Behaviour::kCorrect).assumed);
  EXPECT_EQ(SizeOfOutput(&shape, Dtype::kBfloat16, Behaviour::kReference).bytes, 80u);
}

TEST(OpTraceBehaviour, NoShapeIsNoScalar) {
  for (const Behaviour behaviour : kBoth) {
    Recorder recorder(behaviour);
    recorder.BeginOp("a");
    recorder.EndOp();
    const Trace trace = recorder.Finish();
    const uint64_t elements = behaviour == Behaviour::kCorrect ? 0 : 1;
    EXPECT_EQ(trace.entries()[0].output_elements, elements);
    EXPECT_EQ(trace.entries()[0].memory_bytes, elements * 8);
  }
}

TEST(OpTraceBehaviour, OddShapes) {
  for (const Behaviour behaviour : kBoth) {
    const Shape scalar, none = {4, 0, 9}, huge = {uint64_t{1} << 40}, deep(64, 1);
    EXPECT_EQ(SizeOfOutput(&scalar, Dtype::kUnknown, behaviour).elements, 1u);
    EXPECT_EQ(SizeOfOutput(&none, Dtype::kUnknown, behaviour).elements, 0u);
    EXPECT_EQ(SizeOfOutput(&none, Dtype::kUnknown, behaviour).bytes, 0u);
    EXPECT_EQ(SizeOfOutput(&huge, Dtype::kUnknown, behaviour).bytes, uint64_t{8} << 40);
    EXPECT_EQ(SizeOfOutput(&deep, Dtype::kUnknown, behaviour).elements, 1u);
  }
  const Shape zero_last = {UINT64_MAX, 3, 0};
  EXPECT_EQ(SizeOfOutput(&zero_last, Dtype::kUnknown, Behaviour::kCorrect).elements, 0u);
}

TEST(OpTraceBehaviour, OverflowSaturatesOrWraps) {
  const Shape shape = {UINT64_MAX, 3};
  const OutputSize right = SizeOfOutput(&shape, Dtype::kUnknown, Behaviour::kCorrect);
  EXPECT_EQ(right.elements, UINT64_MAX);
  EXPECT_EQ(right.bytes, UINT64_MAX);
  EXPECT_TRUE(right.saturated);
  const OutputSize compat = SizeOfOutput(&shape, Dtype::kUnknown, Behaviour::kReference);
  EXPECT_EQ(compat.elements, 18446744073709551613u);
  EXPECT_FALSE(compat.saturated);
  for (const Behaviour behaviour : kBoth) {
    Trace trace(behaviour);
    for (int i = 0; i < 2; ++i)
      trace.Add(Entry(0, "a").WithOutputShape({uint64_t{1} << 60}, Dtype::kUnknown, behaviour));
    EXPECT_EQ(trace.TotalMemoryBytes(), behaviour == Behaviour::kCorrect ? UINT64_MAX : 0u);
  }
}

TEST(OpTraceBehaviour, DevicesInTheOrderOfNumbersOrOfText) {
  for (const Behaviour behaviour : kBoth) {
    Trace trace(behaviour);
    for (const char* device : {"gpu:10", "gpu:2", "cpu", "gpu:02"})
      trace.Add(Entry(0, "a").WithDevice(device));
    std::string order;
    for (const DeviceSummary& device : SummariseDevices(trace)) order += device.device + " ";
    EXPECT_EQ(order, behaviour == Behaviour::kCorrect ? "cpu gpu:02 gpu:2 gpu:10 "
                                                      : "cpu gpu:02 gpu:10 gpu:2 ");
  }
}

int64_t now_ns = 0;
int64_t TestNow() { return now_ns; }

Trace Nested(Behaviour behaviour) {
  now_ns = 0;
  Recorder recorder(behaviour, TestNow);
  recorder.BeginOp("outer");
  now_ns = 1000;
  recorder.BeginOp("inner");
  now_ns = 4000;
  recorder.EndOpWithShapes({}, {2});
  now_ns = 6000;
  recorder.EndOpWithShapes({}, {3});
  return recorder.Finish();
}

TEST(OpTraceBehaviour, OpsNestOrEndEachOther) {
  const Trace right = Nested(Behaviour::kCorrect);
  ASSERT_EQ(right.StepCount(), 2u);
  EXPECT_EQ(right.entries()[1].operation, "outer");
  EXPECT_EQ(right.entries()[1].duration_ns, 6000);
  EXPECT_EQ(right.entries()[1].output_elements, 3u);
  EXPECT_EQ(right.TotalDurationNs(), 6000) << "each moment once";
  EXPECT_EQ(CollapsedStacks(right), "no device;outer 3000\nno device;outer;inner 3000\n");
  const Trace compat = Nested(Behaviour::kReference);
  ASSERT_EQ(compat.StepCount(), 2u);
  EXPECT_EQ(compat.entries()[0].operation, "outer");
  EXPECT_EQ(compat.entries()[0].duration_ns, 1000);
  EXPECT_EQ(compat.entries()[0].output_elements, 1u);
  EXPECT_EQ(compat.TotalDurationNs(), 4000);
}

TEST(OpTraceBehaviour, ThroughputWithoutDuration) {
  const Entry entry = Entry(0, "a").WithOutputShape({4}).WithDurationUs(std::nan(""));
  EXPECT_EQ(entry.ElementsPerUs(), 0);
  EXPECT_TRUE(std::isnan(entry.ElementsPerUs(Behaviour::kReference)));
}

TEST(OpTraceBehaviour, BalanceOfNothing) {
  for (const Behaviour behaviour : kBoth) {
    Trace trace(behaviour);
    trace.Add(Entry(0, "a").WithDevice("x"));
    trace.Add(Entry(0, "a").WithDevice("y"));
    EXPECT_EQ(BalanceOfDevices(trace)->imbalance, 0);
  }
}

}  // namespace behaviour_test
}  // namespace debrief::op_trace

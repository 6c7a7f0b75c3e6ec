// What a communication kernel moved, from the ops that issued it; and groups slower than others.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/comms/samples.h"
#include "tables/profile_collective.h"
#include "torch/collective_names.h"
#include "unit/model/timeline_fixture.h"

namespace debrief {
namespace timeline_collectives_test {

using analyses::profile_comms::BusFactor;
using analyses::profile_comms::FindSlowGroups;
using analyses::profile_comms::Kind;
using analyses::profile_comms::Samples;
using timeline::IsBookkeeping;
using timeline::PlainOp;

TEST(TimelineCollectives, PublicOps) {
  EXPECT_EQ(timeline::PublicOp("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(timeline::PublicOp("_REDUCE_SCATTER_BASE"), "reduce_scatter");
  EXPECT_EQ(timeline::PublicOp("ALLREDUCE"), "all_reduce");
  EXPECT_EQ(timeline::PublicOp("all_reduce_barrier"), "all_reduce_barrier");
  EXPECT_EQ(timeline::PublicOp("COALESCED"), "COALESCED");
  EXPECT_EQ(timeline::PublicOp(""), "");
}

TEST(TimelineCollectives, PlainOps) {
  EXPECT_EQ(PlainOp("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(PlainOp("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)"), "all_reduce");
  EXPECT_EQ(PlainOp("ncclKernel_AllGather_RING_LL_Sum_int8_t"), "all_gather");
  EXPECT_EQ(PlainOp("all_to_allv"), "all_to_all");
  EXPECT_EQ(PlainOp("ncclDevKernel_SendRecv"), "send_recv");
  EXPECT_EQ(PlainOp("c10d::recv_"), "recv");
  EXPECT_EQ(PlainOp("gemm"), "");
  EXPECT_TRUE(IsBookkeeping("broadcastUniqueNCCLID"));
  EXPECT_TRUE(IsBookkeeping("wait"));
  EXPECT_FALSE(IsBookkeeping("allgather_into_tensor_coalesced"));
}

void Tell(TimelineFixture& fixture, int32_t slice, std::string_view op, int64_t elements) {
  auto row = fixture.writer().NewRow<TimelineCollectiveRow>();
  row.slice = slice;
  row.op = fixture.writer().Intern(op);
  row.group_name = fixture.writer().Intern("1");
  row.dtype = fixture.writer().Intern("Float8_e4m3fn");
  row.in_elements = elements;
  row.out_elements = 2 * elements;
  fixture.part().tables.Edit<TimelineCollectiveTable>().Add(row);
}

Model Collect(TimelineFixture& fixture) {
  Model model = fixture.Build();
  auto all = AllAnalyses();
  auto found = std::find_if(all.begin(), all.end(), [](const Analysis* each) {
    return each->info.name == "timeline_collectives";
  });
  RunAnalysis(**found, model);
  return model;
}

// The op stands around the launch, or before it when several are coalesced.
TEST(TimelineCollectives, OpsThatIssuedKernels) {
  TimelineFixture fixture;
  int32_t thread = fixture.AddThread();
  int32_t stream = fixture.AddStream(7);
  auto op = [&](int64_t start, int64_t duration) {
    return fixture.AddSlice(thread, {"record_param_comms", timeline::kOp, start, duration});
  };
  Tell(fixture, op(0, 100), "_allgather_base", 1000);
  fixture.AddSlice(thread, {"cudaLaunchKernelExC", timeline::kRuntime, 10, 5, 1});
  Tell(fixture, op(200, 10), "send", 300);
  Tell(fixture, op(220, 10), "recv", 500);
  fixture.AddSlice(thread, {"cuLaunchKernelEx", timeline::kRuntime, 240, 5, 2});
  fixture.AddSlice(stream, {"ncclDevKernel_AllGather", timeline::kKernel, 20, 9, 1});
  fixture.AddSlice(stream, {"ncclDevKernel_SendRecv", timeline::kKernel, 250, 9, 2});
  Model model = Collect(fixture);
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  ASSERT_EQ(table.size(), 2);
  EXPECT_EQ(model.pools.Text(table.op[0]), "all_gather");
  EXPECT_EQ(table.bytes[0], 2000);
  EXPECT_EQ(table.parts[0], 1);
  EXPECT_EQ(model.pools.Text(table.op[1]), "send_recv");
  EXPECT_EQ(table.bytes[1], 500);
  EXPECT_EQ(table.parts[1], 2);
  EXPECT_EQ(table.position[1], 1);
  EXPECT_EQ(table.start_ns[1], 250);
}

// Without kernels the ops themselves are what there is.
TEST(TimelineCollectives, OpsOfAHost) {
  TimelineFixture fixture;
  int32_t thread = fixture.AddThread();
  Tell(fixture, fixture.AddSlice(thread, {"record_param_comms", timeline::kOp, 0, 50}), "allreduce",
       64);
  Tell(fixture, fixture.AddSlice(thread, {"record_param_comms", timeline::kOp, 60, 50}), "wait", 0);
  Model model = Collect(fixture);
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  ASSERT_EQ(table.size(), 1);
  EXPECT_EQ(table.on_device[0], 0);
  EXPECT_EQ(table.bytes[0], 64);
}

TEST(ProfileComms, BusFactors) {
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(BusFactor("all_gather", 8), 0.875);
  EXPECT_DOUBLE_EQ(BusFactor("broadcast", 8), 1);
  EXPECT_DOUBLE_EQ(BusFactor("all_reduce", kNone32), 0);
}

TEST(ProfileComms, SlowGroup) {
  Model model;
  Samples samples;
  std::map<Kind, int64_t> rows;
  auto add = [&](std::string_view name, int64_t duration_ns) {
    std::vector<int64_t> members = {1, 2};
    Kind kind{.job = 0,
              .attempt = 0,
              .group_name = model.pools.Intern(name),
              .group_desc = model.pools.Intern("mesh_dp"),
              .members = model.pools.lists.Intern(members),
              .group_size = 2,
              .op = model.pools.Intern("all_reduce"),
              .bytes = 64 << 20,
              .matched = true};
    for (int64_t i = 0; i < 8; ++i) samples[kind].transfer_ns.push_back(duration_ns + i * 1000);
    rows[kind] = static_cast<int64_t>(rows.size());
  };
  add("1", 1'000'000);
  add("2", 1'100'000);
  add("3", 1'050'000);
  EXPECT_TRUE(FindSlowGroups(model, samples, rows).empty());
  add("4", 2'600'000);
  std::vector<Finding> findings = FindSlowGroups(model, samples, rows);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].groups.at(0).name, "4");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

}  // namespace timeline_collectives_test
}  // namespace debrief

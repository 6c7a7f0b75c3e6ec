// An all-reduce of three ranks as a chain: 0 sends to 1, 1 to 2, and 2 the result to all.
#include "accel/stages/collectives.h"
#include "unit/accel/accel_fixture.h"

namespace debrief::accel {
namespace flow_test {

class FlowTest : public AccelTest {
 protected:
  void Step(std::string_view name, std::string_view type, int64_t pid, double ts, double dur,
            std::string_view peers, std::string_view group = "AllReduce_all_reduce_1") {
    Event& event = DeviceSlice(name, ts, dur, pid);
    SetText(event, "Type", type);
    SetText(event, "CollGroup", group);
    Set(event, "bytes", Value::DecimalText(600));
    if (!peers.empty()) SetText(event, "Peers", peers);
  }

  void AddChain() {
    for (int64_t rank = 0; rank < 3; ++rank) {
      DeviceSlice("add_1 Cmpt Exec", 90 + 0.1 * static_cast<double>(rank), 10, rank);
    }
    Step("SenRdmaSend_1 [600B] [sync=s0] DmaO", "SingleCast", 0, 80, 40, "1");
    Step("SenRdmaRecv_1 [600B] [sync=s0] DmaI", "WDone Barrier", 1, 80, 41, "0");
    Step("SenRdmaSend_2 [sync=s1] DmaO", "SingleCast", 1, 130, 20, "2");
    Step("SenRdmaRecv_2 [sync=s1] DmaI", "WDone Barrier", 2, 80, 75, "1");
    Step("SenRdmaSend_3 - Set BcList [sync=s2] DmaO", "Set BCList", 2, 160, 5, "0,1");
    Step("SenRdmaSend_3 - Xseg to rank 0 [sync=s2] DmaO", "MultiCast XSEG", 2, 161, 5, "0");
    Step("SenRdmaSend_3 - Xseg to rank 1 [sync=s2] DmaO", "MultiCast XSEG", 2, 162, 5, "1");
    Step("SenRdmaSend_3 Data [sync=s2] DmaO", "MultiCast", 2, 163, 20, "");
    Step("SenRdmaRecv_3 [sync=s2] DmaI", "WDone Barrier", 0, 81, 109, "2");
    Step("SenRdmaRecv_3 [sync=s2] DmaI", "WDone Barrier", 1, 122, 68, "2");
    SortByTime(events_);
  }

  void RunPasses() {
    FlowPrepareEventData(events_, run_);
    FlowExtraction(events_, run_);
  }
};

TEST_F(FlowTest, EverySendLeadsToItsReceive) {
  AddChain();
  RunPasses();
  const std::vector<Event> starts = OfPhase('s'), ends = OfPhase('f');
  ASSERT_EQ(starts.size(), 4u);
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_EQ(run_.Text(starts[0].name), "s0");
  EXPECT_EQ(ends[0].pid.integer, 1);
  EXPECT_NEAR(ends[0].ts, 121 - 0.001, 1e-9);
  EXPECT_EQ(ends[2].pid.integer, 0);  // Xseg to rank 0
  EXPECT_EQ(ends[3].pid.integer, 1);
  EXPECT_EQ(Named("SenRdmaSend_1 [sync=s0] DmaO").size(), 1u);  // the size went
}

TEST_F(FlowTest, ACollectiveThatLacksAStepGetsNoFlows) {
  AddChain();
  events_.erase(events_.begin() + 8);
  RunPasses();
  EXPECT_TRUE(OfPhase('s').empty());
  EXPECT_TRUE(console_.Has("Incomplete flow groups dropped = 1"));
}

TEST_F(FlowTest, StepsThatCannotBeMatchedAreCounted) {
  Step("SenRdmaSend_1 [sync=s0] DmaO", "Unheard of", 0, 80, 40, "1");
  RunPasses();
  EXPECT_TRUE(console_.Has("1 slices with a sync id"));
}

TEST_F(FlowTest, SlicesOfCollectivesHaveTheBytesOfTheirReceives) {
  options_.build_coll_event = options_.flow = true;
  AddChain();
  RunPasses();
  MpCalcBwV2(events_, run_);
  const std::vector<Event> slices = Named("AllReduce_all_reduce_1");
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(Text(slices[0], "bytes"), "600B");
  EXPECT_EQ(Text(slices[0], "collective algorithm type"), "chain");
  EXPECT_EQ(Text(slices[0], "peers"), "{0, 1, 2}");
  EXPECT_EQ(slices[0].Find(key::kCollDataSize)->integer, 2400);
  const std::vector<Event> counters = Named("Coll_Bandwidth");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0].pid.integer, -1);
  EXPECT_GT(counters[0].Find(key::kGBps)->number, 0);
  EXPECT_EQ(counters[1].Find(key::kGBps)->number, 0);
}

TEST_F(FlowTest, TracksOfCollectivesAreNumbersAndNamesStay) {
  options_.build_coll_event = options_.flow = true;
  AddChain();
  RunPasses();
  TbRefinementIntrusive(events_, run_);
  for (const Event& slice : Named("AllReduce_all_reduce_1")) {
    EXPECT_EQ(slice.tid, Value::Integer(10'000 + slice.pid.integer));
  }
  const std::vector<Event> kernels = Named("add_1 Cmpt Exec");
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(Text(kernels[0], "group_name"), "add_[N] Cmpt Exec");
}

}  // namespace flow_test
}  // namespace debrief::accel

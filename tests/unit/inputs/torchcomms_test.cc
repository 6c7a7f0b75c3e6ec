// What torchcomms leaves: dumps of its Flight Recorder and clogs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tables/comm_op.h"
#include "tables/comm_state.h"
#include "unit/inputs/input_helpers.h"

namespace debrief::testing {

namespace torchcomms_test {

std::string EntryOf(int seq, std::string_view comm, std::string_view backend, std::string_view op,
                    bool retired = true) {
  return fmt::format(
      R"({{"record_id":{0},"pg_id":0,"process_group":["{1}","{2}"],"collective_seq_id":{0},)"
      R"("p2p_seq_id":0,"op_id":{0},"profiling_name":"{2}:{3}","time_created_ns":{4},)"
      R"("input_sizes":[],"output_sizes":[],"input_dtypes":[],"output_dtypes":[],)"
      R"("state":"scheduled","retired":{5},"is_p2p":false}})",
      seq, comm, backend, op, 1'000 + seq, retired);
}

std::string DumpOf(const std::string& entries, const std::string& more = "") {
  return fmt::format(R"({{"version":"2.10","pg_config":{{}},"pg_status":{{}},"entries":[{}]{}}})",
                     entries, more);
}

std::string Numbers(const Part& part) {
  const auto& ops = part.tables.Get<CommOpTable>();
  std::string text;
  for (size_t i = 0; i < ops.size(); ++i)
    text += fmt::format("{}{}{} ", part.pools.Text(ops.op[i]), ops.is_p2p[i] != 0 ? "!" : " ",
                        ops.collective_seq[i]);
  return text;
}

TEST(TorchcommsTest, AnOperationIsTheNthOfItsCommunicator) {
  const std::string dump = DumpOf(EntryOf(10, "world", "ncclx", "all_reduce") + "," +
                                  EntryOf(11, "tp", "ncclx", "all_gather_single") + "," +
                                  EntryOf(12, "tp", "ncclx", "send") + "," +
                                  EntryOf(13, "world", "ncclx", "batch_op_issue") + "," +
                                  EntryOf(14, "world", "ncclx", "barrier", false));
  for (const uint64_t chunk : {1u, 7u, 100u, 1u << 20}) {
    const Part part = ImportBytes("flight_recorder", dump, chunk);
    EXPECT_EQ(Numbers(part), "all_reduce 1 all_gather_single 1 send!1 batch_op_issue!1 barrier 2 ");
    const auto& ops = part.tables.Get<CommOpTable>();
    EXPECT_EQ(part.pools.Text(ops.state[0]), "completed");  // it is retired
    EXPECT_EQ(part.pools.Text(ops.state[4]), "scheduled");
  }
}

TEST(TorchcommsTest, NumbersOfOtherRecordersStay) {
  const Part part = ImportBytes(
      "flight_recorder",
      DumpOf(EntryOf(10, "0", "nccl", "all_reduce") + "," + EntryOf(11, "1", "nccl", "all_reduce")),
      100);
  // The backend is the description here, and the numbers rise: it is torchcomms.
  EXPECT_EQ(Numbers(part), "all_reduce 1 all_reduce 1 ");
  std::string entry = EntryOf(10, "0", "nccl", "all_reduce");
  entry.replace(entry.find(R"("0","nccl")"), 10, R"("0","dp__")");
  const Part c10d = ImportBytes("flight_recorder", DumpOf(entry), 100);
  EXPECT_EQ(Numbers(c10d), "all_reduce 10 ");
  const auto& ops = c10d.tables.Get<CommOpTable>();
  EXPECT_EQ(c10d.pools.Text(ops.state[0]), "scheduled");  // retired and not completed: timed out
}

TEST(TorchcommsTest, StateOfACommunicator) {
  const std::string more =
      R"(,"nccl_comm_state":{"f3":{"rank":"2","nRanks":"4","commDesc":"\"dp\"",)"
      R"("CT_currentColls":"[{\"opCount\": 41, \"opName\": \"AllReduce\"}]",)"
      R"("CT_pastColls":"[{\"opCount\": 39}, {\"opCount\": 40}]","CT_pendingColls":"[",)"
      R"("PT_activeOps":"[{\"remoteRank\": 3, \"status\": \"IN_PROGRESS\"}, )"
      R"({\"remoteRank\": 1, \"status\": \"DONE\"}]"},"bad":7})";
  const Part part =
      ImportBytes("flight_recorder", DumpOf(EntryOf(1, "0", "nccl", "all_reduce"), more), 1 << 20);
  const auto& states = part.tables.Get<CommStateTable>();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(part.pools.Text(states.description[0]), "dp");
  EXPECT_EQ(states.comm_rank[0], 2);
  EXPECT_EQ(states.op_count[0], 41);
  EXPECT_EQ(states.done_count[0], 40);
  EXPECT_EQ(fmt::format("{}", fmt::join(part.pools.lists.Get(states.waits_for[0]), " ")), "3");
}

constexpr std::string_view kClog =
    "V|1|base_timestamp=1714234567.890\n"
    "new_comm|comm=world|rank=5|world_size=8\n"
    "C1|sig|all_reduce|in_count=8|out_count=8|dtype=bf16|red_op=sum|async_op=f|comm=world\n"
    "C2|sig|send|in_count=4|out_count=0|dtype=f32|peer=1|async_op=t|comm=world\n"
    "C1|Q|work_id=1|+0.001\nC2|Q|work_id=2|+0.002\nC1|Q|work_id=3|+0.003\n"
    "C1|S|+0.004\nC1|E|+0.010\nC1|S|+0.011\n";

TEST(TorchcommsTest, EventsOfAClogBelongToTheOldestOfTheirSignature) {
  for (const uint64_t chunk : {1u, 7u, 100u, 1u << 20}) {
    const Part part = ImportBytes("torchcomms_clog", kClog, chunk);
    const auto& ops = part.tables.Get<CommOpTable>();
    ASSERT_EQ(ops.size(), 3u);
    EXPECT_EQ(Numbers(part), "all_reduce 1 send!1 all_reduce 2 ");
    EXPECT_EQ(part.pools.Text(ops.state[0]), "completed");
    EXPECT_EQ(ops.duration_ns[0], 6'000'000);
    EXPECT_EQ(ops.created_ns[0], 1'714'234'567'891'000'000);
    EXPECT_EQ(part.pools.Text(ops.state[2]), "started");
    EXPECT_EQ(ops.src[1], 5);
    EXPECT_EQ(ops.dst[1], 1);
    EXPECT_EQ(part.pools.Text(ops.input_dtypes[0]), "BFloat16");
    EXPECT_EQ(part.pools.lists.Get(ops.members[0]).size(), 8u);
    EXPECT_EQ(TroubleOf(part), "");
  }
}

}  // namespace torchcomms_test

}  // namespace debrief::testing

// Lines and sheets of monitors, NCCL and schedulers, each by itself.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inputs/job_text/lines/nccl_lines.h"
#include "inputs/nvidia_smi/sheet.h"
#include "inputs/records/prometheus_text.h"
#include "inputs/slurm_accounting/accounts.h"
#include "tables/host_sample.h"
#include "tables/nccl_perf.h"
#include "torch/gpu_faults.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace host_records_test {

TEST(GpuFaults, AddressesAreThoseOfNccl) {
  EXPECT_EQ(BusIdOf("00000000:4B:00.0"), "4b000");
  EXPECT_EQ(BusIdOf("0000:4b:00"), "4b000");
  EXPECT_EQ(BusIdOf("0001:0a:00.0"), "10a000");
  EXPECT_EQ(BusIdOf("0000:4b:00) rest"), "4b000");
  EXPECT_EQ(BusIdOf("nothing"), "");
  EXPECT_EQ(BusIdOf(""), "");
}

TEST(PrometheusText, LabelsAndTimes) {
  const auto line =
      inputs::ParseMetricLine("a:b{x=\"1\", y=\"q\\\"\\n\\\\\",} -2.5e3 1763167860500");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->name, "a:b");
  EXPECT_EQ(line->Label("x"), "1");
  EXPECT_EQ(line->Label("y"), "q\"\n\\");
  EXPECT_EQ(line->value, -2500);
  EXPECT_EQ(line->time, 1763167860500.0);
  EXPECT_TRUE(inputs::ParseMetricLine("up 1"));
  EXPECT_TRUE(inputs::ParseMetricLine("up 1 # {trace=\"a\"} 0.5"));
  for (const char* none : {"", "# TYPE up gauge", "up", "up{", "up{a=\"b} 1", "up{a} 1", "up x",
                           "step 3 loss 2.5", "3 4"}) {
    EXPECT_FALSE(inputs::ParseMetricLine(none)) << none;
  }
}

TEST(NcclLines, LinksRingsAndSettings) {
  using inputs::job_text::NcclLine;
  using inputs::job_text::ParseNcclLine;
  const auto link = ParseNcclLine(
      "n1:11:12 [0] NCCL INFO Channel 01/0 : 3[0] -> 4[0] [receive] via NET/IB/3(7)/GDRDMA");
  ASSERT_TRUE(link);
  EXPECT_EQ(link->kind, NcclLine::Kind::kLink);
  EXPECT_EQ(link->from, 3);
  EXPECT_EQ(link->to, 4);
  EXPECT_TRUE(link->receives);
  EXPECT_EQ(link->via, "NET/IB/3(7)/GDRDMA");
  EXPECT_EQ(link->thread, 12);
  const auto old =
      ParseNcclLine("n1:11:12 [0] NCCL INFO Channel 00 : 0[1b000] -> 1[29000] via P2P/IPC");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->via, "P2P/IPC");
  EXPECT_EQ(ParseNcclLine("n1:11:12 [0] NCCL INFO Channel 00/02 : 0 1 2")->kind,
            NcclLine::Kind::kRing);
  EXPECT_EQ(ParseNcclLine("n1:11:12 [0] NCCL INFO NCCL_ALGO set by environment to Ring.")->value,
            "Ring");
  for (const char* none :
       {"NCCL INFO Channel 01", "n1:11:12 [0] NCCL INFO Channel 01/0 : 3[0] ->",
        "n1:11:12 [0] NCCL INFO Channel x : y", "n1:11:12 [0] NCCL INFO hello"}) {
    EXPECT_FALSE(ParseNcclLine(none)) << none;
  }
}

TEST(SlurmAccounting, TablesThatCutWords) {
  inputs::slurm_accounting::AccountSheet sheet;
  std::vector<inputs::slurm_accounting::Account> accounts;
  EXPECT_TRUE(sheet.Add("JobID           JobName      State ExitCode ", 1, accounts));
  EXPECT_TRUE(sheet.Add("------------ ---------- ---------- -------- ", 2, accounts));
  EXPECT_TRUE(sheet.Add("17.0              train CANCELLED+     0:15 ", 3, accounts));
  EXPECT_FALSE(sheet.Add("noise", 4, accounts));
  ASSERT_EQ(accounts.size(), 1u);
  EXPECT_EQ(accounts[0].state, "CANCELLED");
  EXPECT_EQ(accounts[0].step, "0");
  EXPECT_EQ(accounts[0].exit_code, -15);
}

TEST(NvidiaSmi, HeadsOnly) {
  using inputs::nvidia_smi::SmiSheet;
  EXPECT_TRUE(SmiSheet::IsHead("timestamp, index, clocks.current.sm [MHz]"));
  EXPECT_TRUE(SmiSheet::IsHead("# gpu    pwr  gtemp   pclk"));
  EXPECT_TRUE(SmiSheet::IsHead("2026/11/15 02:31:00.100, 0, 1980 MHz"));
  for (const char* none : {"step, loss, utilization", "# gpu pid type sm", "2026/11/15 02:31:00 hi",
                           "index,name", "# comment"}) {
    EXPECT_FALSE(SmiSheet::IsHead(none)) << none;
  }
}

// The result does not depend on how much is read at a time.
TEST(HostRecords, WindowsOfAnySize) {
  const std::string smi =
      "index, clocks.sm [MHz]\n0, 1980 MHz\n1, 1005 MHz\n0, 1965 MHz\n1, 990 MHz\n";
  const std::string perf =
      R"({"header":{"id":"0x1","rank":0,"n_ranks":2},"coll_perf":{"coll":"AllReduce","coll_sn":1,)"
      R"("coll_exec_time_us":5}})"
      "\n";
  for (const uint64_t chunk : {1u, 7u, 100u}) {
    EXPECT_EQ(testing::ImportBytes("nvidia_smi", smi, chunk).tables.Get<HostSampleTable>().size(),
              4u);
    EXPECT_EQ(testing::ImportBytes("nccl_inspector", perf + perf, chunk)
                  .tables.Get<NcclPerfTable>()
                  .size(),
              2u);
  }
}

}  // namespace host_records_test
}  // namespace debrief

// Texts of jobs that hang or end without a death that somebody reports: whose GPU does not finish,
// who never joined a set-up, who left.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "unit/analyses/text/launcher_job.h"

namespace debrief {
namespace launcher_hangs_test {

using Job = LauncherJob;

std::string Mark(int32_t rank, std::string_view time) {
  return "[rank" + std::to_string(rank) + "]:[E1115 " + std::string(time) + " P.cpp:689] ";
}

// A work that ran into its time limit at `time`.
std::string TimedOut(int32_t rank, std::string_view time, std::string_view op = "ALLREDUCE") {
  return Mark(rank, time) +
         "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=" +
         std::string(op) +
         ", NumelIn=1, NumelOut=1, Timeout(ms)=10000) ran for 10000 milliseconds before timing "
         "out.\n" +
         Mark(rank, time) +
         "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence "
         "id: 9 PG status: last enqueued work: 9, last completed work: 8\n";
}

std::string Down(int32_t rank, std::string_view time) {
  return Mark(rank, time) +
         "[Rank 0] To avoid data inconsistency, we are taking the entire process down.\n";
}

std::string InitLine(int32_t rank, std::string_view how, std::string_view comm) {
  std::string number = std::to_string(rank);
  return "vm:10" + number + ":10" + number +
         " [0] NCCL INFO ncclCommInitRankConfig comm 0x15 rank " + number +
         " nranks 3 cudaDev 0 nvmlDev 0 busId 60 commId " + std::string(comm) + " - Init " +
         std::string(how) + "\n";
}

TEST(LauncherHangs, TheGpuOfTheRankThatDoesNotGetThroughTheAbortIsBusy) {
  Job job(3, {{"0/stderr.log", 0, TimedOut(0, "23:22:30.100") + Down(0, "23:22:40.100")},
              {"1/stderr.log", 1, TimedOut(1, "23:22:30.150")},
              {"2/stderr.log", 2, TimedOut(2, "23:22:30.120") + Down(2, "23:22:40.120")}});
  ExpectBlamed(job, {1}, "The GPU of rank 1 did not finish its work");
}

TEST(LauncherHangs, TheLastToTimeOutMayHaveHadNoTimeToAbort) {
  Job job(3, {{"0/stderr.log", 0, TimedOut(0, "23:22:30.100") + Down(0, "23:22:30.200")},
              {"1/stderr.log", 1, TimedOut(1, "23:22:30.250")},
              {"2/stderr.log", 2, TimedOut(2, "23:22:30.120") + Down(2, "23:22:30.220")}});
  EXPECT_EQ(job.First().ranks, std::vector<int32_t>{}) << job.First().headline;
}

TEST(LauncherHangs, TheLastToEnterAnExchangeHeldUpTheOthers) {
  Job job(3, {{"0/stderr.log", 0, TimedOut(0, "23:22:35.000", "COALESCED")},
              {"1/stderr.log", 1, TimedOut(1, "23:22:30.100", "COALESCED")},
              {"2/stderr.log", 2, TimedOut(2, "23:22:30.200", "COALESCED")}});
  ExpectBlamed(job, {0}, "entered its exchange");
}

TEST(LauncherHangs, TheRankThatDidNotBeginASetUpIsNamed) {
  auto text = [](int32_t rank, bool begins) {
    return InitLine(rank, "START", "0xa") + InitLine(rank, "COMPLETE", "0xa") +
           (begins ? InitLine(rank, "START", "0xb") : "");
  };
  Job job(3, {{"0.log", 0, text(0, true)},
              {"1.log", 1, text(1, false) + TimedOut(1, "23:22:30.100")},
              {"2.log", 2, text(2, true)}});
  ExpectBlamed(job, {1}, "did not join the set-up of a communicator of 3 ranks");
}

TEST(LauncherHangs, AnUncaughtExceptionCountsAlthoughTheWatchdogSpokeLater) {
  std::string own =
      "[rank1]: Traceback (most recent call last):\n"
      "[rank1]:   File \"/home/user/train.py\", line 71, in <module>\n"
      "[rank1]:     main()\n"
      "[rank1]: ValueError: bad batch\n" +
      TimedOut(1, "23:22:30.100") + Down(1, "23:22:30.200");
  Job job(3, {{"0/stderr.log", 0, TimedOut(0, "23:22:30.100")},
              {"1/stderr.log", 1, own},
              {"2/stderr.log", 2, TimedOut(2, "23:22:30.120")}});
  ExpectBlamed(job, {1}, "died with ValueError: bad batch");
}

TEST(LauncherHangs, TheRankThatEndsWithoutClosingItsGroupsLeft) {
  auto lost = [](int32_t rank) {
    return Mark(rank, "23:22:30.500") +
           "[Rank 0] Collective WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, "
           "Timeout(ms)=10000) raised the following async exception: NCCL error: remote process "
           "exited or there was a network error\n";
  };
  std::string left =
      "[rank1]:[W1115 23:22:29.100 ProcessGroupNCCL.cpp:1575] Warning: WARNING: "
      "destroy_process_group() was not called before program exit, which can leak resources.\n";
  Job job(4, {{"0/stderr.log", 0, lost(0)},
              {"1/stderr.log", 1, left},
              {"2/stderr.log", 2, "loading data\n"},
              {"3/stderr.log", 3, lost(3)}});
  ExpectBlamed(job, {1}, "printed no error");
}

}  // namespace launcher_hangs_test
}  // namespace debrief

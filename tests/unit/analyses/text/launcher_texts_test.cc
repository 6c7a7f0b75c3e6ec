// Whole texts, as launchers, schedulers, kernels and ranks write them, through the importer and the
// analysis: who is named, and what is said when nobody can be.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tables/process_exit.h"
#include "tables/progress.h"
#include "unit/analyses/text/launcher_job.h"

namespace debrief {
namespace launcher_texts_test {

using Job = LauncherJob;
using Text = LauncherText;

std::string Traceback(std::string_view mark, std::string_view exception) {
  std::string text;
  for (std::string_view line :
       {"Traceback (most recent call last):",
        "  File \"/home/user/train.py\", line 71, in <module>", "    main()",
        "  File \"/usr/lib/python3.12/site-packages/torch/nn/module.py\", line 9, in forward",
        "    return f(x)"}) {
    text += std::string(mark) + std::string(line) + "\n";
  }
  return text + std::string(mark) + std::string(exception) + "\n";
}

std::string Remote(int32_t rank) {
  return "[rank" + std::to_string(rank) +
         "]:[E1115 23:22:28.258 ProcessGroupNCCL.cpp:612] [Rank 0] Collective WorkNCCL(SeqNum=26, "
         "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=10000) raised the following async "
         "exception: NCCL error: remote process exited or there was a network error\n"
         "ncclRemoteError: A call failed possibly due to a network error or a remote process "
         "exiting prematurely.\n";
}

std::string WatchdogTimeout(int32_t rank) {
  std::string mark = "[rank" + std::to_string(rank) + "]:[E1115 23:22:28.258 P.cpp:689] ";
  return mark +
         "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=38, "
         "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=10000) ran for 10089 milliseconds "
         "before timing out.\n" +
         mark +
         "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence "
         "id: 38 PG status: last enqueued work: 40, last completed work: 37\n" +
         mark + "[Rank 0] To avoid data inconsistency, we are taking the entire process down.\n";
}

std::string Stopping(int64_t pid) {
  return "W1115 23:22:09.590000 1320 torch/distributed/elastic/multiprocessing/api.py:1012] "
         "Sending "
         "process " +
         std::to_string(pid) + " closing signal SIGTERM\n";
}

std::string Failed(int32_t local_rank, int32_t code, int64_t pid,
                   std::string_view launcher = "1320") {
  return "E1115 23:22:10.130000 " + std::string(launcher) +
         " torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: " +
         std::to_string(code) + ") local_rank: " + std::to_string(local_rank) +
         " (pid: " + std::to_string(pid) + ") of binary: /usr/bin/python\n";
}

std::string Entry(int32_t rank, int32_t local_rank, int32_t code, int64_t pid) {
  return "[1]:\n  time      : 2026-11-15_23:22:10\n  host      : localhost\n  rank      : " +
         std::to_string(rank) + " (local_rank: " + std::to_string(local_rank) +
         ")\n  exitcode  : " + std::to_string(code) + " (pid: " + std::to_string(pid) +
         ")\n  error_file: <N/A>\n  traceback : To enable traceback see: https://pytorch.org\n";
}

const std::string kRootCause = "Root Cause (first observed failure):\n";

// ---- torchrun

TEST(LauncherTexts, TorchrunNamesTheProcessThatWasKilled) {
  std::string text = Stopping(100) + Stopping(102) + Failed(1, -9, 101) + Entry(0, 0, -15, 100) +
                     Entry(2, 2, -15, 102) + kRootCause + Entry(1, 1, -9, 101);
  Job job(3, {{"torchrun.txt", kNone32, text}});
  ExpectBlamed(job, {1}, "was killed by SIGKILL (signal 9)");
  const auto& exits = job.model().tables.Get<ProcessExitTable>();
  ASSERT_EQ(exits.size(), 6U);
  EXPECT_EQ(exits.rank[0], 0) << "the list says which rank process 100 is";
  EXPECT_EQ(job.model().pools.Text(exits.how[0]), "stopped");
  EXPECT_EQ(exits.first[5], 1);
}

TEST(LauncherTexts, AnAbortByTheWatchdogIsAConsequence) {
  std::string list = Stopping(100) + Stopping(102) + Failed(1, -6, 101) + Entry(0, 0, -6, 100) +
                     Entry(2, 2, -15, 102) + kRootCause + Entry(1, 1, -6, 101);
  Job job(3, {{"torchrun.txt", kNone32, list},
              {"0/stderr.log", 0, WatchdogTimeout(0)},
              {"1/stderr.log", 1, WatchdogTimeout(1)},
              {"2/stderr.log", 2, "step 3 loss 1.0\nsaving checkpoint to /data\n"}});
  ExpectBlamed(job, {2}, "reported no timeout");
  EXPECT_NE(job.First().evidence.back().text.find("saving checkpoint"), std::string::npos)
      << "what it alone printed is quoted";
}

TEST(LauncherTexts, AnAbortWithoutTheOutputOfItsRankBlamesNobody) {
  std::string list = Stopping(100) + Failed(1, -6, 101) + Entry(0, 0, -15, 100) + kRootCause +
                     Entry(1, 1, -6, 101);
  Job job(2, {{"torchrun.txt", kNone32, list}});
  ExpectBlamed(job, {}, "first seen is rank 1 by SIGABRT (signal 6)");
}

TEST(LauncherTexts, AnAbortWithoutAWordOfTheWatchdogIsACause) {
  std::string list = Stopping(100) + Failed(1, -6, 101) + Entry(0, 0, -15, 100) + kRootCause +
                     Entry(1, 1, -6, 101);
  Job job(2, {{"torchrun.txt", kNone32, list},
              {"0/stderr.log", 0, Remote(0)},
              {"1/stderr.log", 1, "free(): invalid pointer\n"}});
  ExpectBlamed(job, {1}, "died with free(): invalid pointer (SIGABRT, signal 6)");
}

TEST(LauncherTexts, TeedTextHasTheOutputOfEachRank) {
  std::string text = "[default0]:step 4 loss 6.4\n[default2]:step 4 loss 6.4\n" +
                     Traceback("[default1]:[rank1]: ", "OSError: [Errno 28] No space left") +
                     Stopping(100) + Failed(1, 1, 101);
  Job job(3, {{"torchrun.txt", kNone32, text}});
  ExpectBlamed(job, {1}, "OSError: [Errno 28] No space left at train.py:71 (exit code 1)");
}

TEST(LauncherTexts, LinesInTheTeedTextAndInTheFileOfARankCountOnce) {
  std::string own = Traceback("[rank1]: ", "ValueError: bad batch");
  std::string teed =
      Traceback("[default1]:[rank1]: ", "ValueError: bad batch") + "[default0]:hello\n";
  Job job(2, {{"torchrun.txt", kNone32, teed + Failed(1, 1, 101)}, {"1/stderr.log", 1, own}});
  ExpectBlamed(job, {1}, "ValueError: bad batch");
  size_t lines = 0;
  for (const Evidence& evidence : job.First().evidence) lines += evidence.table == "text_event";
  EXPECT_EQ(lines, 1U);
}

TEST(LauncherTexts, TheExceptionOfOneRankWhileOthersTimeOut) {
  Job job(3, {{"0/stderr.log", 0, WatchdogTimeout(0)},
              {"1/stderr.log", 1, Traceback("[rank1]: ", "KeyError: 'x'")},
              {"2/stderr.log", 2, WatchdogTimeout(2)},
              {"torchrun.txt", kNone32,
               Stopping(101) + Failed(0, -6, 100) + Entry(1, 1, 1, 101) + Entry(2, 2, -6, 102) +
                   kRootCause + Entry(0, 0, -6, 100)}});
  ExpectBlamed(job, {1}, "KeyError: 'x' at train.py:71");
}

TEST(LauncherTexts, RestartsAreAttemptsOfTheirOwn) {
  std::string text = Stopping(100) + Failed(1, 13, 101) + Stopping(201) + Failed(0, -11, 200) +
                     Entry(1, 1, -15, 201) + kRootCause + Entry(0, 0, -11, 200);
  Job job(2, {{"torchrun.txt", kNone32, text, 1}});
  EXPECT_EQ(job.First(0).ranks, std::vector<int32_t>{1});
  EXPECT_NE(job.First(0).headline.find("exited with code 13"), std::string::npos);
  EXPECT_EQ(job.First(1).ranks, std::vector<int32_t>{0});
  EXPECT_NE(job.First(1).headline.find("SIGSEGV (signal 11)"), std::string::npos);
}

TEST(LauncherTexts, ASignalLeftByTheAttemptBeforeIsAConsequence) {
  std::string stale =
      "[rank0]:[E1115 23:24:59.246269536 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) "
      "Rank 0] Received a dump signal due to a collective timeout from  rank 2 and we will try our "
      "best to dump the debug info. Last enqueued NCCL work: -1, last completed NCCL work: -1.\n";
  std::string text = Failed(1, 1, 101) + Stopping(200) + Failed(0, -6, 200);
  Job job(2, {{"torchrun.txt", kNone32, text, 1},
              {"attempt_0/1/stderr.log", 1, Traceback("[rank1]: ", "OSError: disk full"), 0},
              {"attempt_1/0/stderr.log", 0, stale, 1}});
  EXPECT_EQ(job.First(0).ranks, std::vector<int32_t>{1});
  EXPECT_EQ(job.First(1).rule, "text_hang.stale_signal");
  EXPECT_TRUE(job.First(1).ranks.empty());
  EXPECT_EQ(job.First(1).role, Role::kConsequence);
}

TEST(LauncherTexts, ARankThatTheListLacksEndedEarly) {
  std::string list = Stopping(100) + Stopping(103) + Failed(1, -6, 101) + Entry(0, 0, -6, 100) +
                     Entry(3, 3, -6, 103) + kRootCause + Entry(1, 1, -6, 101);
  Job job(4, {{"torchrun.txt", kNone32, list},
              {"0/stderr.log", 0, WatchdogTimeout(0)},
              {"1/stderr.log", 1, WatchdogTimeout(1)},
              {"2/stdout.log", 2, "epoch is done\n"},
              {"3/stderr.log", 3, WatchdogTimeout(3)}});
  ExpectBlamed(job, {2}, "ended early without an error");
}

TEST(LauncherTexts, ALauncherThatWasToldToStopBlamesNobody) {
  std::string text =
      "W1115 23:22:09.590000 1320 torch/distributed/elastic/agent/server/api.py:719] Received "
      "SIGTERM death signal, shutting down workers\n" +
      Stopping(100) + Stopping(101) +
      Traceback("",
                "torch.distributed.elastic.multiprocessing.api.SignalException: Process 1320 "
                "got signal: 15");
  Job job(2, {{"torchrun.txt", kNone32, text}, {"0/stdout.log", 0, "step 3 loss 1.0\n"}});
  ExpectBlamed(job, {}, "The launcher was told to stop");
}

TEST(LauncherTexts, TheErrorFileOfARecordedProcess) {
  std::string text =
      R"({"message": {"message": "OSError: disk full", "extraInfo": {"py_callstack": )"
      R"("Traceback (most recent call last):\n  File \"/home/user/train.py\", line 9, in main\n", )"
      R"("timestamp": "1794784492"}, "errorCode": 1}})";
  Job job(4, {{"attempt_0/3/error.json", 3, text}});
  ExpectBlamed(job, {3}, "OSError: disk full at train.py:9");
}

// ---- schedulers

TEST(LauncherTexts, SrunNamesTasks) {
  Job job(8, {{"slurm-17.out", kNone32,
               "srun: error: node1: task 3: Out Of Memory\n"
               "srun: error: n[01-03]: tasks 0-2,4-7: Terminated\n"
               "srun: Force Terminated StepId=17.0\n"}});
  ExpectBlamed(job, {3}, "SIGKILL");
}

TEST(LauncherTexts, SrunTellsExitCodesAndFaults) {
  Job first(4, {{"slurm.out", kNone32,
                 "srun: error: node1: task 2: Segmentation fault (core dumped)\n"
                 "srun: error: node1: tasks 0-1,3: Terminated\n"}});
  ExpectBlamed(first, {2}, "SIGSEGV (signal 11)");
  Job second(4,
             {{"slurm.out", kNone32, "srun: error: node1: task 1: Exited with exit code 137\n"}});
  ExpectBlamed(second, {1}, "SIGKILL (signal 9)");
}

TEST(LauncherTexts, ATimeLimitBlamesNobody) {
  for (std::string_view reason : {"DUE TO TIME LIMIT", "DUE TO PREEMPTION"}) {
    Job job(2,
            {{"slurm-17.out", kNone32,
              "0: step 10 loss 2.5\n1: step 10 loss 2.5\n0: step 11 loss 2.4\n1: step 11 loss 2.4\n"
              "slurmstepd: error: *** STEP 17.0 ON node01 CANCELLED AT 2026-11-15T23:22:09 " +
                  std::string(reason) + " ***\nsrun: error: node01: tasks 0-1: Terminated\n"}});
    ExpectBlamed(job, {}, "The scheduler ended the job");
  }
}

TEST(LauncherTexts, ATaskThatFailedBeforeTheStepWasCancelledIsTheCause) {
  Job job(2, {{"slurm-17.out", kNone32,
               "srun: error: node01: task 1: Exited with exit code 1\n"
               "slurmstepd: error: *** STEP 17.0 ON node01 CANCELLED AT 2026-11-15T23:22:09 ***\n"
               "srun: error: node01: task 0: Terminated\n"}});
  ExpectBlamed(job, {1}, "exited with code 1");
}

// ---- MPI

TEST(LauncherTexts, MpirunNamesTheFirstProcess) {
  std::string text =
      "[1,0]<stdout>:step 1 loss 3.0\n[1,3]<stderr>:hello\n"
      "--------------------------------------------------------------------------\n"
      "mpirun noticed that process rank 3 with PID 4711 on node n2 exited on\n"
      "signal 9 (Killed).\n";
  ExpectBlamed(Job(4, {{"out.txt", kNone32, text}}), {3}, "SIGKILL (signal 9)");
}

TEST(LauncherTexts, PrunTellsTheExitCodeBelowTheName) {
  std::string text =
      "prterun detected that one or more processes exited with non-zero status,\n"
      "thus causing the job to be terminated. The first process to do so was:\n\n"
      "   Process name: [prterun-n1-7@1,2]\n   Exit code:    13\n";
  std::string old = "   Process name: [[1,1],2]\n   Exit code:    13\n";
  ExpectBlamed(Job(4, {{"out.txt", kNone32, old}}), {2}, "exited with code 13");
  EXPECT_FALSE(Job(4, {{"out.txt", kNone32, text}}).findings().empty());
}

TEST(LauncherTexts, MpichNamesTheRank) {
  std::string text =
      "= BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
      "=   RANK 3 PID 4711 RUNNING AT n2\n=   KILLED BY SIGNAL: 11 (Segmentation fault)\n";
  ExpectBlamed(Job(4, {{"out.txt", kNone32, text}}), {3}, "SIGSEGV (signal 11)");
}

// ---- other launchers

TEST(LauncherTexts, DeepSpeedNamesNoRankButItsOutputDoes) {
  std::string launcher =
      "[2026-11-15 23:22:09,590] [INFO] [launch.py:335:sigkill_handler] Killing subprocess 1326\n"
      "[2026-11-15 23:22:09,590] [ERROR] [launch.py:341:sigkill_handler] ['python', '-u', "
      "'train.py', '--local_rank=1'] exits with return code = 1\n";
  Job alone(2, {{"launch.log", kNone32, launcher}});
  ExpectBlamed(alone, {}, "deepspeed reports a process that ended by exit code 1");
  Job job(2, {{"launch.log", kNone32, launcher},
              {"20261115_rank0.log", 0, Traceback("[rank0]: ", "RuntimeError: boom")},
              {"20261115_rank1.log", 1, "hello\n"}});
  ExpectBlamed(job, {0}, "RuntimeError: boom");
}

std::string DeepSpeedKills(int32_t processes) {
  std::string text;
  for (int32_t i = 0; i < processes; ++i)
    text += "[2026-11-15 23:22:09,590] [INFO] [launch.py:319:sigkill_handler] Killing subprocess " +
            std::to_string(4000 + i) + "\n";
  return text;
}

std::string DeepSpeedFailed(int32_t local_rank, int32_t code) {
  return "[2026-11-15 23:22:10,100] [ERROR] [launch.py:325:sigkill_handler] ['python', '-u', "
         "'train.py', '--local_rank=" +
         std::to_string(local_rank) + "'] exits with return code = " + std::to_string(code) + "\n";
}

// The command is that of the process which was started last, unless it names another one.
TEST(LauncherTexts, DeepSpeedNamesAnotherThanTheLast) {
  ExpectBlamed(Job(4, {{"ds.log", kNone32, DeepSpeedKills(4) + DeepSpeedFailed(1, 7)}}), {1},
               "exited with code 7");
  ExpectBlamed(Job(4, {{"ds.log", kNone32, DeepSpeedKills(4) + DeepSpeedFailed(3, 7)}}), {},
               "deepspeed reports a process that ended by exit code 7");
}

TEST(LauncherTexts, DeepSpeedCountsItsProcesses) {
  std::string node =
      "[2026-11-15 23:20:00,100] [INFO] [launch.py:152:main] nnodes=2, "
      "num_local_procs=2, node_rank=1\n";
  std::string kernel = "[ 99.5] Out of memory: Killed process 4001 (python) total-vm:1kB\n";
  Job job(4, {{"ds.log", kNone32, node + DeepSpeedKills(2) + DeepSpeedFailed(1, -9)},
              {"dmesg.txt", kNone32, kernel}});
  ExpectBlamed(job, {3}, "killed by the kernel");
}

TEST(LauncherTexts, LightningNamesTheChildAndKillsTheRest) {
  std::string text =
      "[rank: 1] Child process with PID 77 terminated with code 1. Forcefully terminating all "
      "other "
      "processes to avoid zombies\nKilled\n";
  ExpectBlamed(Job(4, {{"out.txt", kNone32, text}}), {1}, "exited with code 1");
}

TEST(LauncherTexts, ComposerNamesTheRank) {
  std::string text =
      "Rank 3 crashed with exit code -9.\nGlobal rank 0 (PID 7) exited with code -15\n";
  ExpectBlamed(Job(4, {{"out.txt", kNone32, text}}), {3}, "SIGKILL (signal 9)");
}

TEST(LauncherTexts, SpawnNamesTheProcess) {
  std::string text = Traceback("",
                               "torch.multiprocessing.spawn.ProcessExitedException: process 3 "
                               "terminated with signal SIGKILL");
  ExpectBlamed(Job(4, {{"out.txt", kNone32, text}}), {3}, "SIGKILL (signal 9)");
}

TEST(LauncherTexts, RayTellsRanksOfProcesses) {
  std::string text =
      "(TrainController pid=70) Started training worker group:\n"
      "(TrainController pid=70) - (node_id=ab, ip=10.0.0.1, pid=75) world_rank=0, local_rank=0, "
      "node_rank=0\n"
      "(TrainController pid=70) - (node_id=cd, ip=10.0.0.2, pid=76) world_rank=1, local_rank=0, "
      "node_rank=1\n"
      "(RayTrainWorker pid=75, ip=10.0.0.1) step 1 loss 2.0\n" +
      Traceback("(RayTrainWorker pid=76, ip=10.0.0.2) ", "ValueError: bad batch");
  ExpectBlamed(Job(2, {{"driver.log", kNone32, text}}), {1},
               "ValueError: bad batch at train.py:71");
}

TEST(LauncherTexts, AccelerateOfOneProcess) {
  std::string text = Traceback("",
                               "subprocess.CalledProcessError: Command '['python', 'train.py']' "
                               "died with <Signals.SIGKILL: 9>.");
  ExpectBlamed(Job(1, {{"out.txt", kNone32, text}}), {}, "SIGKILL (signal 9)");
}

TEST(LauncherTexts, KubernetesDescribesAPod) {
  std::string text =
      "Name:         job-worker-1\n    Last State:     Terminated\n      Reason:       OOMKilled\n"
      "      Exit Code:    137\n";
  ExpectBlamed(Job(2, {{"describe.txt", kNone32, text}}), {},
               "was killed: out of memory (OOMKilled)");
}

TEST(LauncherTexts, PodPrefixesAreTakenOff) {
  std::string text = "[pod/job-worker-0/pytorch] [rank8]: hello\n" +
                     Traceback("[pod/job-worker-0/pytorch] [rank9]: ", "ValueError: bad batch");
  ExpectBlamed(Job(16, {{"kubectl.log", kNone32, text}}), {9}, "ValueError: bad batch");
  std::string cri = Traceback("2026-11-15T23:22:09.123456789Z stderr F [rank3]: ", "KeyError: 1");
  ExpectBlamed(Job(4, {{"0.log", kNone32, cri}}), {3}, "KeyError: 1");
}

// ---- kernels and shells

TEST(LauncherTexts, TheKernelsVictimIsTheRankOfThatProcess) {
  std::string kernel =
      "[12345.678901] python invoked oom-killer: gfp_mask=0x1100cca\n"
      "[12345.678902] Memory cgroup out of memory: Killed process 101 (python) total-vm:1kB, "
      "anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n";
  Job job(2, {{"dmesg.txt", kNone32, kernel},
              {"torchrun.txt", kNone32,
               Stopping(100) + Failed(1, -9, 101) + Entry(0, 0, -15, 100) + kRootCause +
                   Entry(1, 1, -9, 101)}});
  ExpectBlamed(job, {1}, "was killed by the kernel: out of memory");
  ExpectBlamed(Job(2, {{"dmesg.txt", kNone32, kernel}}), {}, "The kernel killed a process");
}

TEST(LauncherTexts, NcclSaysWhichProcessIsWhichRank) {
  std::string nccl =
      "n1:101:101 [1] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 1 nranks 2 cudaDev 1 nvmlDev "
      "1 "
      "busId 60 commId 0xd6 - Init COMPLETE\n"
      "n1:100:100 [0] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 0 nranks 2 cudaDev 0 nvmlDev "
      "0 "
      "busId 50 commId 0xd6 - Init COMPLETE\n";
  Job job(2, {{"all.log", kNone32, nccl},
              {"dmesg.txt", kNone32, "Out of memory: Killed process 101 (python) total-vm:1kB\n"}});
  ExpectBlamed(job, {1}, "was killed by the kernel");
}

TEST(LauncherTexts, AShellTellsTheEndOfItsChild) {
  Job job(1,
          {{"run.log", kNone32,
            "step 1 loss 2.0\nrun.sh: line 12:  4711 Segmentation fault      (core dumped) python "
            "train.py\n"}});
  ExpectBlamed(job, {}, "SIGSEGV (signal 11)");
  Job rank(2,
           {{"rank1.log", 1, "step 1 loss 2.0\nKilled\n"}, {"rank0.log", 0, "step 1 loss 2.0\n"}});
  ExpectBlamed(rank, {1}, "SIGKILL (signal 9)");
}

TEST(LauncherTexts, TasksThatAreKilledAfterACancellationFollowFromIt) {
  Job job(4, {{"slurm-17.out", kNone32,
               "slurmstepd: error: *** STEP 17.0 ON node01 CANCELLED AT 2026-11-15T23:22:09 DUE TO "
               "TIME LIMIT ***\nsrun: error: node01: tasks 0-3: Killed\n"}});
  ExpectBlamed(job, {}, "The scheduler ended the job: time limit at 23:22:09");
}

TEST(LauncherTexts, TheDriverNamesTheGpuOfARank) {
  std::string nccl =
      "n1:101:101 [1] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 1 nranks 2 cudaDev 1 nvmlDev "
      "1 "
      "busId 4b000 commId 0xd6 - Init COMPLETE\n";
  std::string kernel = "[9.1] NVRM: Xid (PCI:0000:4b:00): 79, GPU has fallen off the bus.\n";
  Job job(2, {{"rank1.log", 1, nccl}, {"rank0.log", 0, Remote(0)}, {"dmesg", kNone32, kernel}});
  ExpectBlamed(job, {1}, "GPU has fallen off the bus (Xid 79)");
  Job healthy(2, {{"rank1.log", 1, nccl}, {"dmesg", kNone32, kernel}});
  EXPECT_TRUE(healthy.findings().empty()) << "a kernel's log is older than the job";
}

TEST(LauncherTexts, ARankThatIsBlockedInTheKernel) {
  std::string nccl =
      "n1:101:101 [1] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 1 nranks 3 cudaDev 1 nvmlDev "
      "1 "
      "busId 4b000 commId 0xd6 - Init COMPLETE\n";
  Job job(3, {{"rank1.log", 1, nccl},
              {"rank0.log", 0, WatchdogTimeout(0)},
              {"rank2.log", 2, WatchdogTimeout(2)},
              {"dmesg", kNone32, "INFO: task python:101 blocked for more than 120 seconds.\n"}});
  ExpectBlamed(job, {1}, "blocked in the kernel");
}

// ---- what ranks print

TEST(LauncherTexts, AHandledExceptionOfARankThatWasStopped) {
  std::string text = Traceback("", "ConnectionError: try again");
  for (char c = 'a'; c < 'k'; ++c) text += std::string("evaluating on part ") + c + "\n";
  Job job(2, {{"1/stderr.log", 1, text},
              {"0/stderr.log", 0, "free(): invalid pointer\n"},
              {"torchrun.txt", kNone32,
               Stopping(101) + Failed(0, -6, 100) + Entry(1, 1, -15, 101) + kRootCause +
                   Entry(0, 0, -6, 100)}});
  ExpectBlamed(job, {0}, "SIGABRT");
}

TEST(LauncherTexts, AnInterruptIsReported) {
  std::string text = Traceback("[rank0]: ", "KeyboardInterrupt");
  ExpectBlamed(Job(1, {{"rank0.log", 0, text}}), {}, "interrupt");
}

TEST(LauncherTexts, AFatalErrorOfPython) {
  Job job(2, {{"rank1.log", 1,
               "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f82aa001140 (most "
               "recent call first):\n  File \"/home/user/train.py\", line 41 in write_shard\n"},
              {"rank0.log", 0, "hello\n"}});
  ExpectBlamed(job, {1}, "SIGSEGV (signal 11) at train.py:41");
}

TEST(LauncherTexts, ADeviceAssertIsTheReasonAndNotItsEcho) {
  std::string text =
      "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1553: index: block: [0,0,0], thread: [1,0,0] "
      "Assertion `srcIndex < srcSelectDimSize` failed.\n"
      "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1553: index: block: [0,0,0], thread: [2,0,0] "
      "Assertion `srcIndex < srcSelectDimSize` failed.\n" +
      Traceback("[rank1]: ", "torch.AcceleratorError: CUDA error: device-side assert triggered") +
      "[rank1]:[E1115 23:22:28.258 P.cpp:2119] [PG ID 0 PG GUID 0 Rank 1] Process group watchdog "
      "thread terminated with exception: CUDA error: device-side assert triggered\n"
      "terminate called after throwing an instance of 'c10::DistBackendError'\n"
      "  what():  [PG ID 0 PG GUID 0 Rank 1] Process group watchdog thread terminated with "
      "exception: "
      "CUDA error: device-side assert triggered\n";
  Job job(2, {{"rank1.log", 1, text},
              {"rank0.log", 0, Remote(0)},
              {"torchrun.txt", kNone32, Stopping(100) + Failed(1, -6, 101)}});
  ExpectBlamed(job, {1}, "Assertion `srcIndex");
}

TEST(LauncherTexts, OutOfMemoryOfTheGpu) {
  Job job(2, {{"rank1.log", 1,
               Traceback("[rank1]: ",
                         "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
                         "2.00 GiB. GPU 0 has a total capacity of 139.81 GiB")},
              {"rank0.log", 0, WatchdogTimeout(0)}});
  ExpectBlamed(job, {1}, "died with OutOfMemoryError: CUDA out of memory.");
}

TEST(LauncherTexts, AnExceptionOfCxx) {
  Job job(2,
          {{"rank1.log", 1,
            "terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad "
            "config\n"},
           {"rank0.log", 0, Remote(0)},
           {"torchrun.txt", kNone32, Stopping(100) + Failed(1, -6, 101)}});
  ExpectBlamed(job, {1}, "std::runtime_error");
}

TEST(LauncherTexts, AWorkerOfTheDataLoaderThatWasKilled) {
  Job job(2, {{"rank1.log", 1,
               Traceback("[rank1]: ",
                         "RuntimeError: DataLoader worker (pid 900) is killed by signal: "
                         "Killed. ")},
              {"rank0.log", 0, Remote(0)}});
  ExpectBlamed(job, {1}, "DataLoader worker (pid 900) is killed by signal: Killed");
}

TEST(LauncherTexts, ATracebackInAFileWithoutARank) {
  Job job(1,
          {{"train.log", kNone32, "step 1 loss 2.0\n" + Traceback("", "ValueError: bad batch")}});
  ExpectBlamed(job, {}, "ValueError: bad batch at train.py:71");
}

TEST(LauncherTexts, EndsThatFollowFromAnotherNodeBlameNobody) {
  std::string text = Remote(0) + Traceback("[rank0]: ",
                                           "torch.distributed.DistBackendError: NCCL "
                                           "error, ncclRemoteError: remote process "
                                           "exited");
  ExpectBlamed(Job(2, {{"rank0.log", 0, text}}), {}, "Rank 0 ended because communication failed");
}

TEST(LauncherTexts, TheStoreSaysWhoWaited) {
  std::string text =
      Traceback("[rank1]: ",
                "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and "
                "retrieving ncclUniqueId from [0] via c10d key-value store by key "
                "'/default_pg/0//2//cuda//0', but store->get('..') got error: wait timeout after "
                "600000ms, keys: /default_pg/0//2//cuda//0");
  ExpectBlamed(Job(4, {{"rank1.log", 1, text}}), {},
               "Rank 1 waited for the first member of a group");
}

std::string NoId(int32_t rank, int32_t place, int32_t group) {
  return Traceback("[rank" + std::to_string(rank) + "]: ",
                   "torch.distributed.DistBackendError: [" + std::to_string(place) +
                       "] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via "
                       "c10d key-value store by key '0', but store->get('0') got error: wait "
                       "timeout after 14000ms, keys: /default_pg/0//" +
                       std::to_string(group) + "//cuda//0");
}

TEST(LauncherTexts, TheFirstMemberOfAGroupNeverCame) {
  ExpectBlamed(Job(3, {{"rank0.log", 0, "step 1 loss 2.0\n"},
                       {"rank1.log", 1, NoId(1, 1, 1)},
                       {"rank2.log", 2, NoId(2, 2, 1)}}),
               {0},
               "Rank 0 did not join the set-up of the communicator of group 1; ranks 1-2 waited");
  // 1, 3, 5, 7: evenly spaced; of two speakers that is not known. 0, 3, 4 may be anything.
  ExpectBlamed(
      Job(8,
          {{"a.log", 3, NoId(3, 1, 4)}, {"b.log", 5, NoId(5, 2, 4)}, {"c.log", 7, NoId(7, 3, 4)}}),
      {1}, "Rank 1 did not join");
  ExpectBlamed(Job(8, {{"a.log", 3, NoId(3, 1, 4)}, {"b.log", 7, NoId(7, 3, 4)}}), {}, "waited");
  ExpectBlamed(Job(8, {{"a.log", 3, NoId(3, 1, 4)}, {"b.log", 4, NoId(4, 3, 4)}}), {}, "waited");
}

TEST(LauncherTexts, OneThatWaitsForAnIdAlone) {
  ExpectBlamed(Job(3, {{"rank2.log", 2, NoId(2, 2, 1)}}), {}, "waited");
  ExpectBlamed(Job(3, {{"rank0.log", 0, "step 1 loss 2.0\n"},
                       {"rank1.log", 1, "step 1 loss 2.0\n"},
                       {"rank2.log", 2, NoId(2, 2, 1)}}),
               {2}, "no other member came");
}

TEST(LauncherTexts, ARankThatAbortsItself) {
  std::string own =
      "[rank0]:[W1115 23:22:28.258 U.hpp:1] Warning: old\nFatal Python error: Aborted\n\n"
      "Current thread 0x00007f35332df140 (most recent call first):\n"
      "  File \"/home/user/train.py\", line 413 in check\n"
      "  File \"/home/user/train.py\", line 57 in <module>\n";
  ExpectBlamed(Job(2, {{"rank0.stderr", 0, own}, {"rank1.stderr", 1, Remote(1)}}), {0},
               "died by SIGABRT (signal 6) at train.py:413");
}

TEST(LauncherTexts, ARankThatHoldsTheInterpreterLock) {
  Job job(3,
          {{"rank0.log", 0, WatchdogTimeout(0)},
           {"rank1.log", 1, WatchdogTimeout(1)},
           {"rank2.log", 2,
            "[rank2]:[E1115 23:22:28.258 P.cpp:1] [PG ID 0 PG GUID 0 Rank 2] Could not acquire GIL "
            "within 300 ms on exit, possible GIL induced hang\n"}});
  ExpectBlamed(job, {2}, "GIL");
}

TEST(LauncherTexts, TimeoutsOfAllRanksAreAnErrorThatBlamesNobody) {
  Job job(2, {{"rank0.log", 0, WatchdogTimeout(0)}, {"rank1.log", 1, WatchdogTimeout(1)}});
  ExpectBlamed(job, {}, "NCCL watchdog timeout");
}

// ---- healthy jobs

void ExpectHealthy(int32_t world, const std::vector<Text>& texts) {
  Job job(world, texts);
  for (const Finding& finding : job.findings()) {
    EXPECT_EQ(finding.severity, Severity::kInfo) << finding.headline;
  }
}

TEST(LauncherTexts, WarningsAndProseAreNoFailures) {
  ExpectHealthy(2, {{"rank0.log", 0,
                     "UserWarning: error handling is experimental\n"
                     "retrying after error: connection refused\nconnected\n"
                     "the exit code of the check was fine\nno Traceback here\n"
                     "NCCL WARN Net : Connect to 10.0.0.1 failed : Connection refused\n"
                     "step 1 loss 2.0\nstep 2 loss 1.9\nTraining finished\n"
                     "[rank0]:[W1115 23:24:52.208 ProcessGroupNCCL.cpp:1575] Warning: WARNING: "
                     "destroy_process_group() was not called before program exit\n"},
                    {"rank1.log", 1, "done with exit code 0\n"}});
}

TEST(LauncherTexts, AHandledExceptionIsNone) {
  std::string text = Traceback("", "ConnectionError: try again");
  for (int step = 0; step < 5; ++step) text += "step " + std::to_string(step) + " loss 2.0\n";
  ExpectHealthy(1, {{"rank0.log", 0, text}});
  ExpectHealthy(1, {{"train.log", kNone32, text}});
  std::string prints = Traceback("", "ConnectionError: try again");
  for (char c = 'a'; c < 'k'; ++c) prints += std::string("evaluating on part ") + c + "\n";
  ExpectHealthy(1, {{"rank0.log", 0, prints}});
}

TEST(LauncherTexts, ANormalEndOfDeepSpeedAndSlurm) {
  ExpectHealthy(2, {{"launch.log", kNone32,
                     "[2026-11-15 23:22:09,590] [INFO] [launch.py:351:main] Process 1326 exits "
                     "successfully.\n[2026-11-15 23:22:09,590] [INFO] [launch.py:351:main] Process "
                     "1327 exits successfully.\n"},
                    {"slurm-17.out", kNone32,
                     "srun: job 17 queued and waiting for resources\n"
                     "srun: job 17 has been allocated resources\n"}});
}

TEST(LauncherTexts, WordsOfHealthyLaunchersAndPrograms) {
  Job job(2, {{"describe.txt", kNone32,
               "Name:         job-worker-1\n    State:     Terminated\n      Reason:       "
               "Completed\n      Exit Code:    0\n"},
              {"train.log", kNone32,
               "Command '['git', 'describe']' returned non-zero exit status 128.\n"
               "subprocess.CalledProcessError: Command '['nvidia-smi', 'topo']' returned non-zero "
               "exit status 6.\n"
               "Registered a handler for signal SIGTERM\nTerminating the process pool\n"
               "Trainer was signaled to stop but the required `min_epochs=2` has not been met.\n"
               "W1115 23:22:09.590000 1320 torch/distributed/elastic/rendezvous/dynamic.py:1] The "
               "node 'n1_1_0' has failed to send a keep-alive heartbeat to the rendezvous 'id' due "
               "to an error of type RendezvousConnectionError.\n"}});
  for (const Finding& finding : job.findings())
    EXPECT_EQ(finding.severity, Severity::kInfo) << finding.headline;
}

TEST(LauncherTexts, NcclInfoOfAHealthyJob) {
  ExpectHealthy(2,
                {{"rank0.log", 0,
                  "vm:100:100 [0] NCCL INFO comm 0x1 rank 0 nRanks 2 nNodes 1\n"
                  "vm:100:100 [0] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 0 nranks 2 "
                  "cudaDev 0 nvmlDev 0 busId 60 commId 0xd6 - Init COMPLETE\nstep 1 loss 2.0\n"}});
}

TEST(LauncherTexts, TheStoreThatIsGoneAtANormalEnd) {
  ExpectHealthy(2,
                {{"rank1.log", 1,
                  "step 9 loss 1.0\n[rank1]:[W1115 23:24:52.208 ProcessGroupNCCL.cpp:1783] [PG ID "
                  "0 PG GUID 0 Rank 1] Failed to check the \"should dump\" flag on TCPStore, "
                  "(maybe TCPStore server has shut down too early), with error: Broken pipe\n"}});
}

}  // namespace launcher_texts_test
}  // namespace debrief

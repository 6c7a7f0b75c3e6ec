// Exceptions that wrap another one, and deaths that only a few words tell: who is named, and with
// what reason. tests/failures has the same for the whole program.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tables/text_event.h"
#include "unit/analyses/text/launcher_job.h"

namespace debrief {
namespace wrapped_exceptions_test {

using Job = LauncherJob;

std::string Marked(int32_t rank, std::string_view text) {
  std::string marked;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    marked += "[rank" + std::to_string(rank) + "]: " + std::string(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return marked;
}

std::string Trace(std::string_view exception, int line = 40) {
  return "Traceback (most recent call last):\n  File \"/home/user/train.py\", line " +
         std::to_string(line) + ", in main\n    step()\n" + std::string(exception) + "\n";
}

constexpr std::string_view kLoader =
    "ValueError: Caught ValueError in DataLoader worker process 0.\n"
    "Original Traceback (most recent call last):\n"
    "  File \"/home/user/data.py\", line 34, in __getitem__\n    decode(path)\n"
    "ValueError: cannot identify image\n";

TEST(WrappedExceptions, TheExceptionOfALoadersWorkerIsTheReason) {
  Job job(2, {{"rank0.err", 0, "step 1 loss 1.0\n"}, {"rank1.err", 1, Marked(1, Trace(kLoader))}});
  ExpectBlamed(job, {1}, "died with ValueError: cannot identify image at data.py:34");
  ASSERT_GE(job.First().evidence.size(), 2U);
  EXPECT_NE(job.First().evidence[1].text.find("Caught ValueError"), std::string::npos)
      << "the wrapper is the second evidence";
}

TEST(WrappedExceptions, RowsAreLinkedByTheLine) {
  Job job(1, {{"rank0.err", 0, Marked(0, Trace(kLoader))}});
  const auto& events = job.model().tables.Get<TextEventTable>();
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events.line[0], 1);
  EXPECT_EQ(events.cause_line[0], events.line[1]);
  EXPECT_EQ(events.cause_line[1], kNone64);
}

TEST(WrappedExceptions, ACheckpointNamesTheRankThatFailed) {
  std::string text = Trace(
      "torch.distributed.checkpoint.api.CheckpointException: CheckpointException "
      "ranks:dict_keys([2])\nTraceback (most recent call last): (RANK 2)\n"
      "  File \"/home/user/writer.py\", line 43, in write\n    f()\nOSError: disk is full");
  Job job(3, {{"rank0.err", 0, Marked(0, text)},
              {"rank1.err", 1, Marked(1, text)},
              {"rank2.err", 2, Marked(2, text)}});
  ExpectBlamed(job, {2}, "died with OSError: disk is full at writer.py:43");
}

TEST(WrappedExceptions, TheDirectCauseIsTheReason) {
  std::string text = Trace("KeyError: 'shard'", 7) +
                     "\nThe above exception was the direct cause of the following exception:\n\n" +
                     Trace("RuntimeError: no dataset", 9);
  Job job(1, {{"rank0.err", 0, Marked(0, text)}});
  ExpectBlamed(job, {0}, "died with KeyError: 'shard' at train.py:7");
}

TEST(WrappedExceptions, WhatReplacedAnExceptionIsTheReason) {
  std::string text = Trace("KeyError: 'cache'", 7) +
                     "\nDuring handling of the above exception, another exception occurred:\n\n" +
                     Trace("OSError: no file", 9);
  Job job(1, {{"rank0.err", 0, Marked(0, text)}});
  ExpectBlamed(job, {0}, "died with OSError: no file at train.py:9");
}

TEST(WrappedExceptions, ALostPeerWhileHandlingIsNot) {
  std::string text =
      Trace("OSError: no file", 7) +
      "\nDuring handling of the above exception, another exception occurred:\n\n" +
      Trace("torch.distributed.DistBackendError: NCCL communicator was aborted on rank 0.", 9);
  Job job(1, {{"rank0.err", 0, Marked(0, text)}});
  ExpectBlamed(job, {0}, "died with OSError: no file at train.py:7");
}

TEST(WrappedExceptions, WhatFollowsFromALostPeerIsNoDeath) {
  std::string text = Trace("torch.distributed.DistBackendError: NCCL communicator was aborted", 7) +
                     "\nThe above exception was the direct cause of the following exception:\n\n" +
                     Trace("RuntimeError: could not save", 9);
  Job job(2, {{"rank0.err", 0, Marked(0, text)},
              {"rank1.err", 1, Marked(1, Trace("ValueError: bad batch"))}});
  ExpectBlamed(job, {1}, "died with ValueError: bad batch");
}

TEST(WrappedExceptions, TheCompilersErrorIsUnwrapped) {
  std::string text = Trace(
      "torch._dynamo.exc.InternalTorchDynamoError: TypeError: unhashable\n\nfrom user code:\n"
      "   File \"/home/user/model.py\", line 88, in forward\n    return x");
  Job job(1, {{"rank0.err", 0, Marked(0, text)}});
  ExpectBlamed(job, {0}, "died with TypeError: unhashable at model.py:88");
}

TEST(WrappedExceptions, TheLineBelowABackendsNameIsTheReason) {
  std::string text = Trace(
      "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
      "CppCompileError: C++ compile error");
  Job job(1, {{"rank0.err", 0, Marked(0, text)}});
  ExpectBlamed(job, {0}, "died with CppCompileError: C++ compile error at train.py:40");
}

TEST(WrappedExceptions, OfASpawnedProcessTheRankIsKnown) {
  std::string text = Trace(
      "torch.multiprocessing.spawn.ProcessRaisedException: \n\n"
      "-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n"
      "  File \"/home/user/worker.py\", line 12, in run\n    f()\nRuntimeError: no gradient");
  Job job(2, {{"run.log", kNone32, text}});
  ExpectBlamed(job, {1}, "died with RuntimeError: no gradient at worker.py:12");
}

TEST(WrappedExceptions, AThreadDoesNotEndItsProcess) {
  std::string text = "Exception in thread Thread-1 (f):\n" + Trace("OSError: gone", 7) +
                     Marked(0, Trace("RuntimeError: the queue is empty", 9));
  Job job(1, {{"rank0.err", 0, text}});
  ExpectBlamed(job, {0}, "died with RuntimeError: the queue is empty at train.py:9");
}

TEST(WrappedExceptions, WhatPythonIgnoresIsNoEvent) {
  std::string text = "Exception ignored in: <function f>\n" + Trace("AssertionError: late");
  Job job(1, {{"rank0.err", 0, text}});
  EXPECT_TRUE(job.findings().empty());
}

TEST(WrappedExceptions, NcclsLastErrorIsTheReason) {
  std::string text = Trace(
      "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:77, unhandled system "
      "error\nncclSystemError: System call failed.\nLast error:\n"
      "Error while creating shared memory segment /dev/shm/nccl-a");
  Job job(2, {{"rank0.err", 0, "step 1 loss 1\n"}, {"rank1.err", 1, Marked(1, text)}});
  ExpectBlamed(job, {1}, "died with NCCL error: Error while creating shared memory segment");
}

TEST(WrappedExceptions, ARefusedConnectionOfOneRankAlone) {
  std::string text = Trace(
      "torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:93, remote process "
      "exited\nncclRemoteError: A call failed.\nLast error:\nsocketPollConnect: connect to "
      "10.0.0.7<1> returned Connection refused, exceeded error retry count");
  Job alone(3, {{"rank2.err", 2, Marked(2, text)}});
  ExpectBlamed(alone, {2}, "found no peer to set up a communicator at train.py:40");
  Job follows(3, {{"rank1.err", 1, Marked(1, Trace("ValueError: bad batch"))},
                  {"rank2.err", 2, Marked(2, text)}});
  ExpectBlamed(follows, {1}, "bad batch");
}

// Works that NCCL gave up, of three ranks: what they waited in, and what they had completed.
std::string GivenUp(int32_t rank, std::string_view work, int seq, int completed,
                    std::string_view error) {
  std::string mark = "[rank" + std::to_string(rank) + "]:[E1115 23:22:28.258 P.cpp:689] ";
  std::string number = std::to_string(seq);
  return mark + "[Rank 0] Collective WorkNCCL(SeqNum=" + number + ", OpType=" + std::string(work) +
         ", NumelIn=1, NumelOut=1, Timeout(ms)=10000) raised the following async exception: NCCL "
         "error: " +
         std::string(error) + "\n" + mark +
         "[PG ID 1 PG GUID 2 Rank 0]  failure detected by watchdog at work sequence id: " + number +
         " PG status: last enqueued work: 20, last completed work: " + std::to_string(completed) +
         "\n" + mark +
         "[Rank 0] To avoid data inconsistency, we are taking the entire process down.\n";
}

TEST(WrappedExceptions, MessagesThatDoNotFitShowWhoSkippedACall) {
  Job job(3, {{"rank0.err", 0, GivenUp(0, "REDUCE", 8, 7, "invalid usage")},
              {"rank1.err", 1, GivenUp(1, "REDUCE", 11, 10, "remote process exited")},
              {"rank2.err", 2, GivenUp(2, "ALLTOALL_BASE", 9, 8, "invalid usage")}});
  ExpectBlamed(job, {1}, "did not join all_to_all #9 of group 2 in which rank 2 waits");
}

TEST(WrappedExceptions, LastWordsOfTheCLibrary) {
  Job job(2, {{"rank0.err", 0, "step 1 loss 1\n"}, {"rank1.err", 1, "free(): invalid pointer\n"}});
  ExpectBlamed(job, {1}, "died with free(): invalid pointer");
}

TEST(WrappedExceptions, SigtermThatTheLauncherDidNotSend) {
  std::string text =
      "W1115 23:22:09.590000 1320 torch/distributed/elastic/multiprocessing/api.py:1012] Sending "
      "process 100 closing signal SIGTERM\nE1115 23:22:10.130000 1320 "
      "torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: -15) local_rank: 1 "
      "(pid: 101) of binary: /usr/bin/python\n";
  Job job(2, {{"torchrun.txt", kNone32, text}});
  ExpectBlamed(job, {1}, "was ended by SIGTERM (signal 15), which the launcher did not send");
}

}  // namespace wrapped_exceptions_test
}  // namespace debrief

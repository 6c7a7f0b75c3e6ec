// Every text is read in ranges of 1, 7 and 100 bytes and as a whole; the rows must be the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/threads/thread_pool.h"
#include "inputs/import.h"
#include "inputs/importer.h"
#include "inputs/job_text/fields.h"
#include "inputs/job_text/line_class.h"
#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/word_filter.h"
#include "tables/text_event.h"
#include "torch/glog_time.h"

namespace debrief::inputs::job_text {

const Importer& Describe();

namespace job_text_test {

int64_t Ns(int year, unsigned month, unsigned day, int64_t of_day_s) {
  using namespace std::chrono;  // NOLINT(google-build-using-namespace)
  sys_days date{
      year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day))};
  return (duration_cast<seconds>(date.time_since_epoch()).count() + of_day_s) * 1'000'000'000;
}

const int64_t kNow = Ns(2026, 11, 16, 0);
const int64_t kDay = Ns(2026, 11, 15, 0);

struct Event {
  int32_t rank, exit_code, file_line;
  int64_t line, time_ns, seq, last_enqueued, last_completed, timeout_ms, ran_ms;
  std::string kind, group, desc, op, compile_id, file, text;
  bool operator==(const Event&) const = default;
};

std::vector<Event> ReadWith(const std::string& text, uint64_t chunk, int32_t rank,
                            std::string_view path) {
  static ThreadPool pool(2);
  ImportContext context{.who = {.input = 0, .job = 0, .attempt = 0, .rank = rank},
                        .path = path,
                        .chunk_bytes = chunk,
                        .now_ns = kNow};
  auto reader = Describe().open(context);
  Part whole;
  EXPECT_TRUE(ImportSource(*reader, *MakeMemorySource(text), pool, whole).ok());
  const auto& t = whole.tables.Get<TextEventTable>();
  auto word = [&](StringId id) { return std::string(whole.pools.Text(id)); };
  std::vector<Event> events;
  for (size_t i = 0; i < t.size(); ++i) {
    events.push_back({t.rank[i], t.exit_code[i], t.file_line[i], t.line[i], t.time_ns[i], t.seq[i],
                      t.last_enqueued[i], t.last_completed[i], t.timeout_ms[i], t.ran_ms[i],
                      word(t.kind[i]), word(t.group_name[i]), word(t.group_desc[i]), word(t.op[i]),
                      word(t.compile_id[i]), word(t.file[i]), word(t.text[i])});
  }
  return events;
}

// Without the rows of last lines.
std::vector<Event> Events(const std::string& text, int32_t rank = kNone32,
                          std::string_view path = "out.txt") {
  std::vector<Event> whole = ReadWith(text, 1 << 20, rank, path);
  for (uint64_t chunk : std::vector<uint64_t>{1, 7, 100}) {
    EXPECT_EQ(ReadWith(text, chunk, rank, path), whole) << "chunks of " << chunk;
  }
  std::erase_if(whole, [](const Event& event) { return event.kind == "last_line"; });
  return whole;
}

std::vector<Event> LastLines(const std::string& text, int32_t rank = kNone32) {
  std::vector<Event> whole = ReadWith(text, 1 << 20, rank, "out.txt");
  EXPECT_EQ(ReadWith(text, 1, rank, "out.txt"), whole);
  std::erase_if(whole, [](const Event& event) { return event.kind != "last_line"; });
  return whole;
}

Event One(const std::string& text, int32_t rank = kNone32) {
  std::vector<Event> events = Events(text, rank);
  EXPECT_EQ(events.size(), 1U) << text;
  return events.empty() ? Event{} : events[0];
}

constexpr std::string_view kTimeout =
    "[rank0]:[E1115 02:42:35.285812108 ProcessGroupNCCL.cpp:689] [Rank 0] Watchdog caught "
    "collective "
    "operation timeout: WorkNCCL(SeqNum=10, OpType=_REDUCE_SCATTER_BASE, NumelIn=256, "
    "NumelOut=128, "
    "Timeout(ms)=10000) ran for 10013 milliseconds before timing out.\n";
constexpr std::string_view kStatus =
    "[rank0]:[E1115 02:42:35.285980770 ProcessGroupNCCL.cpp:2303] [PG ID 3 PG GUID 9(mesh_tp) Rank "
    "0] "
    " failure detected by watchdog at work sequence id: 10 PG status: last enqueued work: 12, last "
    "completed work: 9\n";
constexpr std::string_view kStack =
    "[rank0]:[E1115 02:42:35.286345474 ProcessGroupNCCL.cpp:733] Stack trace of the failed "
    "collective: \n"
    "#0 reduce_scatter from /usr/lib/python3.12/site-packages/torch/distributed/c10d.py:4652\n"
    "#1 step from /home/user/dist_job.py:57\n"
    "#2 <module> from /home/user/dist_job.py:75\n";

TEST(JobText, TimeoutTakesGroupAndPlaceFromTheNextLines) {
  auto events = Events(fmt::format("hello\n{}{}{}", kTimeout, kStatus, kStack));
  ASSERT_EQ(events.size(), 2U);
  const Event& timeout = events[0];
  EXPECT_EQ(timeout.kind, "watchdog_timeout");
  EXPECT_EQ(timeout.rank, 0);
  EXPECT_EQ(timeout.line, 2);
  EXPECT_EQ(timeout.seq, 10);
  EXPECT_EQ(timeout.op, "_REDUCE_SCATTER_BASE");
  EXPECT_EQ(timeout.timeout_ms, 10000);
  EXPECT_EQ(timeout.ran_ms, 10013);
  EXPECT_EQ(timeout.group, "9");
  EXPECT_EQ(timeout.desc, "mesh_tp");
  EXPECT_EQ(timeout.last_enqueued, 12);
  EXPECT_EQ(timeout.last_completed, 9);
  EXPECT_EQ(timeout.time_ns, kDay + (2 * 3600 + 42 * 60 + 35) * int64_t{1'000'000'000} + 285812108);
  EXPECT_EQ(timeout.file, "/home/user/dist_job.py");
  EXPECT_EQ(timeout.file_line, 57);
  EXPECT_EQ(events[1].kind, "watchdog_status");
  EXPECT_EQ(events[1].seq, 10);
  EXPECT_EQ(events[1].file_line, 57);
}

TEST(JobText, TimeoutsOfOtherWorkOrRankAreNotJoined) {
  std::string other(kStatus);
  other.replace(other.find("id: 10"), 6, "id: 11");
  auto events = Events(fmt::format("{}{}", kTimeout, other));
  EXPECT_EQ(events[0].group, "");
  other = kStatus;
  other.replace(0, 7, "[rank1]");
  events = Events(fmt::format("{}{}", kTimeout, other));
  EXPECT_EQ(events[0].group, "");
  EXPECT_EQ(events[1].rank, 1);
}

TEST(JobText, TwoWaitingStacksAreNobodys) {
  std::string second(kStatus);
  second.replace(second.find("id: 10"), 6, "id: 11");
  auto events = Events(fmt::format("{}{}{}{}", kTimeout, kStatus, second, kStack));
  ASSERT_EQ(events.size(), 3U);
  for (const Event& event : events) EXPECT_EQ(event.file, "");
  // Once both have been printed, the next is clear again.
  events = Events(fmt::format("{}{}{}{}{}{}", kStatus, second, kStack, kStack, kStatus, kStack));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].file, "");
  EXPECT_EQ(events[2].file_line, 57);
}

TEST(JobText, ManyTimeoutsWithoutAStatusDoNotHideTheNext) {
  std::string text, other(kTimeout);
  other.replace(other.find("SeqNum=10"), 9, "SeqNum=11");
  for (int i = 0; i < 50; ++i) text += other;
  auto events = Events(text + std::string(kTimeout) + std::string(kStatus));
  ASSERT_EQ(events.size(), 52U);
  EXPECT_EQ(events[50].group, "9");
}

TEST(JobText, TooManyEventsAreCounted) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "CUDA out of memory\n";
  auto events = ReadWith(text, 1 << 20, kNone32, "out.txt");
  EXPECT_EQ(events.size(), size_t{1} << 18);
}

TEST(JobText, OlderWatchdogLines) {
  Event old =
      One("[E ProcessGroupNCCL.cpp:828] [Rank 3] Watchdog caught collective operation timeout: "
          "WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800123 milliseconds "
          "before timing out.\n",
          3);
  EXPECT_EQ(old.kind, "watchdog_timeout");
  EXPECT_EQ(old.op, "ALLREDUCE");
  EXPECT_EQ(old.ran_ms, 1800123);
  EXPECT_EQ(old.rank, 3);
  Event status = One(
      "[rank3]:[E ProcessGroupNCCL.cpp:1182] [PG 0 (default_pg) Rank 3] Timeout at NCCL work: 8, "
      "last enqueued NCCL work: 9, last completed NCCL work: 7.\n");
  EXPECT_EQ(status.kind, "watchdog_status");
  EXPECT_EQ(status.group, "0");
  EXPECT_EQ(status.desc, "default_pg");
  EXPECT_EQ(status.seq, 8);
  EXPECT_EQ(status.last_enqueued, 9);
  EXPECT_EQ(status.last_completed, 7);
}

TEST(JobText, GroupsOfAllVersions) {
  auto name = [](std::string_view text) { return std::string(ParseGroup(text)->name); };
  EXPECT_EQ(name("[PG ID 2 PG GUID 8(mesh_dp) Rank 0] x"), "8");
  EXPECT_EQ(name("[PG 0 Rank 3] x"), "0");
  EXPECT_EQ(name("[PG ID 0 PG GUID 7 Rank 3] x"), "7");
  EXPECT_EQ(ParseGroup("[PG 1 (a (b)) Rank 3]")->desc, "a (b)");
  EXPECT_FALSE(ParseGroup("[Rank 3]"));
}

TEST(JobText, DumpSignalHeartbeatAndTeardown) {
  Event dump = One(
      "[rank2]:[E1115 02:47:57.357620976 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) "
      "Rank 2] Received a dump signal due to a collective timeout from  rank 0 and we will try. "
      "Last "
      "enqueued NCCL work: 3, last completed NCCL work: 2.This is most likely\n");
  EXPECT_EQ(dump.kind, "dump_signal");
  EXPECT_EQ(dump.last_enqueued, 3);
  EXPECT_EQ(dump.last_completed, 2);
  EXPECT_EQ(dump.rank, 2);
  EXPECT_EQ(One("[PG 0 Rank 1] Heartbeat monitor timed out! Process will be terminated\n").kind,
            "heartbeat_lost");
  EXPECT_EQ(One("x ProcessGroupNCCL's watchdog got stuck for 480 seconds without\n").kind,
            "heartbeat_lost");
  EXPECT_EQ(One("To avoid data inconsistency, we are taking the entire process down.\n").kind,
            "teardown");
  EXPECT_EQ(One("Terminating the process after attempting to dump debug info\n").kind, "teardown");
}

TEST(JobText, ReasonOfTerminateIsNoSecondEvent) {
  Event event =
      One("terminate called after throwing an instance of 'c10::DistBackendError'\n"
          "  what():  [PG ID 1 PG GUID 1(mesh_pp) Rank 0] Process group watchdog thread terminated "
          "with "
          "exception: [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5, "
          "OpType=COALESCED, Timeout(ms)=10000) ran for 10032 milliseconds before timing out.\n");
  EXPECT_EQ(event.kind, "teardown");
  EXPECT_EQ(event.seq, 5);
  EXPECT_EQ(event.group, "1");
  EXPECT_EQ(event.line, 1);
}

TEST(JobText, NcclErrors) {
  for (std::string_view line :
       {"ncclRemoteError: A call failed possibly due to a network error",
        "node1:12:34 [3] transport/net.cc:20 NCCL WARN Net : Connection refused",
        "NCCL error in: ../ProcessGroupNCCL.cpp:1275, unhandled cuda error, NCCL version 2.18"}) {
    EXPECT_EQ(One(std::string(line)).kind, "nccl_error") << line;
  }
  EXPECT_TRUE(
      Events("NCCL version 2.28.9+cuda12\nnode1:1:2 [0] NCCL INFO Channel 00/02\n").empty());
}

constexpr std::string_view kTraceback =
    "Traceback (most recent call last):\n"
    "  File \"/home/user/train.py\", line 52, in <module>\n"
    "    step(i)\n"
    "  File \"/home/user/train.py\", line 30, in step\n"
    "    loss.backward()\n"
    "    ^^^^^^^^^^^^^^^\n"
    "  File \"/usr/lib/python3.12/site-packages/torch/_tensor.py\", line 500, in backward\n"
    "    x\n"
    "RuntimeError: boom: it broke\n";

TEST(JobText, TracebackHasTheInnermostUserFrame) {
  Event event = One(std::string(kTraceback), 6);
  EXPECT_EQ(event.kind, "traceback");
  EXPECT_EQ(event.text, "RuntimeError: boom: it broke");
  EXPECT_EQ(event.file, "/home/user/train.py");
  EXPECT_EQ(event.file_line, 30);
  EXPECT_EQ(event.line, 1);
  EXPECT_EQ(event.rank, 6);
}

TEST(JobText, TracebackWithoutUserFrameHasTheInnermost) {
  Event event =
      One("Traceback (most recent call last):\n"
          "  File \"/usr/lib/python3.12/runpy.py\", line 1, in a\n"
          "  File \"/usr/lib/python3.12/site-packages/torch/run.py\", line 2, in b\n"
          "KeyboardInterrupt\n");
  EXPECT_EQ(event.file_line, 2);
  EXPECT_EQ(event.text, "KeyboardInterrupt");
}

// Each rank's lines get its mark; the lines of the ranks alternate.
std::string Interleave(const std::vector<std::string>& marks, std::string_view text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin) + 1;
    for (const std::string& mark : marks)
      result += mark + std::string(text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

TEST(JobText, InterleavedRanks) {
  auto events = Events(Interleave({"[rank3]: ", "[rank11]: ", ""}, kTraceback));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].rank, 3);
  EXPECT_EQ(events[1].rank, 11);
  EXPECT_EQ(events[2].rank, kNone32);
  for (const Event& event : events) {
    EXPECT_EQ(event.text, "RuntimeError: boom: it broke");
    EXPECT_EQ(event.file_line, 30);
  }
}

TEST(JobText, LogLinesInsideATracebackDoNotEndIt) {
  std::string text = Interleave({"[rank0]: "}, kTraceback);
  text.insert(text.find("[rank0]:     step"), kTimeout);
  text.insert(text.find("[rank0]:     loss"), "[rank0]: some words that are no exception\n");
  auto events = Events(text);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].text, "RuntimeError: boom: it broke");
  EXPECT_EQ(events[1].kind, "watchdog_timeout");
}

TEST(JobText, ChainedTracebacks) {
  auto events = Events(fmt::format(
      "{}\nDuring handling of the above exception, another exception occurred:\n\n"
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nmy.errors.late: x\n",
      kTraceback));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1].text, "my.errors.late: x");
  EXPECT_EQ(events[1].file, "a.py");
  EXPECT_EQ(events[1].line, 13);
}

TEST(JobText, CutTraceback) {
  std::string cut(kTraceback.substr(0, kTraceback.find("    loss")));
  Event event = One(cut);
  EXPECT_EQ(event.file_line, 30);
  EXPECT_EQ(event.text, "  File \"/home/user/train.py\", line 30, in step");
  EXPECT_EQ(One("Traceback (most recent call last):").file, "");
  auto twice = Events(cut + std::string(kTraceback));
  ASSERT_EQ(twice.size(), 2U);
  EXPECT_EQ(twice[1].text, "RuntimeError: boom: it broke");
}

TEST(JobText, TracebackBehindAProgressBar) {
  Event event = One("\r 10%|#  | 1/10\r 20%|## | 2/10 [00:01]" + std::string(kTraceback));
  EXPECT_EQ(event.text, "RuntimeError: boom: it broke");
}

TEST(JobText, ColoursAndCarriageReturnsChangeNothing) {
  std::string text(kTraceback), crlf, colour;
  for (char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    colour += "\x1b[1;31m" + text.substr(begin, end - begin) + "\x1b[0m\n";
    begin = end + 1;
  }
  EXPECT_EQ(Events(crlf), Events(text));
  EXPECT_EQ(Events(colour), Events(text));
  EXPECT_EQ(Events(Interleave({"\x1b[32m[rank1]:\x1b[0m "}, text)),
            Events(Interleave({"[rank1]: "}, text)));
  EXPECT_TRUE(Events("\x1b\n\x1b[\n\x1b[31").empty());
}

TEST(JobText, OutOfMemoryKeepsThePlaceOfItsTraceback) {
  std::string text(kTraceback);
  text.replace(text.find("RuntimeError"), std::string::npos,
               "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.");
  auto events = Events(text);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, "traceback");
  EXPECT_EQ(events[1].kind, "out_of_memory");
  EXPECT_EQ(events[1].file_line, 30);
  EXPECT_EQ(events[1].line, 9);
  for (
      std::string_view line :
      {"RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory",
       "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
       "terminate called after throwing an instance of 'c10::Error'\n  what():  CUDA out of memory",
       "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0",
       "kernel: Out of memory: Killed process 4 (python)"}) {
    EXPECT_EQ(One(std::string(line)).kind, "out_of_memory") << line;
  }
}

TEST(JobText, Signals) {
  Event fatal = One(
      "Fatal Python error: Segmentation fault\n\n"
      "Thread 0x00007f01 (most recent call first):\n  File \"/home/u/wrong.py\", line 1 in w\n\n"
      "Current thread 0x00007f02 (most recent call first):\n"
      "  File \"/usr/lib/python3.12/site-packages/torch/x.py\", line 9 in g\n"
      "  File \"/home/u/train.py\", line 7 in f\n  File \"/home/u/train.py\", line 8 in m\n");
  EXPECT_EQ(fatal.kind, "signal");
  EXPECT_EQ(fatal.exit_code, -11);
  EXPECT_EQ(fatal.file, "/home/u/train.py");
  EXPECT_EQ(fatal.file_line, 7);
  EXPECT_EQ(One("Signal 15 (SIGTERM) received by PID 123\n").exit_code, -15);
  EXPECT_EQ(One("worker was killed by signal 9\n").exit_code, -9);
  EXPECT_EQ(One("W1115 02:00:00.000000 1 torch/x.py:9] Sending process 7 closing signal SIGTERM\n")
                .exit_code,
            -15);
  Event task = One("srun: error: node1: task 3: Segmentation fault (core dumped)\n", 0);
  EXPECT_EQ(task.kind, "signal");
  EXPECT_EQ(task.rank, 3);
  EXPECT_EQ(task.exit_code, -11);
}

TEST(JobText, Exits) {
  for (std::string_view line :
       {"worker 3 exited with exitcode 13", "Process 4 terminated with exit code 13",
        "srun: error: node1: task 3: Exited with exit code 13", "exit code 13",
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): one line of torchrun
        "E1115 02:00:00.000000 1 torch/x.py:9] failed (exitcode: 13) local_rank: 4 (pid: 7) of "
        "binary"}) {
    Event event = One(std::string(line));
    EXPECT_EQ(event.kind, "exit") << line;
    EXPECT_EQ(event.exit_code, 13) << line;
  }
  EXPECT_TRUE(
      Events("It fails with exit code 2 when asked to.\nexit codes: 0, 1\nexitcode\n").empty());
}

TEST(JobText, FailuresOfTorchrun) {
  std::string block =
      "============================================================\n"
      "train.py FAILED\n"
      "------------------------------------------------------------\n"
      "Failures:\n"
      "[1]:\n"
      "  time      : 2026-11-15_02:00:01\n"
      "  host      : node1\n"
      "  rank      : 5 (local_rank: 5)\n"
      "  exitcode  : -9 (pid: 77)\n"
      "  error_file: <N/A>\n"
      "  traceback : Signal 9 (SIGKILL) received by PID 77\n"
      "------------------------------------------------------------\n"
      "Root Cause (first observed failure):\n"
      "[0]:\n"
      "  time      : 2026-11-15_02:00:00\n"
      "  host      : node1\n"
      "  rank      : 4 (local_rank: 4)\n"
      "  exitcode  : 13 (pid: 76)\n"
      "  error_file: /tmp/e.json\n";
  auto events = Events(block);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind, "signal");
  EXPECT_EQ(events[0].rank, 5);
  EXPECT_EQ(events[0].exit_code, -9);
  EXPECT_EQ(events[0].time_ns, kDay + 7201 * int64_t{1'000'000'000});
  EXPECT_EQ(events[1].kind, "exit");
  EXPECT_EQ(events[1].rank, 4);
  EXPECT_EQ(events[1].exit_code, 13);
  EXPECT_EQ(events[1].text,
            "time: 2026-11-15_02:00:00; host: node1; rank: 4 (local_rank: 4); exitcode: 13 (pid: "
            "76); error_file: /tmp/e.json");
}

TEST(JobText, TorchLogsAreOneRowPerMessage) {
  std::string head = "V1115 02:33:30.010000 425 torch/_dynamo/guards.py:1379] ";
  auto events = Events(head + "[5/0] [__recompiles] Recompiling f\n" + head +
                       "[5/0] [__recompiles]     triggered by\nnoise\n" + head + "[5/0]\n" +
                       "[rank1]:" + head + "[5/0_1] other\n" + head + "[__graph_breaks] no id\n" +
                       head + "no compile id at all\n");
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].kind, "torch_log");
  EXPECT_EQ(events[0].compile_id, "5/0");
  EXPECT_EQ(events[0].file, "torch/_dynamo/guards.py");
  EXPECT_EQ(events[0].file_line, 1379);
  EXPECT_EQ(events[0].time_ns,
            kDay + (2 * 3600 + 33 * 60 + 30) * int64_t{1'000'000'000} + 10000000);
  EXPECT_EQ(events[0].text, "[__recompiles] Recompiling f\n    triggered by");
  EXPECT_EQ(events[1].text, "");  // behind a line of another program
  EXPECT_EQ(events[2].compile_id, "5/0_1");
  EXPECT_EQ(events[2].rank, 1);
  EXPECT_EQ(events[3].text, "[__graph_breaks] no id");
  EXPECT_EQ(events[4].text, "no compile id at all");
}

TEST(JobText, LongTorchLogIsBoundedInWholeCharacters) {
  std::string head = "V1115 02:33:30.010000 425 torch/a.py:1] [0/0] ";
  std::string text;
  for (int i = 0; i < 300; ++i) text += head + "\u00e9\u20ac\U0001F600 line\n";
  Event event = One(text);
  EXPECT_LE(event.text.size(), kMaxText);
  EXPECT_GT(event.text.size(), kMaxText - 100);
  for (int cut = 0; cut < 12; ++cut) {
    std::string line = "exit code" + std::string(static_cast<size_t>(cut), ' ');
    for (int i = 0; i < 1000; ++i) line += "\U0001F600";
    Event long_line = One("CUDA out of memory " + line);
    EXPECT_EQ((long_line.text.size() - 19 - 9 - static_cast<size_t>(cut)) % 4, 0U);
  }
}

TEST(JobText, LocalRanksAreAHint) {
  EXPECT_EQ(One("[default3]:CUDA out of memory.\n").rank, 3);
  EXPECT_EQ(One("[default3]:CUDA out of memory.\n", 8).rank, 8);
  auto events = Events("[default3]:CUDA out of memory.\n[default3]:[rank11]: hello\n");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].rank, 11);
  events = Events("[default3]:CUDA out of memory\n[default3]:[rank11]: a\n[default3]:[rank3]: b\n");
  EXPECT_EQ(events[0].rank, kNone32);
  EXPECT_EQ(Events(Interleave({"[default0]:", "[default1]:"}, kTraceback)).size(), 2U);
}

TEST(JobText, LabelsOfLaunchersOnlyWhenMostLinesHaveThem) {
  auto events = Events(Interleave({" 3: ", "11: "}, kTraceback));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].rank, 3);
  EXPECT_EQ(events[1].rank, 11);
  EXPECT_EQ(Events(Interleave({"[2] ", "[1] "}, kTraceback))[0].rank, 2);
  EXPECT_EQ(Events(Interleave({"[1,2]<stderr>:"}, kTraceback))[0].rank, 2);
  EXPECT_EQ(One("3: CUDA out of memory\na\nb\nc\nd\n").rank, kNone32);
  EXPECT_EQ(DetectPrefixStyle("1: a\n2: b\n3: c\n4: d\n5: e\n").labels, LineLabels::kNone);
  EXPECT_EQ(DetectPrefixStyle("0: a\n1: b\n0: c\n1: d\n\n").labels, LineLabels::kColon);
  EXPECT_EQ(DetectPrefixStyle("10:20:30 a\n10:20:31 b\n10:20:32 c\n10:20:33 d\n").labels,
            LineLabels::kNone);
}

TEST(JobText, PrefixesThatAreNone) {
  for (std::string_view mark :
       {"[rank-1]: ", "[rank]: ", "[rank99999999999]: ", "[rank3] ", "[rank3"}) {
    EXPECT_EQ(One(fmt::format("{}CUDA out of memory\n", mark)).rank, kNone32) << mark;
  }
}

TEST(JobText, LastLines) {
  auto lines = LastLines("[rank1]: one\nplain\n[rank0]: two\n[rank1]: three  \n \n\t\n[rank0]: \n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].rank, 0);
  EXPECT_EQ(lines[0].text, "two");
  EXPECT_EQ(lines[0].line, 3);
  EXPECT_EQ(lines[1].text, "three  ");
  EXPECT_TRUE(LastLines("nobody's\n").empty());
  lines = LastLines("[rank1]: one\nplain", 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text, "plain");
  EXPECT_TRUE(LastLines("", 1).empty());
  EXPECT_TRUE(LastLines("\n\n", 1).empty());
}

TEST(JobText, DocumentsAreNotSearched) {
  for (std::string_view path : {"job/README.md", "train.py"}) {
    EXPECT_TRUE(Events(std::string(kTraceback), kNone32, path).empty());
  }
}

TEST(JobText, HostileTexts) {
  std::string megabyte(1 << 20, 'x');
  EXPECT_EQ(One(megabyte + "\nCUDA out of memory\n" + megabyte).line, 2);
  Event long_line = One("CUDA out of memory " + megabyte);
  EXPECT_EQ(long_line.text.size(), kMaxText);
  EXPECT_EQ(One("CUDA out of memory \xff\xfe\x80").text, "CUDA out of memory \xff\xfe\x80");
  std::string nul("CUDA out of memory\0x\n", 21);
  EXPECT_EQ(One(nul).kind, "out_of_memory");
  EXPECT_EQ(
      One("WorkNCCL(SeqNum=99999999999999999999, Watchdog caught collective operation timeout").seq,
      kNone64);
  EXPECT_EQ(One("[PG Watchdog caught collective operation timeout: WorkNCCL(OpType=").op, "");
  EXPECT_TRUE(Events("exited with exitcode 99999999999").empty());
}

TEST(JobText, WordFilterMissesNothing) {
  constexpr std::string_view kWord[] = {"sevenby"};
  WordFilter filter;
  filter.Add(kWord);
  for (size_t before = 0; before < 12; ++before) {
    for (size_t after = 0; after < 5; ++after) {
      EXPECT_TRUE(filter.MayHave(std::string(before, '-') + "sevenby" + std::string(after, '-')));
    }
  }
  EXPECT_FALSE(filter.MayHave("a line of other words"));
}

TEST(GlogTime, TheNewestYearThatIsNotInTheFuture) {
  auto guess = [](std::string_view text, int64_t now) {
    return GuessTime(*ParseGlogTime(text), now);
  };
  EXPECT_EQ(guess("1231 23:59:59.000000", Ns(2027, 1, 1, 0)), Ns(2026, 12, 31, 86399));
  EXPECT_EQ(guess("0101 00:00:00.000000", Ns(2026, 12, 31, 86000)), Ns(2027, 1, 1, 0));
  EXPECT_EQ(guess("0229 00:00:00.000000", Ns(2027, 6, 1, 0)), Ns(2024, 2, 29, 0));
  EXPECT_EQ(guess("1341 00:00:00.000000", Ns(2027, 6, 1, 0)), kNone64);
  EXPECT_FALSE(ParseGlogTime("1115 02:42:35"));
}

TEST(GlogTime, Iso) {
  int64_t noon = Ns(2026, 11, 15, 43200);
  EXPECT_EQ(ParseIsoTime("2026-11-15 12:00:00,180 x"), noon + 180'000'000);
  EXPECT_EQ(ParseIsoTime("2026-11-15T12:00:00.1234567899Z"), noon + 123'456'789);
  EXPECT_EQ(ParseIsoTime("2026-11-15_12:00:00"), noon);
  EXPECT_EQ(ParseIsoTime("2026-13-15 12:00:00"), kNone64);
  EXPECT_EQ(ParseIsoTime("9999-11-15 12:00:00"), kNone64);
}

}  // namespace job_text_test
}  // namespace debrief::inputs::job_text

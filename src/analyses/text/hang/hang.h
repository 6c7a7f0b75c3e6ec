// What the texts of a job say about its end, and the guesses that follow.
//
//   text_event, process_exit --> Talk: by rank, one pass
//                            --> GroupWorks: the works that watchdogs gave up, by group
//                            --> findings: each guess looks at the talk of one attempt and adds
//                                what it finds
//
// Cause before consequence: who was ended by the kernel or ended by itself, then who differs from
// all others, then only that ranks waited. A rank that the launcher stopped, or that its own
// watchdog took down, is never named for that.
//
// Text knows less than dumps: confidences are those of a guess that the dumps would settle.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "tables/process_exit.h"
#include "tables/text_event.h"
#include "torch/end_signs.h"

namespace debrief::analyses::text_hang {

// Rows of text_event, in the order of the text.
using Rows = std::vector<size_t>;

// How a process ended, by all that is said of it.
struct End {
  int32_t exit_code = kNone32;
  int64_t time_ns = kNone64;
  std::string_view said_by;
  bool stopped = false;    // the launcher stopped it: it lived when another had ended
  bool forced = false;     // it did not end when the launcher told it to
  bool first = false;      // the launcher names it the first failure
  bool by_kernel = false;  // the kernel ended it
  bool by_memory = false;  // for lack of memory
  bool lost = false;       // a serving engine found it gone, without a code
  std::string_view host;   // host or pod, as the text spells it
  Rows rows;               // of process_exit
  std::set<std::pair<int32_t, int64_t>> raised;  // input and line of exceptions that nobody caught

  bool known() const { return exit_code != kNone32; }
};

struct RankTalk {
  bool has_text = false;  // it left an output
  Rows timeouts;          // its watchdog: a work ran into its time limit
  Rows dump_signals;      // somebody asked it for a dump
  Rows counters;          // it tells the last work that it enqueued on a group
  Rows remote_errors;     // communication failed because another process went away
  Rows failed_works;      // works that NCCL gave up with an error
  Rows nccl_lines;        // all that NCCL says of errors
  Rows troubles;          // tracebacks, out of memory, faults, signals, exits: its own
  Rows aftermaths;        // exceptions that say only that communication was given up
  Rows suspicions;        // a lost heartbeat, a held GIL, a monitor that found it stuck
  Rows engine_lines;      // engine_dead, engine_waits, engine_stuck
  size_t left = kNoRow;   // it ended without closing its groups, as PyTorch warns
  bool teardown = false;  // its watchdog took the process down
  bool gave_up = false;   // the same, after it had aborted its communicators
  int64_t gave_up_ns = kNone64;
  std::map<int32_t, size_t> last_lines;   // by input
  size_t last_line = kNoRow;              // the newest of them
  int64_t last_ns = kNone64;              // the last time in its output
  std::map<int32_t, int64_t> last_steps;  // the line of the last step it reported, by input
  // Line and step (null when it tells none) of all of them.
  std::map<int32_t, std::vector<std::pair<int64_t, int64_t>>> step_lines;
  Rows printed;                            // exceptions that it printed and did not raise
  std::map<int32_t, int64_t> normal_ends;  // where it said that it came to its end, by input
  size_t last_step = kNoRow;               // of progress
  Rows tail;                               // of tail_line
  End end;

  // Did it report a step, or its normal end, behind `line` of `input`?
  bool WentOn(int32_t input, int64_t line) const;

  static constexpr size_t kNoRow = ~size_t{0};
};

struct Talk {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::map<int32_t, RankTalk> ranks;  // all that are known to exist
  RankTalk nobody;                    // text whose rank is not known: a launcher's, or any file
  std::vector<End> nameless;          // ends of processes whose rank is not known
  Rows scheduler;                     // the job was ended from outside
  Rows kernel;                        // what the kernel says of GPUs and processes
  Rows setup;                         // the store or the set-up of communicators failed
  std::vector<int32_t> listed;        // ranks in the closing list of a launcher
  std::map<int64_t, int32_t> rank_of_pid;
  // By PCI address, as NCCL prints it, where one rank alone has it, and by BusOnHost().
  std::map<std::string, int32_t, std::less<>> rank_of_bus;
  int64_t first_timeout_ns = kNone64;  // null when none tells a time
  bool stale_signal = false;           // a dump signal of an earlier attempt reached this one
  bool is_teed = false;                // one text has the output of several ranks
  bool mismatch = false;               // NCCL found that ranks called different things
  std::set<int32_t> with_errors;       // ranks of which an input exists that would hold errors

  std::vector<int32_t> RanksThatTimedOut() const;
  // Does any rank show that the job did not end well?
  bool EndedBadly() const;
  // Would an error message of `rank` be here, had it printed one?
  bool OutputIsKnown(int32_t rank) const { return is_teed || with_errors.contains(rank); }
};

// One per attempt of a job about which a text says something.
std::vector<Talk> CollectTalks(const Model& model);

// ---- ends.cc: joins what is said of processes by rank or process id.
void AddEnds(const Model& model, std::vector<Talk>& talks);

// "node07 4b000": hosts of a job have the same addresses.
std::string BusOnHost(std::string_view host, std::string_view bus);

// ---- own_troubles.cc: what follows from the end of a peer where all ranks say it, and is a rank's
// own trouble where it alone does: a wait in the store, an interrupt.
void ClaimOwnTroubles(const Model& model, Talk& talk);

// ---- caught.cc: forgets exceptions from which their processes went on, where another rank ended
// before.
void ForgetCaught(const Model& model, Talk& talk);

// What a process printed and did not raise may still be why, where the job ended badly.
void ClaimPrinted(Talk& talk);

// Sentences of a communication library about a peer that is gone. What follows from the end of
// another process is not what ended this one.
bool BlamesARemote(std::string_view text);

// An exception that says only that communication was given up, or that somebody stopped the
// process.
bool IsAftermath(std::string_view text);

// The whole number behind `key`, as in "NumelIn=131072"; kNone64 when there is none.
int64_t NumberAfter(std::string_view text, std::string_view key);

// The oldest work of one rank in one group that ran into its time limit.
struct Work {
  int32_t rank = kNone32;
  size_t row = 0;  // of text_event
  int64_t seq = kNone64;
  std::string_view op;
  int64_t elements_in = kNone64;
  int64_t elements_out = kNone64;
  int64_t last_enqueued = kNone64;
  int64_t last_completed = kNone64;
  int64_t start_ns = kNone64;  // when it began to wait
};

struct GroupWorks {
  std::string_view name;    // as the job numbers it
  std::string_view desc;    // what people call it
  std::vector<Work> works;  // by rank
};

// In order of description and name; groups without a name are left out.
std::vector<GroupWorks> CollectWorks(const Model& model, const Talk& talk);

// "all_reduce #16 of mesh_dp"; of a group without description "all_reduce #16 of group 8".
std::string WorkInWords(const GroupWorks& group, const Work& work);

// As other analyses spell it: ALLREDUCE is all_reduce.
std::string OpInWords(std::string_view op);

// The group as a finding names it; its ranks are those that speak of it.
GroupRef ToRef(const GroupWorks& group);

struct Scene {
  const Model& model;
  const Talk& talk;
  std::vector<GroupWorks> groups;
};

// text_hang.stale_signal: this attempt was ended by the dump signal of an earlier one.
void FindStaleSignal(const Scene& scene, std::vector<Finding>& findings);

// text_hang.gpu_fault: the driver reports a fault of the GPU of one rank.
void FindGpuFault(const Scene& scene, std::vector<Finding>& findings);

// text_hang.ended: the same of a GPU whose rank no text tells.
bool FindNamelessGpuFault(const Scene& scene, std::vector<Finding>& findings);

// text_hang.died: a traceback, a fault, out of memory, a signal or an exit code ended a rank.
void FindDeaths(const Scene& scene, std::vector<Finding>& findings);

// ---- fingerprints.cc

// text_hang.differs: PyTorch compared what ranks were about to run.
void FindFingerprints(const Scene& scene, std::vector<Finding>& findings);

// ---- call_sites.cc: what gloo leaves to compare.

// text_hang.differs: every rank timed out in gloo, one alone at another line of the program.
void FindOddSite(const Scene& scene, std::vector<Finding>& findings);

// Adds where the ranks stood when they gave up; blames the one that stood at another line.
void BlameOddSite(const Scene& scene, Finding& finding);

// ---- size_mismatch.cc

// text_hang.differs: gloo received a message of another size than it expected.
void FindSizeMismatch(const Scene& scene, std::vector<Finding>& findings);

// ---- engine.cc: servers of vLLM and SGLang.

// text_hang.engine: the engine of a server ended with an exception in a process without a rank; the
// second with one that only says that a worker failed.
void FindEngineFailure(const Scene& scene, std::vector<Finding>& findings);
void FindWrappedFailure(const Scene& scene, std::vector<Finding>& findings);

// text_hang.engine: a worker of the engine is gone, and nothing says why.
void FindLostWorker(const Scene& scene, std::vector<Finding>& findings);

// text_hang.engine: a watchdog of the server gave up, or it waits for its workers to the end.
void FindStuckEngine(const Scene& scene, std::vector<Finding>& findings);

// text_hang.engine: the engine is dead, as its clients say, and nothing says why.
void FindDeadEngine(const Scene& scene, std::vector<Finding>& findings);

// text_hang.setup: one rank alone found nobody at the other end when it set up a communicator.
void FindRefused(const Scene& scene, std::vector<Finding>& findings);

// text_hang.network: a port of one rank's host failed; behind FindExit(), a link that gave up.
void FindPortFault(const Scene& scene, std::vector<Finding>& findings);
void FindLinkFault(const Scene& scene, std::vector<Finding>& findings);

// text_hang.exited: a rank is gone without any output; its peers lost their connection to it, or
// the launcher lists all others.
void FindExit(const Scene& scene, std::vector<Finding>& findings);

// text_hang.exited: `silent` are neighbours of whom no launcher speaks, while all others are
// listed; `loss` is the first line about a lost connection.
bool FindLostNode(const Scene& scene, const std::vector<int32_t>& silent, size_t loss,
                  std::vector<Finding>& findings);

// ---- only_quiet.cc

// The row that says that a connection broke in a call of the program; kNoRow when none does.
size_t LossOf(const Scene& scene, const RankTalk& talk);

// text_hang.silent: others timed out or gave up, and one rank alone reports nothing.
void FindOnlyAlive(const Scene& scene, std::vector<Finding>& findings);

// text_hang.exited: all ranks but one lost a connection, and that one says nothing.
void FindOnlyQuiet(const Scene& scene, std::vector<Finding>& findings);

// text_hang.stuck: a monitor, the watchdog, the kernel or NCCL's desync report names the rank.
void FindStuck(const Scene& scene, std::vector<Finding>& findings);

// text_hang.differs: members of a group were in different works, or in one that another completed.
void FindDifferences(const Scene& scene, std::vector<Finding>& findings);

// text_hang.silent: all but one ran into their time limits. Where several did not, they may
// themselves wait for another, without a watchdog: then FindSeveralSilent() tells it and blames
// nobody.
void FindSilent(const Scene& scene, std::vector<Finding>& findings);
void FindSeveralSilent(const Scene& scene, std::vector<Finding>& findings);

// ---- repeats.cc

// text_hang.silent: one rank alone printed the same line over and over while others timed out.
void FindRepeating(const Scene& scene, std::vector<Finding>& findings);

// text_hang.counter: one rank enqueued more or less than all others.
void FindOddCounter(const Scene& scene, std::vector<Finding>& findings);

// text_hang.gpu_busy: all ranks waited in one collective, and one could not abort it.
void FindBusyGpu(const Scene& scene, std::vector<Finding>& findings);

// text_hang.late: all ranks waited in sends and receives, and one began long after all others.
void FindLastToCome(const Scene& scene, std::vector<Finding>& findings);

// text_hang.setup, by what NCCL_DEBUG=INFO prints: one member of a communicator never came.
void FindAbsent(const Scene& scene, std::vector<Finding>& findings);

// Did the rank wait in vain for the first communicator of all ranks, which the others came to
// later?
bool GaveUpTheFirstSetup(const Scene& scene, int32_t rank);

// Did a process whose rank no text tells wait in vain in the store? Its exit code follows from
// that.
bool SomebodyFailedInSetup(const Scene& scene);

// text_hang.setup: ranks waited in vain for another one in the store, or to set up a communicator.
bool FindSetup(const Scene& scene, std::vector<Finding>& findings);

// text_hang.ended: the job failed or was ended, and the texts name no rank.
void FindEnded(const Scene& scene, std::vector<Finding>& findings);

// text_hang.timeouts: who ran into a time limit; none when nobody did.
void AddTimeouts(const Scene& scene, std::vector<Finding>& findings);

// A finding about this attempt.
Finding NewFinding(const Scene& scene, std::string_view rule);

// "output of rank 3, line 5: ..." with its row.
Evidence LineAsEvidence(const Scene& scene, size_t row);

// "torchrun in torchrun.txt, line 5: ..." with its row of process_exit.
Evidence ExitAsEvidence(const Scene& scene, size_t row);

// ---- context.cc: what a blamed rank printed before, as evidence.

// Its last lines that none of its peers printed, and the last step it reported.
void AddContext(const Scene& scene, int32_t rank, Finding& finding);

// Every run of digits becomes one.
std::string WithoutNumbers(std::string_view text);

// Nothing but what a process prints while it ends follows `row` in its text.
bool EndsOutput(const Scene& scene, const RankTalk& talk, size_t row);

// ---- reasons.cc: what an exception says.

// The row of the exception that says why: the one inside of a wrapper, or its direct cause; `row`
// itself when there is none.
size_t RootException(const Model& model, size_t row);

// "ValueError: bad batch": one line, of a wrapper what it wraps, without the path of its module.
std::string ExceptionInWords(std::string_view text);

// Shorter and shorter: as it is, without "[Errno 28] " and places in PyTorch's source, and of a
// path at its end the last part alone.
std::vector<std::string> WaysToSay(const std::string& reason);

// "RuntimeError: text" without a name that says little; other exceptions keep theirs.
std::string_view WithoutPlainName(std::string_view reason);

// What fits `width` columns: whole sentences, else words with "..." behind them.
std::string CutReason(const std::string& reason, size_t width);

// As much of a reason as a headline has room for beside `used` other bytes.
std::string FitReason(const std::string& reason, size_t used);

// "SIGKILL (signal 9)", "exit code 1".
std::string CodeInWords(int32_t exit_code);

}  // namespace debrief::analyses::text_hang

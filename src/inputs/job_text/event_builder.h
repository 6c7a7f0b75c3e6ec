// The kept lines of all ranges, in order -> rows of text_event, and by way of ProcessRows those of
// the tables about processes.
//
// What takes several lines (a traceback, a timeout whose group stands in the next line, a failure
// in torchrun's list) is put together per stream: the lines of one rank, or those without a mark.
// Rows wait until the end of the text, because only then is it known which rank a local rank is,
// and are written in order of line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inputs/job_text/fields.h"
#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/log_records.h"
#include "inputs/job_text/rows/nccl_rows.h"
#include "inputs/job_text/rows/process_rows.h"
#include "inputs/job_text/rows/serving_rows.h"
#include "inputs/job_text/weights.h"
#include "model/model.h"
#include "tables/text_event.h"
#include "torch/engine_marks.h"

namespace debrief::inputs::job_text {

class EventBuilder {
 public:
  EventBuilder(const Identity& who, int64_t now_ns)
      : who_(who), now_ns_(now_ns), rows_(who), serving_(who), nccl_(who), records_(who) {}

  // The next range.
  void Add(const RangeLines& range, Part& whole);
  void Finish(Part& whole);

 private:
  static constexpr size_t kNothing = SIZE_MAX;

  struct Place {
    std::string file;
    int32_t line = kNone32;
    bool is_user = false;
  };
  // How a traceback belongs to what stands before it.
  enum class Link : uint8_t {
    kNone,
    kRaisedFrom,  // the exception above is its direct cause
    kReplaces,    // it was raised while that one was handled
    kInsideOf,    // it stands in that one's message
    kOfThread,    // it ended a thread
    kIgnored,     // Python says that it went on
  };
  struct Traceback {
    int64_t number = 0;  // of its first line; 0: none is open
    int64_t time_ns = kNone64;
    Place place;
    bool raised = false;  // nobody caught it
    bool whole = false;   // its first frame is the script itself: who catches prints from there on
    bool of_child = false;  // its first frame is the start of a process: nobody caught it there
    bool logged = false;    // an engine's logger wrote it: its process may go on
    bool fatal = false;     // an engine's process says that it does not
    std::string last;
    Link link = Link::kNone;
    int64_t headless = 0;  // it began with a frame: the line of the last one
    bool listed = false;   // in torchrun's list
    uint32_t stream = 0;   // whose it is: a message may quote another process
  };
  struct Failure {  // of torchrun's list
    int64_t number = 0;
    int64_t time_ns = kNone64;
    int32_t rank = kNone32;
    int32_t local_rank = kNone32;
    int64_t pid = kNone64;
    std::string host;
    int32_t exit_code = kNone32;
    std::string text;
  };
  struct Log {  // the open run of torch log lines
    int64_t number = 0;
    int64_t lines = 0;
    std::string text;
  };
  using Timeout = std::pair<size_t, size_t>;  // the events of its status and of itself
  struct Stream {
    Owner owner;
    int64_t last_number = 0;
    std::string last_text;
    Traceback traceback;
    Failure failure;
    Log log;
    std::vector<size_t> timeouts;  // events that wait for their group
    std::vector<Timeout> stacks;   // those that wait for their stack
    size_t stacks_seen = 0;        // of these, printed
    size_t terminate = kNothing;   // event that waits for its reason
    size_t fatal = kNothing;       // event that waits for its place
    bool in_current_thread = false;
    bool root_cause = false;          // the next failure is the first
    size_t device_assert = kNothing;  // the first of many of the same kernel
    std::vector<std::pair<int64_t, std::string>> tail;
    std::string pod;                         // that a description is about
    std::string pod_reason;                  // why its container ended
    int64_t container_line = 0;              // the last of the log of one that did not start
    int64_t pod_line = 0;                    // where an event says that it does not start
    std::string pod_words;                   // and what
    Link next = Link::kNone;                 // of the next traceback
    uint32_t next_stream = Line::kNoStream;  // whose that is, when it is another's
    size_t last_exception = kNothing;        // event of the last traceback
    size_t continued = kNothing;             // event that goes on in the next line
    size_t user_code = kNothing;             // event whose place the next frames are
    bool fatal_follows = false;              // an engine's process says so of the next traceback
    bool answers = false;                    // the last traceback is of a request
    int64_t traceback_line = 0;              // where the last one began
  };
  struct Event {
    TextEventRow row;
    uint32_t stream = 0;
    bool logged = false;    // an engine's logger wrote it: its process may go on
    bool fatal = false;     // its process says that it does not
    bool whole = false;     // its traceback begins in the script itself
    bool of_child = false;  // or where a process starts
    int64_t end = 0;        // the last line of its traceback
    bool unmarked = false;  // PyTorch did not mark it
  };

  uint32_t StreamOf(const Owner& owner);
  void AddTail(const RangeLines::Stream& from, Stream& stream) const;
  ProcessRows::Where WhereOf(const Line& line, uint32_t index, int64_t number) const;
  void AddProcess(const Line& line, uint32_t index, int64_t number);
  void AddPodExit(ExitStatement exit, const Line& line, uint32_t index, int64_t number);
  void AddErrorFile(const Line& line, uint32_t index, int64_t number);
  void AddNoStart(const Line& line, uint32_t index, int64_t number);
  void AddHydra(uint32_t index, int64_t number);
  void AddPodEvent(const Line& line, uint32_t index, int64_t number);
  void EndPodEvents();
  void AddLine(const Line& line, uint32_t index, int64_t number);
  void AddSingle(const Line& line, uint32_t index, int64_t number);
  size_t Emit(std::string_view kind, uint32_t index, int64_t number, std::string_view text);
  void FillFromText(std::string_view text, TextEventRow& row);
  StringId Word(std::string_view text);  // none when it is empty
  void FillPlace(const Place& place, TextEventRow& row);
  int64_t TimeOf(std::string_view text) const;

  void BeginTraceback(const Line& line, uint32_t index, int64_t number);
  void BeginHeadless(const Line& line, uint32_t index, int64_t number);
  bool IsCutBefore(const Line& line, uint32_t index) const;
  bool MayEnd(const Traceback& traceback, std::string_view text, int64_t number) const;
  void AddFrame(const Line& line, uint32_t index, int64_t number);
  void EndTraceback(uint32_t index, std::string_view text);
  void LinkException(const Traceback& traceback, size_t before, size_t event);
  void AddExitOfException(const Traceback& traceback, uint32_t index, std::string_view text);
  void AddSpawned(const Line& line, uint32_t index, int64_t number);
  void Continue(const Line& line, uint32_t index, int64_t number);
  void AddDetail(const Line& line, uint32_t index, int64_t number);
  uint32_t OwnerOfBlock(const Line& line, uint32_t index);
  void CountTimes();
  bool ContinuesRecord(const Line& line, uint32_t before, int64_t number) const;
  void AddEngine(const Line& line, uint32_t index, int64_t number);
  void LearnEngineRanks();
  void AddLostWorkers();
  void EndServing();
  void JoinGroup(uint32_t index, size_t status);
  void BeginStack(uint32_t index);
  void AddStackFrame(std::string_view text);
  void AddFailureField(std::string_view text, uint32_t index, int64_t number);
  void EndFailure(uint32_t index);
  void AddLog(const Line& line, uint32_t index, int64_t number);
  void EndLog(uint32_t index);
  void AddReason(std::string_view text, uint32_t index);

  void AddLastError();
  void AddLastEnd();
  static bool WentOnBehind(const Event& event, int64_t last);
  void MarkPrinted();
  void LearnLocalRanks();
  void LearnNumberedHosts();
  void AddLastLines(Part& whole);
  void WriteTails(Part& whole);
  void WriteLogs(Part& whole);

  Identity who_;
  int64_t now_ns_;
  Pools* pools_ = nullptr;     // of the whole, while a call is under way
  size_t pod_row_ = kNothing;  // event of the pod that a table shows to have failed
  int64_t connected_ = 0;      // where gloo says that it has set up a group
  int64_t last_end_ = 0;       // the last line that ended a traceback
  int64_t lines_before_ = 0;
  bool at_top_ = true;  // all of these are indented
  int64_t dropped_ = 0;
  std::vector<Stream> streams_;
  std::map<Owner, uint32_t> by_owner_;
  std::map<std::string, uint32_t> hosts_;
  uint32_t last_marked_ = Line::kNoStream;
  int64_t line_time_ns_ = kNone64;  // of the line under way, by its mark
  bool line_logged_ = false;        // it has the head of an engine's logger
  std::vector<Event> events_;
  ProcessRows rows_;
  ServingRows serving_;
  WorkerRanks workers_;
  NcclRows nccl_;
  LogRecords records_;
  LineWeights weights_;
  std::optional<Timeout> stack_of_;  // whose collective's stack is being read
  int32_t block_rank_ = kNone32;     // whose output a launcher quotes
};

}  // namespace debrief::inputs::job_text

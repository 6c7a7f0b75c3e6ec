// The parts of the lines that PyTorch, NCCL, Python, torchrun and srun print.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"
#include "torch/glog_time.h"

namespace debrief::inputs::job_text {

// The whole number behind the first `key` (blanks between are skipped), or kNone64.
int64_t NumberAfter(std::string_view text, std::string_view key);
int32_t SmallNumberAfter(std::string_view text, std::string_view key);  // or kNone32

// [E1115 02:42:35.180236563 ProcessGroupNCCL.cpp:689] message
// V1115 02:33:30.010000 425 torch/_dynamo/guards.py:1379] message
struct LogHeader {
  GlogTime time;
  std::string_view time_text;
  char level = 0;         // V, D, I, W, E, F, C
  int64_t pid = kNone64;  // of Python's logs
  std::string_view file;
  int32_t line = kNone32;
  std::string_view message;
};
std::optional<LogHeader> ParseLogHeader(std::string_view text);

// The time at the start of a line, of a log header or ISO 8601, in brackets or not; else kNone64.
int64_t TimeAtStart(std::string_view text, int64_t now_ns);

// Without "[2026-11-15 23:22:09] " at its start.
std::string_view WithoutDate(std::string_view text);

// [PG ID 2 PG GUID 8(mesh_dp) Rank 0], [PG 0 (default_pg) Rank 3], [PG 0 Rank 3]
struct Group {
  std::string_view name;
  std::string_view desc;
};
std::optional<Group> ParseGroup(std::string_view text);

//   File "train.py", line 52, in step           indented, or behind the bars of an exception group
// │ /home/user/train.py:52 in step   │       as rich draws it
// #2 step from train.py:52
struct SourceLine {
  std::string_view file;
  int32_t line = kNone32;
  // Neither of Python nor of an installed package.
  bool IsUser() const;
};
// Tells fast that a line is no frame of a traceback.
bool MayBeFrame(std::string_view text);
std::optional<SourceLine> ParseFrame(std::string_view text);
std::optional<SourceLine> ParseStackFrame(std::string_view text);

// Whole number of the exit code, or the negative number of the signal; kNone32 where the line says
// neither.
int32_t ParseExitCode(std::string_view text);
int32_t ParseSignal(std::string_view text);

// "srun: error: node1: task 3: Killed": 3, else kNone32.
int32_t ParseTask(std::string_view text);

//   rank      : 4 (local_rank: 4)
struct FailureField {
  std::string_view key;
  std::string_view value;
};
std::optional<FailureField> ParseFailureField(std::string_view text);

}  // namespace debrief::inputs::job_text

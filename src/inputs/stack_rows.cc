#include "inputs/stack_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "base/text/strings.h"
#include "inputs/text_lines.h"
#include "tables/stack_dump.h"
#include "torch/stacks/stack_lines.h"

namespace debrief::inputs {

namespace {

constexpr std::string_view kMark = "(most recent call first):";
constexpr uint64_t kWindow = 1 << 20;

StackId AddFrames(const std::vector<StackFrame>& frames, Pools& pools) {
  std::vector<FrameId> ids;
  for (const StackFrame& frame : frames) {
    ids.push_back(pools.AddFrame({.file = pools.Intern(frame.file),
                                  .function = pools.Intern(frame.function),
                                  .line = frame.line}));
  }
  return pools.AddStack(ids);
}

Result<bool> HasStacks(const Source& source) {
  // Windows overlap, so that no mark is cut.
  for (uint64_t begin = 0; begin < source.size(); begin += kWindow - kMark.size()) {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(begin, kWindow));
    if (Contains(bytes.text(), kMark)) return true;
    if (bytes.size() < kWindow) break;
  }
  return false;
}

// Where in the line a line of a stack begins; whatever stands before it is a launcher's mark.
struct StackLine {
  size_t at = std::string_view::npos;
  bool begins = false;  // it may be the first of its mark
};

StackLine FindStackLine(std::string_view line) {
  static constexpr std::array<std::string_view, 5> kHeads = {
      "Thread 0x", "Current thread 0x", "Timeout (",
      "Fatal Python error: ", "Stack (most recent call first):"};
  static constexpr std::array<std::string_view, 4> kFrames = {"  File \"", "  <no Python frame>",
                                                              "  Garbage-collecting", "  ..."};
  constexpr size_t kLongestMark = 80;
  std::string_view begin = line.substr(0, kLongestMark + 32);
  for (std::string_view head : kHeads) {
    if (size_t at = begin.find(head); at != std::string_view::npos) return {at, true};
  }
  for (std::string_view frame : kFrames) {
    if (size_t at = begin.find(frame); at != std::string_view::npos) return {at, false};
  }
  return {};
}

// The rank in [rank3]:, [default3]:, [1,3]<stderr>:, " 3: "; none in any other mark. The last
// number is meant: [default3]:[rank11]: is rank 11.
int32_t RankOfMark(std::string_view mark) {
  while (!mark.empty() && (mark.back() == ' ' || mark.back() == ':')) mark.remove_suffix(1);
  if (mark.ends_with('>')) mark = mark.substr(0, mark.rfind('<'));
  if (mark.ends_with(']')) mark.remove_suffix(1);
  size_t digits = mark.find_last_not_of("0123456789") + 1;
  std::optional<int64_t> number = stack_lines::LeadingNumber(mark.substr(digits));
  return number && *number < 10'000'000 ? static_cast<int32_t>(*number) : kNone32;
}

// Does a date or a time of day begin here? 2026-11-15T23:22:09.123Z, 23:22:09
bool IsTime(std::string_view word) {
  auto fits = [&](std::string_view shape) {
    return word.size() >= shape.size() &&
           std::equal(shape.begin(), shape.end(), word.begin(),
                      [](char s, char c) { return s == '0' ? IsDigit(c) : s == c; });
  };
  return fits("0000-00-00") || fits("00:00:00");
}

// Marks with a time differ from line to line; what is left is the same for all lines of a process.
std::string WithoutTimes(std::string_view mark) {
  std::string rest;
  while (!mark.empty()) {
    size_t end = std::min(mark.find(' '), mark.size() - 1) + 1;
    size_t begin = mark.front() == '[' ? 1 : 0;
    if (!IsTime(mark.substr(begin, end - begin))) rest += mark.substr(0, end);
    mark.remove_prefix(end);
  }
  return rest;
}

// A parser for each mark: lines of ranks may alternate.
class MarkedStacks {
 public:
  MarkedStacks(const Identity& who, Part& part) : who_(who), part_(part) {}

  void Add(std::string_view line, int64_t number) {
    constexpr size_t kMostMarks = 4096;
    StackLine found = FindStackLine(line);
    if (found.at == std::string_view::npos) {
      if (last_ != nullptr) last_->Add("", number);
      return;
    }
    std::string mark = WithoutTimes(line.substr(0, found.at));
    auto parser = parsers_.find(mark);
    if (parser == parsers_.end() && found.begins && parsers_.size() < kMostMarks)
      parser = parsers_.emplace(mark, Parser(mark)).first;
    if (parser == parsers_.end()) return;
    last_ = &parser->second;
    last_->Add(line.substr(found.at), number);
  }

  void Finish() {
    for (auto& [mark, parser] : parsers_) parser.Finish();
  }

 private:
  StackTextParser Parser(const std::string& mark) {
    Identity who = who_;
    int32_t rank = RankOfMark(mark);
    if (rank != kNone32) who.rank = rank;
    return StackTextParser(
        [this, who](ThreadStack&& stack) { AddStackRow(who, kNone64, stack, part_); });
  }

  Identity who_;
  Part& part_;
  std::map<std::string, StackTextParser> parsers_;
  StackTextParser* last_ = nullptr;
};

}  // namespace

void AddStackRow(const Identity& who, int64_t time_ns, const ThreadStack& stack, Part& part) {
  auto row = Part::RowOf<StackDumpRow>(who);
  if (stack.rank != kNone32) row.rank = stack.rank;
  row.input = who.input;
  row.line = stack.line;
  row.time_ns = time_ns;
  row.dump = stack.dump;
  row.host = part.pools.InternOrNone(stack.host);
  row.pid = stack.pid;
  row.thread = part.pools.InternOrNone(stack.thread);
  row.thread_name = part.pools.InternOrNone(stack.name);
  row.main = stack.is_main;
  row.child = stack.is_child;
  row.state = part.pools.InternOrNone(stack.state);
  row.source = part.pools.InternOrNone(stack.source);
  row.reason = part.pools.InternOrNone(stack.reason);
  row.error = part.pools.InternOrNone(stack.error);
  row.stack = AddFrames(stack.frames, part.pools);
  part.tables.Edit<StackDumpTable>().Add(row);
}

Status AddStacksInText(const Source& source, const Identity& who, Part& part) {
  ASSIGN_OR_RETURN(bool has_stacks, HasStacks(source));
  if (!has_stacks) return {};
  MarkedStacks stacks(who, part);
  TRY(ForEachLine(source, kWindow,
                  [&](std::string_view line, int64_t number) { stacks.Add(line, number); }));
  stacks.Finish();
  return {};
}

}  // namespace debrief::inputs

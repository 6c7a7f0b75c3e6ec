// Stacks of processes that somebody or something asked where they are: torch.distributed.debug,
// faulthandler, py-spy, pystack, gdb. docs/formats/process_stacks.md
//
//   === Rank 2: http://n07:41233/handler/dump_traceback? ===
//   Thread 0x00007ff71aab3140 (most recent call first):
//     File "/home/me/train.py", line 41 in write_shard
//
// A file is small and its lines depend on those above, so it is read as one range, through windows.
// Stacks that stand between other lines of an output are found by inputs/stack_rows.h.
#include "inputs/importer.h"

#include <algorithm>
#include <array>

#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "inputs/process_stacks/py_spy_json.h"
#include "inputs/records/partial_data.h"
#include "inputs/sniffing.h"
#include "inputs/stack_rows.h"
#include "inputs/text_lines.h"
#include "tables/stack_dump.h"
#include "tables/text_event.h"
#include "torch/stacks/stack_lines.h"
#include "torch/stacks/stack_roles.h"
#include "torch/stacks/stack_text.h"

namespace debrief::inputs::process_stacks {

namespace {

constexpr DiagnosticKind kBadJson = {
    "process_stacks.bad_json", Severity::kError,
    "the JSON of py-spy is broken; threads before that place are kept",
    "Dump again; the file was cut or is of another version."};
constexpr DiagnosticKind kNoAnswer = {
    "process_stacks.no_answer", Severity::kInfo, "a rank gave an error in place of its stack",
    "408: the process holds the GIL or is stopped; 503: it is gone."};
constexpr DiagnosticKind kTooLong = {"process_stacks.too_long", Severity::kWarning,
                                     "the JSON of py-spy is longer than 256 MB and was not read",
                                     "Dump one process at a time."};

constexpr uint64_t kMostJson = 256 << 20;

bool HasMark(std::string_view head) {
  static constexpr std::array<std::string_view, 5> kMarks = {
      "(most recent call first):", "Traceback for thread ", "Python v", "/handler/dump_traceback",
      "(LWP "};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return HasWord(head, mark); });
}

// "[{" and "[]", with any blanks; "[rank3]: " is text.
bool BeginsAsList(std::string_view text) {
  text = Trimmed(text);
  if (!text.starts_with('[')) return false;
  text = Trimmed(text.substr(1));
  return text.empty() || text.starts_with('{') || text.starts_with(']');
}

// PyTorch marks lines of a rank so. Who prints them, or dies, left an output: its other lines count
// too, and whoever reads those finds its stacks.
bool IsOfAnOutput(std::string_view line) {
  return line.starts_with("[rank") && Contains(line, "]:");
}

// Nine of ten lines are lines of stacks: a rank's output with a stack in it is not ours.
bool IsMostlyStacks(std::string_view head) {
  StackTextParser parser([](ThreadStack&&) {});
  size_t lines = 0, ours = 0;
  int64_t number = 0;
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    bool mine = parser.Add(line, ++number);
    if (Trimmed(line).empty() || line.starts_with("----") || PartialData::IsHead(line)) continue;
    ++lines;
    if (mine || stack_lines::RankOfHeading(line) != kNone32) ++ours;
    if (!mine && IsOfAnOutput(line)) return false;
  }
  bool dies = Contains(head, "Fatal Python error: ");
  if (dies && ours < lines) return false;
  return (parser.threads_seen() > 0 || Contains(head, "/handler/dump_traceback")) &&
         ours * 10 >= lines * 9;
}

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr) {
    const JsonOutline& json = *input.json;
    return {.mine = json.is_array() && json.Has("[].frames") && json.Has("[].owns_gil")};
  }
  if (!HasMark(input.head) || !LooksLikeText(input.head)) return {};
  return {.mine = IsMostlyStacks(input.head)};
}

// The signal behind "Fatal Python error: "; the others of these end the process by SIGABRT.
int32_t SignalOf(std::string_view reason) {
  static constexpr std::pair<std::string_view, int32_t> kSignals[] = {
      {"Segmentation fault", 11},
      {"Bus error", 7},
      {"Illegal instruction", 4},
      {"Floating point exception", 8}};
  for (const auto& [name, signal] : kSignals) {
    if (Contains(reason, name)) return signal;
  }
  return 6;
}

class StacksReader final : public TextReader {
 public:
  using TextReader::TextReader;

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(ByteView head, source.View(0, 1));
    bool is_json = head.text() == "[" || IsSpace(head.text()[0]);
    if (is_json) {
      ASSIGN_OR_RETURN(ByteView more, source.View(0, 4096));
      is_json = BeginsAsList(more.text());
    }
    if (!is_json) return ReadText(source, part);
    return ReadJson(
        source, range, {kMostJson, kTooLong, kBadJson}, part, [&](std::string_view text) {
          return ReadPySpyJson(text, [&](ThreadStack&& stack) { AddStack(stack, part); });
        });
  }

 private:
  Status ReadText(const Source& source, Part& part) const {
    StackTextParser parser([&](ThreadStack&& stack) { AddStack(stack, part); });
    PartialData partial(who_, time_ns_);
    TRY(ForEachLine(source, [&](std::string_view line, int64_t number) {
      if (partial.Add(line, number, part)) return;
      if (parser.Add(line, number) || line.empty() || line.starts_with(' ')) return;
      int32_t rank = stack_lines::RankOfHeading(line);
      if (rank != kNone32) parser.SetRank(rank);
    }));
    parser.Finish();
    return {};
  }

  void AddStack(const ThreadStack& stack, Part& part) const {
    AddStackRow(who_, time_ns_, stack, part);
    if (!stack.error.empty()) {
      part.diagnostics.Add(kNoAnswer, who_.input, {.line = stack.line, .detail = stack.error});
    }
    bool fatal = stack.reason.starts_with("Fatal Python error: ") && stack.state == "current";
    if (fatal) AddCrash(stack, part);
  }

  // The end of a process, as its output would tell it.
  void AddCrash(const ThreadStack& stack, Part& part) const {
    auto row = Part::RowOf<TextEventRow>(who_);
    if (stack.rank != kNone32) row.rank = stack.rank;
    row.input = who_.input;
    row.line = stack.line;
    row.kind = part.pools.Intern("signal");
    row.exit_code = -SignalOf(stack.reason);
    row.text = part.pools.Intern(stack.reason);
    std::vector<FrameView> frames;
    for (const StackFrame& frame : stack.frames)
      frames.push_back({frame.file, frame.function, frame.line});
    StackSummary summary = SummariseStack(frames);
    if (summary.user < frames.size()) {
      row.file = part.pools.Intern(frames[summary.user].file);
      if (frames[summary.user].line > 0) row.file_line = frames[summary.user].line;
    }
    part.tables.Edit<TextEventTable>().Add(row);
  }
};

constexpr std::array<std::string_view, 3> kMakes = {"stack_dump", "text_event", "debug_no_answer"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "process_stacks",
               .sentence = "stacks of processes: torch.distributed.debug, faulthandler, py-spy, "
                           "pystack, gdb",
               .example = "stacks_20261115_232140.txt",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<StacksReader>};
  return kImporter;
}

}  // namespace debrief::inputs::process_stacks

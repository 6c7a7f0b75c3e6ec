#include "inputs/job_text/fields.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/strings.h"
#include "torch/stacks/user_frames.h"

namespace debrief::inputs::job_text {

namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view SkipBlanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

std::optional<std::string_view> After(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + key.size());
}

int64_t Number(std::string_view text) {
  int64_t number = kNone64;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? number : kNone64;
}

// "path:57", the whole of `text`.
std::optional<SourceLine> ParsePlace(std::string_view text) {
  size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::string_view digits = text.substr(colon + 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) return std::nullopt;
  return SourceLine{text.substr(0, colon), Narrow(Number(digits))};
}

constexpr std::string_view kEdge = "\u2502 ";

// "/home/user/train.py:52 in step", with the other edge of the box far behind it.
std::optional<SourceLine> ParseDrawnFrame(std::string_view text) {
  size_t in = text.find(" in ");
  const bool on_drive = text.size() > 2 && text[1] == ':' && text[2] == '\\';
  if (in == std::string_view::npos || !(text.starts_with('/') || on_drive)) return std::nullopt;
  return ParsePlace(text.substr(0, in));
}

// "File ~/proj/model.py:44, in Net.forward(self, x)", "Cell In[12], line 3"
std::optional<SourceLine> ParseNotebookFrame(std::string_view text) {
  constexpr std::string_view kFile = "File ", kCell = "Cell In", kLine = "], line ";
  if (text.starts_with(kFile) && !text.starts_with("File \"")) {
    const size_t in = text.find(", in ");
    return in == std::string_view::npos ? std::nullopt
                                        : ParsePlace(text.substr(kFile.size(), in - kFile.size()));
  }
  const size_t at = text.find(kLine);
  if (!text.starts_with(kCell) || at == std::string_view::npos) return std::nullopt;
  return SourceLine{text.substr(0, at + 1), Narrow(Number(text.substr(at + kLine.size())))};
}

constexpr std::pair<std::string_view, int32_t> kSignals[] = {
    {"SIGHUP", 1},         {"SIGINT", 2},
    {"SIGQUIT", 3},        {"SIGILL", 4},
    {"SIGTRAP", 5},        {"SIGABRT", 6},
    {"SIGBUS", 7},         {"SIGFPE", 8},
    {"SIGKILL", 9},        {"SIGUSR1", 10},
    {"SIGSEGV", 11},       {"SIGUSR2", 12},
    {"SIGPIPE", 13},       {"SIGALRM", 14},
    {"SIGTERM", 15},       {"Segmentation fault", 11},
    {"Bus error", 7},      {"Floating-point exception", 8},
    {"Floating point", 8}, {"Illegal instruction", 4},
    {"Aborted", 6},        {"Killed", 9},
    {"Terminated", 15}};

// "  rank: 3 (local_rank: 3)", as PyTorch 1.9 writes the list. The values tell it from other text.
std::optional<FailureField> ParseFirstFailureField(std::string_view text) {
  const size_t colon = text.find(": ");
  if (!text.starts_with("  ") || colon == std::string_view::npos) return std::nullopt;
  FailureField field{text.substr(2, colon - 2), Trimmed(text.substr(colon + 2), kBlanks)};
  const bool fits = (field.key == "rank" && Contains(field.value, "(local_rank: ")) ||
                    (field.key == "exitcode" && Contains(field.value, "(pid: ")) ||
                    (field.key == "time" && ParseIsoTime(field.value) != kNone64) ||
                    field.key == "error_file";
  return fits ? std::optional(field) : std::nullopt;
}

}  // namespace

int64_t NumberAfter(std::string_view text, std::string_view key) {
  auto rest = After(text, key);
  return rest ? Number(SkipBlanks(*rest)) : kNone64;
}

int32_t SmallNumberAfter(std::string_view text, std::string_view key) {
  return Narrow(NumberAfter(text, key));
}

std::optional<LogHeader> ParseLogHeader(std::string_view text) {
  constexpr std::string_view kLevels = "VDIWEFC";
  if (text.starts_with('[')) text.remove_prefix(1);
  if (text.empty() || kLevels.find(text[0]) == std::string_view::npos) return std::nullopt;
  const char level = text[0];
  text.remove_prefix(1);
  auto time = ParseGlogTime(text);
  size_t close = text.find(']');
  if (!time || close == std::string_view::npos) return std::nullopt;
  std::string_view place = text.substr(0, close);
  auto source = ParsePlace(place.substr(place.rfind(' ') + 1));
  if (!source) return std::nullopt;
  LogHeader header{*time,
                   text.substr(0, time->size),
                   level,
                   Number(SkipBlanks(place.substr(std::min(time->size, place.size())))),
                   source->file,
                   source->line,
                   text.substr(close + 1)};
  if (header.message.starts_with(' ')) header.message.remove_prefix(1);
  return header;
}

int64_t TimeAtStart(std::string_view text, int64_t now_ns) {
  if (auto header = ParseLogHeader(text)) return GuessTime(header->time, now_ns);
  return ParseIsoTime(text.starts_with('[') ? text.substr(1) : text);
}

std::string_view WithoutDate(std::string_view text) {
  constexpr size_t kLongest = 30;
  const size_t close = text.substr(0, kLongest).find("] ");
  const bool dated = text.starts_with('[') && close != std::string_view::npos &&
                     ParseIsoTime(text.substr(1)) != kNone64;
  return dated ? text.substr(close + 2) : text;
}

std::optional<Group> ParseGroup(std::string_view text) {
  auto rest = After(text, "[PG ");
  if (!rest) return std::nullopt;
  std::string_view inside = rest->substr(0, rest->find(" Rank "));
  if (inside.size() == rest->size()) inside = rest->substr(0, rest->find(']'));
  if (auto guid = After(inside, "GUID ")) {
    inside = *guid;
  } else if (inside.starts_with("ID ")) {
    inside.remove_prefix(3);
  }
  Group group;
  size_t open = inside.find('(');
  size_t close = inside.rfind(')');
  group.name = Trimmed(inside.substr(0, open), kBlanks);
  bool has_desc = open != std::string_view::npos && close != std::string_view::npos && close > open;
  if (has_desc) group.desc = inside.substr(open + 1, close - open - 1);
  return group;
}

bool SourceLine::IsUser() const {
  constexpr std::string_view kForeign[] = {"site-packages/",
                                           "dist-packages/",
                                           "/torch/",
                                           "/lib/python",
                                           "/lib64/python",
                                           "<frozen",
                                           "/bin/",
                                           "<string>",
                                           "site-packages\\",
                                           "\\lib\\runpy.py",
                                           "\\lib\\multiprocessing\\",
                                           "\\Scripts\\"};
  // Some base names tell by themselves: what Inductor wrote, wherever its cache is.
  return !file.starts_with("torch/") && !IsLibraryFile(FileName(file)) &&
         std::none_of(std::begin(kForeign), std::end(kForeign),
                      [&](std::string_view part) { return Contains(file, part); });
}

// Text that somebody copied may have lost its indentation.
bool MayBeFrame(std::string_view text) {
  return text.starts_with(' ') || text.starts_with(kEdge) || text.starts_with("File ") ||
         text.starts_with("Cell In");
}

std::optional<SourceLine> ParseFrame(std::string_view text) {
  constexpr std::string_view kOpen = "File \"";
  constexpr std::string_view kLine = "\", line ";
  if (text.starts_with(kEdge)) return ParseDrawnFrame(text.substr(kEdge.size()));
  if (auto frame = ParseNotebookFrame(text)) return frame;
  size_t begin = text.find_first_not_of(" |");
  if (begin == std::string_view::npos || begin == 1) return std::nullopt;
  text.remove_prefix(begin);
  size_t end = text.rfind(kLine);
  if (!text.starts_with(kOpen) || end == std::string_view::npos || end < kOpen.size())
    return std::nullopt;
  return SourceLine{text.substr(kOpen.size(), end - kOpen.size()),
                    Narrow(Number(text.substr(end + kLine.size())))};
}

std::optional<SourceLine> ParseStackFrame(std::string_view text) {
  constexpr std::string_view kFrom = " from ";
  size_t from = text.rfind(kFrom);
  if (!text.starts_with('#') || from == std::string_view::npos) return std::nullopt;
  return ParsePlace(text.substr(from + kFrom.size()));
}

int32_t ParseExitCode(std::string_view text) {
  for (std::string_view key : {"exitcode", "exit code", "Exit code"}) {
    auto rest = After(text, key);
    if (!rest) continue;
    std::string_view number = rest->substr(std::min(rest->find_first_not_of(" :="), rest->size()));
    if (number.size() != rest->size()) return Narrow(Number(number));
  }
  return kNone32;
}

int32_t ParseSignal(std::string_view text) {
  for (std::string_view key : {"by signal ", "by signal: ", "Signal "}) {
    int64_t number = NumberAfter(text, key);
    if (number > 0 && number < 128) return -static_cast<int32_t>(number);
  }
  for (const auto& [name, number] : kSignals) {
    if (Contains(text, name)) return -number;
  }
  return kNone32;
}

int32_t ParseTask(std::string_view text) {
  if (!text.starts_with("srun: error: ")) return kNone32;
  auto rest = After(text, ": task ");
  if (!rest) return kNone32;
  size_t digits = std::min(rest->find_first_not_of("0123456789"), rest->size());
  bool alone = rest->substr(digits).starts_with(':');
  return alone ? Narrow(Number(*rest)) : kNone32;
}

std::optional<FailureField> ParseFailureField(std::string_view text) {
  constexpr std::string_view kKeys[] = {"time",     "host",       "rank",
                                        "exitcode", "error_file", "traceback"};
  constexpr size_t kWidth = 10;  // keys are filled up with blanks
  if (auto field = ParseFirstFailureField(text)) return field;
  if (!text.starts_with("  ") || text.size() < 2 + kWidth + 1) return std::nullopt;
  if (text[2 + kWidth] != ':') return std::nullopt;
  FailureField field{Trimmed(text.substr(2, kWidth), kBlanks),
                     Trimmed(text.substr(2 + kWidth + 1), kBlanks)};
  bool known = std::find(std::begin(kKeys), std::end(kKeys), field.key) != std::end(kKeys);
  return known ? std::optional(field) : std::nullopt;
}

}  // namespace debrief::inputs::job_text

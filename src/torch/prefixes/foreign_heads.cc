#include "torch/prefixes/foreign_heads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"
#include "torch/prefixes/rank_heads.h"

namespace debrief {

namespace {

constexpr size_t kLongestForeignHead = 160;
constexpr size_t kMostForms = 8;
constexpr std::string_view kTraceback = "Traceback (most recent call last):";

std::string_view WithoutIndent(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// Numbers of lines are set right, behind more or fewer blanks.
std::string FormOf(std::string_view head) {
  std::string form;
  head = WithoutIndent(head);
  for (size_t i = 0; i < head.size(); ++i) {
    if (!IsDigit(head[i])) {
      form += head[i];
    } else if (i == 0 || !IsDigit(head[i - 1])) {
      form += '0';
    }
  }
  return form;
}

// The bytes of a head of this form that `text` begins with; 0 when it does not. A line that is
// empty behind its head may have lost the blanks at its end.
size_t SizeOfHead(std::string_view text, std::string_view form) {
  size_t at = text.size() - WithoutIndent(text).size();
  for (size_t i = 0; i < form.size(); ++i) {
    if (at == text.size()) return form.find_first_not_of(' ', i) == std::string_view::npos ? at : 0;
    if (form[i] != '0') {
      if (text[at++] != form[i]) return 0;
      continue;
    }
    const size_t digits = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    if (at == digits) return 0;
  }
  return at;
}

// Bars and blanks alone are how Python draws groups of exceptions and what is inside of a message;
// PyTorch's own logger heads each line of what it caught.
bool MayBeHead(std::string_view head) {
  if (head.empty() || head.size() > kLongestForeignHead) return false;
  const size_t level = head.starts_with('[') ? 2 : 1;  // "[E1115 23:21:19", "W1115 23:21:43"
  const bool logged = (head.size() > level && ParseGlogTime(head.substr(level)).has_value()) ||
                      Contains(head, " torch.");
  return !logged && head.find_first_not_of(" \t|+-") != std::string_view::npos;
}

// Where the marks of launchers begin that stand before `at`; `at` when there are none.
size_t BeginOfMarks(std::string_view line, size_t at, const PrefixStyle& style) {
  for (size_t open = line.find_first_of("[(", 1); open < at;
       open = line.find_first_of("[(", open + 1)) {
    const std::string_view rest = PeelPrefixes(line.substr(open), style).text;
    if (rest.size() <= line.size() - at) return open;
  }
  return at;
}

// "[rank3]:", as PyTorch begins lines.
bool BeginsWithRank(std::string_view text) {
  constexpr std::string_view kOpen = "[rank";
  if (!text.starts_with(kOpen)) return false;
  const size_t end = text.find_first_not_of("0123456789", kOpen.size());
  return end != std::string_view::npos && end > kOpen.size() && text.substr(end).starts_with("]:");
}

// Where in the line begins what always begins one; 0 when nothing does, or the line with it.
size_t FindLineBegin(std::string_view line) {
  line = line.substr(0, kLongestForeignHead * 2);
  for (size_t at = line.find("[rank"); at != std::string_view::npos;
       at = line.find("[rank", at + 1))
    if (BeginsWithRank(line.substr(at))) return at;
  constexpr std::array<std::string_view, 5> kBegins = {
      "[E ProcessGroupNCCL",
      "srun: error: ", "slurmstepd: error: ", "ERROR:torch.distributed.elastic",
      "WARNING:torch.distributed.elastic"};
  for (const std::string_view begin : kBegins) {
    const size_t at = line.find(begin);
    if (at != std::string_view::npos) return at;
  }
  return 0;
}

void AddForm(std::string form, std::vector<std::string>& forms) {
  const bool known = std::ranges::find(forms, form) != forms.end();
  if (!known && forms.size() < kMostForms) forms.push_back(std::move(form));
}

// A head stands before a traceback and before the frame below it.
void FindAroundTracebacks(const std::vector<std::string_view>& lines, const PrefixStyle& style,
                          std::vector<std::string>& forms) {
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const size_t at = lines[i].rfind(kTraceback);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view head = lines[i].substr(0, BeginOfMarks(lines[i], at, style));
    if (!MayBeHead(head)) continue;
    std::string form = FormOf(head);
    const size_t size = SizeOfHead(lines[i + 1], form);
    const std::string_view frame = PeelPrefixes(lines[i + 1].substr(size), style).text;
    if (size > 0 && WithoutIndent(frame).starts_with("File \"")) AddForm(std::move(form), forms);
  }
}

// Where the indentation of a frame ends that Python prints two blanks behind the begin of a line; a
// log that was cut has frames without the head of their traceback. 0 when there is none.
size_t FindFrame(std::string_view line) {
  constexpr std::string_view kFrame = "  File \"";
  const size_t at = line.substr(0, kLongestForeignHead * 2).find(kFrame);
  const bool frame = at != std::string_view::npos && Contains(line.substr(at), "\", line ");
  return frame && Contains(line.substr(at), ", in ") ? at : 0;
}

// A head stands before most lines of the text, and before several that begin lines.
void FindBeforeMarks(const std::vector<std::string_view>& lines, const PrefixStyle& style,
                     std::vector<std::string>& forms) {
  constexpr size_t kFewest = 2;
  std::map<std::string, size_t> counts;
  for (const std::string_view line : lines) {
    const size_t mark = FindLineBegin(line);
    const size_t at = mark > 0 ? mark : FindFrame(line);
    if (at == 0) continue;
    const std::string_view head = line.substr(0, BeginOfMarks(line, at, style));
    if (MayBeHead(head)) ++counts[FormOf(head)];
  }
  for (const auto& [form, count] : counts) {
    if (count < kFewest) continue;
    const auto behind = std::ranges::count_if(
        lines, [&](std::string_view line) { return SizeOfHead(line, form) > 0; });
    if (static_cast<size_t>(behind) * 10 >= lines.size() * 9) AddForm(form, forms);
  }
}

// The process in "[177/train/578 (pid 28936)]"; none when the head names none.
int64_t PidIn(std::string_view head) {
  const size_t at = head.find("pid");
  if (at == std::string_view::npos) return kNone64;
  const size_t digits = head.find_first_not_of(" =:", at + 3);
  int64_t pid = kNone64;
  if (digits == std::string_view::npos || digits == at + 3) return kNone64;
  (void)std::from_chars(head.data() + digits, head.data() + head.size(), pid);
  return pid;
}

}  // namespace

std::vector<std::string> FindForeignHeads(std::string_view text, const PrefixStyle& style) {
  constexpr std::array<std::string_view, 6> kNeeded = {
      kTraceback, "[rank", "[E Process", ": error: ", ":torch.distributed", "  File \""};
  const bool may_have =
      std::ranges::any_of(kNeeded, [&](std::string_view word) { return Contains(text, word); });
  if (!may_have) return {};
  std::vector<std::string_view> lines;
  LineSplitter splitter(text);
  for (std::string_view line; splitter.Next(line);) {
    line = PeelPrefixes(Trimmed(line, "\r"), style).text;
    if (!Trimmed(line).empty()) lines.push_back(line);
  }
  std::vector<std::string> forms;
  FindAroundTracebacks(lines, style, forms);
  FindBeforeMarks(lines, style, forms);
  // The longest first: it may begin as another one does.
  std::ranges::stable_sort(forms, std::ranges::greater{}, &std::string::size);
  return forms;
}

bool TakeForeignHead(PeeledLine& line, const std::vector<std::string>& forms) {
  for (const std::string& form : forms) {
    const size_t size = SizeOfHead(line.text, form);
    if (size == 0) continue;
    const std::string_view head = line.text.substr(0, size);
    const size_t digit = std::min(head.find_first_of("0123456789"), head.size());
    if (line.time_ns == kNone64) line.time_ns = ParseIsoTime(head.substr(digit));
    if (line.pid == kNone64) line.pid = PidIn(head);
    PeeledLine told{.text = head};
    if (line.rank == kNone32 && TakeRankHead(told)) line.rank = told.rank;
    line.text.remove_prefix(size);
    return true;
  }
  return false;
}

}  // namespace debrief

#include "torch/prefixes/line_prefix.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"
#include "torch/prefixes/foreign_heads.h"
#include "torch/prefixes/line_starts.h"
#include "torch/prefixes/rank_heads.h"
#include "torch/prefixes/wrapped_lines.h"

namespace debrief {

namespace {

constexpr int32_t kMaxRank = 1 << 20;
constexpr size_t kLongestMark = 200;
constexpr int kMostMarks = 8;  // of one line: enough for every launcher inside of every other

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Takes "<open>3<close>" off the front of `text`.
bool TakeMark(std::string_view& text, std::string_view open, std::string_view close,
              int32_t& number) {
  if (!text.starts_with(open)) return false;
  const char* begin = text.data() + open.size();
  const char* stop = text.data() + text.size();
  int32_t found = 0;
  auto [end, error] = std::from_chars(begin, stop, found);
  bool plain = error == std::errc() && *begin != '-' && found < kMaxRank;
  if (!plain) return false;
  std::string_view rest(end, static_cast<size_t>(stop - end));
  if (!rest.starts_with(close)) return false;
  number = found;
  text = rest.substr(close.size());
  return true;
}

void SkipBlank(std::string_view& text) {
  if (text.starts_with(' ')) text.remove_prefix(1);
}

bool TakeLabel(std::string_view& text, LineLabels labels, int32_t& rank) {
  if (labels == LineLabels::kNone) return false;
  std::string_view rest = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  int32_t component = kNone32;
  if (labels == LineLabels::kColon && TakeMark(rest, "P", " ", component))
    rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  // An empty line may have lost the blank behind its label; "12:30" is a time.
  bool taken =
      labels == LineLabels::kColon
          ? TakeMark(rest, "", ": ", rank) || (TakeMark(rest, "", ":", rank) && rest.empty())
          : TakeMark(rest, "[", "]:", rank) || TakeMark(rest, "[", "]", rank);
  if (!taken) return false;
  if (labels == LineLabels::kBracket) SkipBlank(rest);
  text = rest;
  return true;
}

// [pod/job-worker-1/pytorch] text; a time follows with --timestamps.
bool TakePod(PeeledLine& line) {
  constexpr std::string_view kOpen = "[pod/";
  if (!line.text.starts_with(kOpen)) return false;
  size_t slash = line.text.find('/', kOpen.size());
  size_t close = line.text.find("] ", kOpen.size());
  if (slash == std::string_view::npos || close == std::string_view::npos || slash > close)
    return false;
  line.host = line.text.substr(kOpen.size(), slash - kOpen.size());
  line.text.remove_prefix(close + 2);
  int64_t time = ParseIsoTime(line.text);
  size_t blank = line.text.find(' ');
  bool stamped = time != kNone64 && line.text[10] == 'T' && blank != std::string_view::npos;
  if (!stamped) return true;
  line.time_ns = time;
  line.text.remove_prefix(blank + 1);
  return true;
}

// 2026-11-15T23:22:09.123456789Z stderr F text; without the stream where kubectl printed it.
bool TakeContainer(PeeledLine& line) {
  if (line.text.size() < 30 || line.text[10] != 'T' || !IsDigit(line.text[0])) return false;
  size_t blank = line.text.find(' ');
  if (blank == std::string_view::npos || blank > 40) return false;
  std::string_view rest = line.text.substr(blank + 1);
  if (line.text[blank - 1] == 'Z' && line.time_ns == kNone64) {  // kubectl logs --timestamps
    line.time_ns = ParseIsoTime(line.text);
    if (line.time_ns == kNone64) return false;
    line.text = rest;
  }
  const int64_t time_ns = ParseIsoTime(line.text);
  bool stream = rest.starts_with("stdout ") || rest.starts_with("stderr ");
  bool marked = stream && rest.size() >= 9 && (rest[7] == 'F' || rest[7] == 'P') && rest[8] == ' ';
  if (marked) line.text = rest.substr(9);
  if (marked && line.time_ns == kNone64) line.time_ns = time_ns;
  return marked || line.text.data() == rest.data();
}

// "[1,3]<stdout>:text", "[1,3][host:77]<stderr>: text", "[3]<stdout>: text". A time of ctime() may
// stand in front.
bool TakeMpi(PeeledLine& line) {
  constexpr size_t kStamp = 24;
  std::string_view text = line.text;
  size_t open = text.substr(0, kLongestMark).find('<');
  if (open == std::string_view::npos) return false;
  std::string_view rest = text.substr(open);
  if (!rest.starts_with("<stdout>:") && !rest.starts_with("<stderr>:")) return false;
  std::string_view mark = text.substr(0, open);
  if (mark.size() > kStamp && mark[kStamp] == '[' && !mark.starts_with('['))
    mark.remove_prefix(kStamp);
  if (!mark.starts_with('[')) return false;
  size_t close = mark.find(']');
  if (close == std::string_view::npos) return false;
  std::string_view inside = mark.substr(1, close - 1);
  constexpr std::string_view kNamed = "mpirank:";
  const size_t named = inside.find(kNamed);
  inside = named != std::string_view::npos ? inside.substr(named + kNamed.size())
                                           : inside.substr(inside.rfind(',') + 1);  // npos + 1 is 0
  int32_t rank = kNone32;
  if (!TakeMark(inside, "", "", rank)) return false;
  line.rank = rank;
  std::string_view place = mark.substr(close + 1);
  size_t colon = place.rfind(':');
  if (place.starts_with('[') && colon != std::string_view::npos && colon > 1) {
    line.host = place.substr(1, colon - 1);
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), line.pid);
  }
  line.text = rest.substr(9);
  // Version 5 puts a blank behind the mark. Version 4 does not: there one blank less is harmless,
  // because what is indented is indented by more.
  bool indented = line.text.starts_with("  ") && !line.text.starts_with("   ");
  if (!indented) SkipBlank(line.text);
  return true;
}

// Ray prints once what several processes say, and behind it how many: "text [repeated 3x across
// cluster]", the first time with a sentence on how to switch that off.
std::string_view WithoutCount(std::string_view text) {
  constexpr std::string_view kOpen = " [repeated ", kClose = "x across cluster]";
  const size_t close = text.rfind(kClose);
  if (close == std::string_view::npos) return text;
  const size_t open = text.rfind(kOpen, close);
  if (open == std::string_view::npos || open + kOpen.size() >= close) return text;
  const std::string_view count = text.substr(open + kOpen.size(), close - open - kOpen.size());
  const std::string_view behind = text.substr(close + kClose.size());
  const bool counts = std::ranges::all_of(count, IsDigit);
  const bool ends = behind.empty() || behind.starts_with(" (Ray deduplicates logs");
  return counts && ends ? text.substr(0, open) : text;
}

// (RayTrainWorker pid=75298, ip=10.0.0.2) text
bool TakeRay(PeeledLine& line) {
  if (!line.text.starts_with('(')) return false;
  size_t close = line.text.substr(0, kLongestMark).find(") ");
  if (close == std::string_view::npos) return false;
  std::string_view inside = line.text.substr(1, close - 1);
  size_t at = inside.find("pid=");
  if (at == std::string_view::npos || (at > 0 && inside[at - 1] != ' ')) return false;
  const char* begin = inside.data() + at + 4;
  auto [end, error] = std::from_chars(begin, inside.data() + inside.size(), line.pid);
  if (error != std::errc()) return false;
  if (size_t ip = inside.find("ip="); ip != std::string_view::npos)
    line.host = inside.substr(ip + 3);
  line.engine = ParseEngineProcess(inside.substr(0, inside.find(' ')));
  constexpr std::string_view kWorker = "VllmWorker ";
  std::string_view worker = inside.substr(inside.starts_with(kWorker) ? kWorker.size() : 0);
  (void)TakeMark(worker, "rank=", " ", line.rank);
  line.text.remove_prefix(close + 2);
  line.text = WithoutCount(line.text);
  return true;
}

bool TakeEngineTag(PeeledLine& line) {
  const auto tag = ParseEngineTag(line.text);
  if (!tag) return false;
  line.engine = tag->place;
  line.time_ns = tag->time_ns;
  line.text.remove_prefix(tag->size);
  return true;
}

bool TakeEngineHead(PeeledLine& line) {
  const auto head = ParseEngineHead(line.text);
  if (!head) return false;
  line.logged = head->time;
  line.text.remove_prefix(head->size);
  return true;
}

// "[default3]:" is a local rank, "[rank3]:" a rank, unless another one follows it.
bool TakeTee(PeeledLine& line, const PrefixStyle& style) {
  std::string_view text = line.text;
  if (text.size() < 4 || text[0] != '[' || !IsLetter(text[1])) return false;
  size_t end = 1;
  while (end < text.size() && (IsLetter(text[end]) || IsDigit(text[end]))) ++end;
  size_t digits = end;
  while (digits > 2 && IsDigit(text[digits - 1])) --digits;
  std::string_view rest = text.substr(digits);
  int32_t number = kNone32;
  if (!TakeMark(rest, "", "]:", number)) return false;
  std::string_view role = text.substr(1, digits - 1);
  bool first = line.rank == kNone32 && line.local_rank == kNone32;
  if (role == "rank" && !(first && (style.tee_says_rank || rest.starts_with("[rank")))) {
    line.rank = number;
    line.raised = rest.starts_with(' ');
    SkipBlank(rest);
  } else {
    bool sure = role == "default" || role == "trainer" || role == "rank";
    bool blank = rest.size() > 1 && rest[0] == ' ' && rest[1] != ' ';
    if ((blank && !sure) || line.local_rank != kNone32) return false;
    line.local_rank = number;
  }
  line.text = rest;
  return true;
}

// "[RANK 3] text" of loggers. PyTorch's own "[Rank 1] Watchdog ..." is a rank inside a group.
bool TakeLoggerRank(PeeledLine& line) {
  if (line.rank != kNone32) return false;
  std::string_view rest = line.text;
  int32_t rank = kNone32;
  if (!TakeMark(rest, "[RANK ", "] ", rank) && !TakeMark(rest, "[Rank ", "] ", rank)) return false;
  constexpr std::string_view kGroup[] = {"Watchdog", "Collective", "Some NCCL", "To avoid"};
  for (std::string_view word : kGroup) {
    if (rest.starts_with(word)) return false;
  }
  line.rank = rank;
  line.text = rest;
  return true;
}

bool TakeStyledLabel(PeeledLine& line, const PrefixStyle& style) {
  std::string_view before = line.text;
  int32_t number = kNone32;
  if (!TakeLabel(line.text, style.labels, number)) return false;
  if (style.label_is_node) {
    std::string_view label = before.substr(0, before.size() - line.text.size());
    line.host = Trimmed(label, " []:");
  } else {
    line.rank = number;
  }
  return true;
}

// Marks that a line has once.
struct TakenMarks {
  bool label = false, host = false, stamp = false, head = false;
};

bool TakeOne(PeeledLine& line, const PrefixStyle& style, TakenMarks& taken) {
  if (line.text.empty()) return false;
  if (style.stamps && !taken.stamp && TakeStamp(line)) return taken.stamp = true;
  if (style.hosts && !taken.host && TakeHost(line)) return taken.host = true;
  if (!taken.label && TakeStyledLabel(line, style)) return taken.label = true;
  if (!taken.head && TakeForeignHead(line, style.heads)) return taken.head = true;
  // The end of a message without a newline is a blank or a zero at times: " [rank2]: Traceback".
  const bool behind = line.text.size() > 1 && (line.text[0] == ' ' || line.text[0] == '\0');
  if (behind && line.text.substr(1).starts_with("[rank")) line.text.remove_prefix(1);
  char c = line.text[0];
  if (c == '[')
    return TakePod(line) || TakeTee(line, style) || TakeMpi(line) || TakeLoggerRank(line) ||
           TakeEngineTag(line);
  if (c == '(') return TakeRay(line);
  if (IsDigit(c)) return TakeContainer(line) || TakeSyslogMark(line);
  if (c >= 'A' && c <= 'Z' && TakeSyslogMark(line)) return true;
  bool ctime = line.text.size() > 24 && line.text[24] == '[' && line.text[3] == ' ';
  return (ctime && TakeMpi(line)) || TakeEngineHead(line);
}

// What stands behind the last progress bar of a line; empty when nothing does. A bar has no line
// end, so that what is printed next, by this process or by another, follows it at once:
//
//   Epoch 0:  10%|#         | 1/10 [00:00<00:02,  4.10it/s, loss=2.3][rank1]: Traceback (most ...
std::string_view BehindBar(std::string_view text) {
  const size_t bar = text.rfind("%|");
  if (bar == std::string_view::npos || bar == 0 || !IsDigit(text[bar - 1])) return {};
  const size_t count = std::min(text.find("| ", bar + 2), text.size());
  const size_t open = std::min(text.find(" [", count), text.size());
  const size_t close = text.find(']', open);
  if (close == std::string_view::npos || close + 1 == text.size()) return {};
  const bool counts = Contains(text.substr(count, open - count), "/");
  const char next = text[close + 1];
  return counts && (next == '[' || IsLetter(next)) ? text.substr(close + 1) : std::string_view();
}

PeeledLine PeelMarks(std::string_view line, const PrefixStyle& style) {
  PeeledLine peeled{.text = line};
  TakenMarks taken;
  for (int marks = 0; marks < kMostMarks; ++marks) {
    if (!TakeOne(peeled, style, taken)) break;
  }
  const bool nobody = peeled.rank == kNone32 && peeled.local_rank == kNone32;
  if (style.rank_heads && nobody && TakeRankHead(peeled)) TakeTee(peeled, style);
  return peeled;
}

// What srun and slurmstepd say for themselves has no label.
bool IsOfSlurm(std::string_view line) {
  return line.starts_with("srun: ") || line.starts_with("slurmstepd: ");
}

// A script prints lines of its own before and after its srun: there a third with labels is enough,
// when one of them begins a traceback or srun speaks of tasks.
LineLabels DetectLabels(std::string_view head, const PrefixStyle& style) {
  constexpr size_t kFewest = 4;
  for (LineLabels labels : {LineLabels::kColon, LineLabels::kBracket}) {
    size_t lines = 0, labelled = 0;
    bool surely = false;
    std::set<int32_t> seen;
    LineSplitter splitter(head);
    for (std::string_view line; splitter.Next(line);) {
      line = PeelPrefixes(line, style).text;
      if (Trimmed(line).empty() || IsOfSlurm(line)) {
        surely |= labels == LineLabels::kColon && line.starts_with("srun: error: ") &&
                  Contains(line, ": task");
        continue;
      }
      ++lines;
      int32_t rank = kNone32;
      if (!TakeLabel(line, labels, rank)) continue;
      ++labelled;
      surely |= PeelPrefixes(line, {}).text.starts_with("Traceback (most recent call last)");
      seen.insert(rank);
    }
    const bool most = labelled * 10 >= lines * 9 || (surely && labelled * 3 >= lines);
    if (labelled >= kFewest && most && seen.size() < labelled) return labels;
  }
  return LineLabels::kNone;
}

// PyTorch puts "[rank3]:" before a blank or a log header alone; before anything else it is a role.
bool TeeSaysRank(std::string_view head, const PrefixStyle& style) {
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    PeeledLine marked{.text = line};
    if (style.stamps) TakeStamp(marked);
    TakeForeignHead(marked, style.heads);
    line = marked.text;
    int32_t rank = kNone32;
    if (!TakeMark(line, "[rank", "]:", rank)) continue;
    if (line.starts_with("[rank")) return true;
    if (line.empty() || line[0] == ' ' || line[0] == '\r') continue;
    std::string_view header = line.substr(line[0] == '[' ? 1 : 0);
    bool logged = header.size() > 2 && header[0] >= 'A' && header[0] <= 'Z' && IsDigit(header[1]);
    if (!logged) return true;
  }
  return false;
}

// Behind the label of a node stand the marks and the messages of its torchrun.
bool LabelIsNode(std::string_view head, const PrefixStyle& style) {
  if (style.labels == LineLabels::kNone) return false;
  LineSplitter splitter(head);
  for (std::string_view line; splitter.Next(line);) {
    int32_t label = kNone32;
    line = PeelPrefixes(line, {.hosts = style.hosts, .stamps = style.stamps}).text;
    if (!TakeLabel(line, style.labels, label)) continue;
    PeeledLine inner = PeelPrefixes(line, {});
    bool other = inner.rank != kNone32 && inner.rank != label;
    if (other || inner.local_rank != kNone32 || Contains(line, "torch/distributed/elastic/"))
      return true;
  }
  return false;
}

}  // namespace

// Of this alphabet, without vowels and without digits that look like letters.
bool IsPodSuffix(std::string_view text) {
  return text.size() == 5 &&
         text.find_first_not_of("bcdfghjklmnpqrstvwxz2456789") == std::string_view::npos;
}

PrefixStyle DetectPrefixStyle(std::string_view head) {
  const bool wrapped = IsWrappedText(head);
  std::string plain;
  if (wrapped) plain = UnwrapText(head);
  if (wrapped) head = std::string_view(plain).substr(0, head.size());
  PrefixStyle style;
  style.wrapped = wrapped;
  style.stamps = HasStamps(head);
  style.hosts = HasHosts(head, style.stamps);
  style.labels = DetectLabels(head, style);
  style.label_is_node = LabelIsNode(head, style);
  style.heads = FindForeignHeads(head, style);
  // Heads that name ranks are understood better as those of a logger.
  const bool ranked = std::ranges::any_of(style.heads, [](const std::string& form) {
    return Contains(form, "rank") || Contains(form, "Rank") || Contains(form, "RANK");
  });
  if (ranked) style.heads.clear();
  style.tee_says_rank = TeeSaysRank(head, style);
  style.rank_heads =
      style.labels == LineLabels::kNone && HasRankHeads(head, {.heads = style.heads});
  if (ranked) style.heads = FindForeignHeads(head, style);
  return style;
}

void DetectPrefixesOfEnd(std::string_view tail, PrefixStyle& style) {
  if (style.heads.empty() && !style.wrapped) style.heads = FindForeignHeads(tail, style);
}

PeeledLine PeelPrefixes(std::string_view line, const PrefixStyle& style) {
  PeeledLine peeled = PeelMarks(line, style);
  const std::string_view behind = BehindBar(peeled.text);
  if (behind.empty()) return peeled;
  const PeeledLine next = PeelMarks(behind, style);
  const bool is_of_another = next.rank != kNone32 || next.local_rank != kNone32;
  peeled.text = next.text;
  peeled.raised = next.raised;
  if (is_of_another) {
    peeled.rank = next.rank;
    peeled.local_rank = next.local_rank;
    peeled.pid = next.pid;
  }
  return peeled;
}

}  // namespace debrief

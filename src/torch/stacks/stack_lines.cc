#include "torch/stacks/stack_lines.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::stack_lines {

std::optional<std::string_view> Between(std::string_view line, std::string_view before,
                                        std::string_view after) {
  if (!line.starts_with(before)) return std::nullopt;
  line.remove_prefix(before.size());
  size_t end = line.find(after);
  if (end == std::string_view::npos) return std::nullopt;
  return line.substr(0, end);
}

std::optional<int64_t> LeadingNumber(std::string_view text) {
  int64_t number = 0;
  if (text.empty() || !IsDigit(text[0])) return std::nullopt;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

namespace {

constexpr int64_t kMostRanks = 10'000'000;

int32_t ToRank(std::optional<int64_t> number) {
  return number && *number < kMostRanks ? static_cast<int32_t>(*number) : kNone32;
}

int32_t ToLine(std::string_view text) {
  std::optional<int64_t> number = LeadingNumber(text);
  return number && *number <= INT32_MAX ? static_cast<int32_t>(*number) : 0;  // "???": not told
}

// The number behind `key` and one of `between`, where `key` is not the end of a longer word.
int32_t NumberBehind(std::string_view text, std::string_view key, std::string_view between) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at > 0 && IsWord(text[at - 1])) continue;
    size_t begin = std::min(text.find_first_not_of(between, at + key.size()), text.size());
    int32_t rank = ToRank(LeadingNumber(text.substr(begin)));
    if (begin > at + key.size() && rank != kNone32) return rank;
  }
  return kNone32;
}

}  // namespace

std::optional<RankHeader> ParseRankHeader(std::string_view line) {
  auto number = Between(line, "=== Rank ", ": http://");
  if (!number || !line.ends_with(" ===")) return std::nullopt;
  RankHeader header;
  header.rank = ToRank(LeadingNumber(*number));
  std::string_view url = line.substr(line.find("http://") + 7);
  header.host = url.substr(0, url.find_first_of(":/"));
  size_t handler = url.find("/handler/");
  if (handler != std::string_view::npos) {
    url.remove_prefix(handler + 9);
    header.handler = url.substr(0, url.find_first_of("? "));
  }
  return header.rank == kNone32 ? std::nullopt : std::optional(header);
}

std::optional<StackFrame> ParseFileFrame(std::string_view line) {
  auto file = Between(line, "  File \"", "\", line ");
  if (!file) return std::nullopt;
  std::string_view rest = line.substr(8 + file->size() + 8);
  size_t in = rest.find(" in ");
  if (in == std::string_view::npos) return std::nullopt;
  return StackFrame{std::string(*file), std::string(rest.substr(in + 4)), ToLine(rest)};
}

std::optional<StackFrame> ParsePySpyFrame(std::string_view line) {
  if (!line.starts_with("    ") || line.starts_with("     ") || !line.ends_with(')'))
    return std::nullopt;
  size_t open = line.rfind(" (");
  if (open == std::string_view::npos || open < 5) return std::nullopt;
  std::string_view place = line.substr(open + 2, line.size() - open - 3);
  StackFrame frame{std::string(place), std::string(line.substr(4, open - 4)), 0};
  size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && colon + 1 < place.size() && IsDigit(place[colon + 1])) {
    frame.file = place.substr(0, colon);
    frame.line = ToLine(place.substr(colon + 1));
  }
  return frame;
}

std::optional<StackFrame> ParsePystackFrame(std::string_view line) {
  for (std::string_view kind : {"    (Python) File \"", "    (C) File \""}) {
    auto file = Between(line, kind, "\", line ");
    if (!file) continue;
    std::string_view rest = line.substr(kind.size() + file->size() + 8);
    size_t in = rest.find(", in ");
    if (in == std::string_view::npos) return std::nullopt;
    return StackFrame{std::string(*file), std::string(rest.substr(in + 5)), ToLine(rest)};
  }
  return std::nullopt;
}

std::optional<StackFrame> ParseGdbFrame(std::string_view line) {
  if (line.size() < 4 || line[0] != '#' || !IsDigit(line[1])) return std::nullopt;
  std::string_view rest =
      Trimmed(line.substr(std::min(line.find_first_not_of("0123456789", 1), line.size())));
  if (auto file = Between(rest.substr(std::min(rest.find(", for file "), rest.size())),
                          ", for file ", ", line ")) {
    std::string_view place = rest.substr(rest.find(", line ") + 7);
    size_t in = place.find(", in ");
    std::string_view function = in == std::string_view::npos ? "" : place.substr(in + 5);
    return StackFrame{std::string(*file), std::string(function.substr(0, function.find(" ("))),
                      ToLine(place)};
  }
  if (rest.starts_with("0x") && rest.find(" in ") != std::string_view::npos)
    rest = rest.substr(rest.find(" in ") + 4);
  StackFrame frame{"", std::string(rest.substr(0, rest.find(" ("))), 0};
  size_t from = rest.rfind(" from "), at = rest.rfind(" at ");
  if (from != std::string_view::npos) frame.file = rest.substr(from + 6);
  if (from == std::string_view::npos && at != std::string_view::npos) {
    std::string_view place = rest.substr(at + 4);
    size_t colon = std::min(place.rfind(':'), place.size());
    frame.file = place.substr(0, colon);
    frame.line = ToLine(place.substr(std::min(colon + 1, place.size())));
  }
  return frame;
}

bool IsFrameRemark(std::string_view line) {
  static constexpr std::array<std::string_view, 6> kRemarks = {
      "  <no Python frame>", "  Garbage-collecting", "  ...",
      "  <freed frame>",     "  <invalid frame>",    "  Binary file \""};
  return line == "..." || std::any_of(kRemarks.begin(), kRemarks.end(), [&](std::string_view each) {
           return line.starts_with(each);
         });
}

int32_t RankOfCommand(std::string_view command) {
  for (std::string_view key : {"--rank", "--global_rank", "--global-rank", "RANK", "--local_rank",
                               "--local-rank", "LOCAL_RANK"}) {
    int32_t rank = NumberBehind(command, key, "= ");
    if (rank != kNone32) return rank;
  }
  return kNone32;
}

int32_t RankOfHeading(std::string_view line) {
  constexpr size_t kLongest = 120;
  if (line.size() > kLongest) return kNone32;
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerCase);
  int32_t rank = NumberBehind(lower, "rank", "= _:#-");
  if (rank != kNone32) return rank;
  // "rank3"
  for (size_t at = lower.find("rank"); at != std::string::npos; at = lower.find("rank", at + 1)) {
    bool is_word = at == 0 || !IsWord(lower[at - 1]);
    if (is_word) rank = ToRank(LeadingNumber(std::string_view(lower).substr(at + 4)));
    if (rank != kNone32) return rank;
  }
  return kNone32;
}

}  // namespace debrief::stack_lines

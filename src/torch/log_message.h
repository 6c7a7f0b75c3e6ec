// The message of a log line, without what its logger put in front:
//
//   [E1115 02:47:56.485 ProcessGroupNCCL.cpp:612] [Rank 1] Collective WorkNCCL(...)    c10
//   E1115 23:22:10.130000 1320 torch/distributed/elastic/.../api.py:986] failed ...    torch's
//   [2026-11-15 02:42:15,000] torch.distributed.elastic...api: [ERROR] failed ...     older
//
// A rank in brackets is that within a group and not the rank of the process: who quotes a line
// names the rank.
#pragma once

#include <string>
#include <string_view>

#include "base/text/strings.h"
#include "torch/prefixes/glog_prefix.h"

namespace debrief {

namespace log_heads {

// Behind the first `mark`, where that is near the beginning; empty when it is not.
inline std::string_view Behind(std::string_view line, std::string_view mark) {
  constexpr size_t kLongestHead = 160;
  const size_t at = line.substr(0, kLongestHead).find(mark);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + mark.size());
}

inline std::string_view OfC10(std::string_view line) {
  const bool is_head =
      line.size() > 2 && line[0] == '[' && Contains("EWIFV", line.substr(1, 1)) && IsDigit(line[2]);
  const std::string_view rest = is_head ? Behind(line, "] ") : std::string_view();
  const bool has_place = rest.starts_with("[Rank ") || rest.starts_with("[PG ");
  return has_place ? Behind(rest, "] ") : rest;
}

inline std::string_view OfGlog(std::string_view line) {
  const auto prefix = FindGlogPrefix(line);
  return prefix && prefix->begin == 0 ? line.substr(prefix->rest) : std::string_view();
}

inline std::string_view OfPython(std::string_view line) {
  const bool is_head = line.size() > 1 && line[0] == '[' && IsDigit(line[1]);
  for (std::string_view level : {": [ERROR] ", ": [WARNING] ", ": [INFO] "}) {
    const std::string_view rest = is_head ? Behind(line, level) : std::string_view();
    if (!rest.empty()) return rest;
  }
  return {};
}

}  // namespace log_heads

// `line` itself where it has no such head, or nothing else.
inline std::string_view LogMessage(std::string_view line) {
  for (auto* without : {log_heads::OfC10, log_heads::OfGlog, log_heads::OfPython}) {
    const std::string_view rest = Trimmed(without(line));
    if (!rest.empty()) return rest;
  }
  return line;
}

// The same for a sentence: of "WorkNCCL(SeqNum=17, OpType=ALLREDUCE, NumelIn=512, ...)" which work
// it is, since what is said of it comes behind.
inline std::string QuotedMessage(std::string_view line) {
  std::string text(LogMessage(line));
  const size_t begin = text.find("WorkNCCL(SeqNum=");
  const size_t sizes = begin == std::string::npos ? begin : text.find(", NumelIn=", begin);
  const size_t end = sizes == std::string::npos ? sizes : text.find(") r", sizes);
  if (end != std::string::npos) text.replace(sizes, end - sizes, ", ...");
  return text;
}

}  // namespace debrief

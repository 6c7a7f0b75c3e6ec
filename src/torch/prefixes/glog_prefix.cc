#include "torch/prefixes/glog_prefix.h"

#include <algorithm>

#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief {

namespace {

constexpr std::string_view kTime = "0000 00:00:00?000000";

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsDigit(text[at])) ++at;
  return at;
}

// The prefix whose level stands at `begin`, if there is one.
std::optional<GlogPrefix> PrefixAt(std::string_view line, size_t begin) {
  if (!HasShape(line.substr(begin + 1), kTime)) return std::nullopt;
  size_t thread = begin + 1 + kTime.size() + 1;
  if (thread > line.size() || line[thread - 1] != ' ') return std::nullopt;
  size_t thread_end = SkipDigits(line, thread);
  size_t colon = line.find(':', thread);
  if (colon == std::string_view::npos || colon < thread + 2 || thread_end == thread)
    return std::nullopt;
  thread_end = std::min(thread_end, colon - 1);  // the path has one byte at least
  size_t number_end = SkipDigits(line, colon + 1);
  bool closed = number_end > colon + 1 && line.substr(number_end, 2) == "] ";
  if (!closed || number_end + 2 >= line.size()) return std::nullopt;
  return GlogPrefix{.begin = begin,
                    .time = line.substr(begin + 1, kTime.size()),
                    .thread = line.substr(thread, thread_end - thread),
                    .path = line.substr(thread_end, colon - thread_end),
                    .line = line.substr(colon + 1, number_end - colon - 1),
                    .rest = number_end + 2};
}

}  // namespace

std::optional<GlogPrefix> FindGlogPrefix(std::string_view line) {
  constexpr std::string_view kLevels = "VIWEC";
  for (size_t at = line.find_first_of(kLevels); at != std::string_view::npos;
       at = line.find_first_of(kLevels, at + 1)) {
    if (auto prefix = PrefixAt(line, at)) return prefix;
  }
  return std::nullopt;
}

}  // namespace debrief

#include "inputs/job_text/error_file.h"

#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

// The string behind the last `key` that has one, without its escapes.
std::string StringOf(std::string_view text, std::string_view key) {
  size_t at = text.rfind(key);
  if (at == std::string_view::npos) return {};
  at = text.find_first_not_of(": ", at + key.size());
  if (at == std::string_view::npos || text[at] != '"') return {};
  std::string result;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      result += text[at];
      continue;
    }
    char escaped = text[++at];
    if (escaped == 'u') at += 4;
    result += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'u' ? '?' : escaped;
  }
  return result;
}

}  // namespace

std::optional<ErrorFile> ParseErrorFile(std::string_view text) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  ErrorFile error;
  error.message = StringOf(text.substr(0, text.find("\"extraInfo\"")), "\"message\"");
  if (error.message.empty()) return std::nullopt;
  error.stack = StringOf(text, "\"py_callstack\"");
  std::string seconds = StringOf(text, "\"timestamp\"");
  int64_t number = NumberAfter(seconds, "");
  constexpr int64_t kLatest = 9'000'000'000;
  if (number > 0 && number < kLatest) error.time_ns = number * kNsPerSecond;
  return error;
}

}  // namespace debrief::inputs::job_text

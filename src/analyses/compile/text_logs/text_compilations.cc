#include "analyses/compile/text_logs/text_compilations.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/scan.h"
#include "model/compile/frames.h"

namespace debrief::analyses::compile_text_logs {

void TextCompilation::SetFunction(const FunctionText& code) {
  if (!function.empty()) return;
  function = code.function;
  file = code.file;
  line = code.line;
}

TextCompilation& TextCompilations::Get(const ProcessOfText& process, std::string_view id,
                                       size_t record, int64_t line) {
  const std::string_view plain = WithoutAttempt(id);
  auto [found, is_new] = by_id_.try_emplace(std::pair(process, std::string(plain)), all_.size());
  if (is_new) all_.push_back({.process = process, .record = record, .id = std::string(plain)});
  TextCompilation& of = all_[found->second];
  of.last_line = line;
  if (plain.size() < id.size())
    of.restarts = std::max(of.restarts, LeadingNumber(id.substr(plain.size() + 1), int32_t{0}));
  return of;
}

std::string TextCompilations::IdOf(const FunctionText& code, int32_t number) {
  return code.line == kNone32 ? fmt::format("{}/{}", code.function, number)
                              : fmt::format("{}:{}/{}", code.function, code.line, number);
}

std::string TextCompilations::LastOf(const ProcessOfText& process, const FunctionText& code) const {
  constexpr size_t kFar = 64;
  const size_t first = all_.size() - std::min(all_.size(), kFar);
  for (size_t i = all_.size(); i > first; --i) {
    const TextCompilation& of = all_[i - 1];
    if (of.process == process && of.function == code.function && of.file == code.file &&
        of.line == code.line)
      return of.id;
  }
  return IdOf(code, 0);
}

int32_t TextCompilations::CountAgain(const ProcessOfText& process, const FunctionText& code) {
  return ++again_[{process, std::string(code.function), std::string(code.file), code.line}];
}

}  // namespace debrief::analyses::compile_text_logs

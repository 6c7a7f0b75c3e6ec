#include "accel/passes/names.h"

#include <algorithm>

#include "base/text/strings.h"

namespace debrief::accel {
namespace {

size_t EndOfDigits(std::string_view name, size_t at) {
  while (at < name.size() && IsDigit(name[at])) ++at;
  return at;
}

}  // namespace

std::string WithoutDigits(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const auto* digit = std::find_if(name.begin() + at, name.end(), IsDigit);
    const std::string_view text = name.substr(at, static_cast<size_t>(digit - name.begin()) - at);
    out += text;
    at += text.size();
    const size_t end = EndOfDigits(name, at);
    if (end == at) break;
    if (text.ends_with('V')) out += name.substr(at, end - at);
    if (text.ends_with('_')) out.pop_back();
    at = end;
  }
  return out;
}

std::string WithPlaceholders(std::string_view name) {
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const bool mark = name[at] == '_' || name[at] == '-';
    const size_t end = mark ? EndOfDigits(name, at + 1) : at + 1;
    if (mark && end > at + 1) {
      out += "_[N]";
      at = end;
    } else {
      out += name[at++];
    }
  }
  return out;
}

}  // namespace debrief::accel

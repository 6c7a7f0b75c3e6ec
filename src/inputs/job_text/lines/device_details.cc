#include "inputs/job_text/lines/device_details.h"

#include <algorithm>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

bool IsCapital(char c) { return c >= 'A' && c <= 'Z'; }

// "EI0006: ", "E19999: ", of CANN.
bool HasCodeOfCann(std::string_view text) {
  constexpr size_t kCode = 6;
  if (text.size() < kCode + 2 || text[0] != 'E' || text.substr(kCode, 2) != ": ") return false;
  const std::string_view digits = text.substr(2, kCode - 2);
  return (IsCapital(text[1]) || IsDigit(text[1])) && std::ranges::all_of(digits, IsDigit);
}

// Without "[PID: 77120] " and "2026-05-21-11:57:54.167.645 ".
std::string_view WithoutPidAndTime(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with("[PID: ")) text = Trimmed(text.substr(text.find(']') + 1));  // npos + 1 is 0
  const size_t time = std::min(text.find_first_not_of("0123456789-:."), text.size());
  constexpr size_t kShortestTime = 19;
  return time >= kShortestTime ? Trimmed(text.substr(time)) : text;
}

// "(0) RESOURCE_EXHAUSTED: Attempting to reserve ...", one of XLA's root errors.
bool IsRootError(std::string_view text) {
  constexpr std::string_view kFirst = "(0) ";
  if (!text.starts_with(kFirst)) return false;
  const std::string_view code = text.substr(kFirst.size());
  const size_t colon = code.find(": ");
  return colon != std::string_view::npos && colon > 0 &&
         std::ranges::all_of(code.substr(0, colon),
                             [](char c) { return IsCapital(c) || c == '_'; });
}

}  // namespace

std::optional<DeviceDetail> ParseDeviceDetail(std::string_view text) {
  constexpr std::string_view kError = "[Error]: ", kRank = "RankID:";
  text = Trimmed(text);
  if (HasCodeOfCann(text)) {
    const std::string_view said = WithoutPidAndTime(text.substr(8));
    const bool tells = !said.empty() && !said.starts_with("Inner Error");
    return DeviceDetail{tells ? said : std::string_view()};
  }
  if (text.starts_with(kError)) return DeviceDetail{text.substr(kError.size())};
  if (IsRootError(text)) return DeviceDetail{text.substr(4)};
  if (!text.starts_with("[ERROR] ") || !Contains(text, kRank)) return std::nullopt;
  const int32_t rank = SmallNumberAfter(text, kRank);  // -1: it has none
  return DeviceDetail{{}, rank >= 0 ? rank : kNone32};
}

}  // namespace debrief::inputs::job_text

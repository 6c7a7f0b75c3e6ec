#include "inputs/job_text/lines/nccl_lines.h"

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr std::string_view kInfoMark = " NCCL INFO ";

// "00/02 : 0 1 2 3" and "01/0 : 3[0] -> 4[0] [send] via NET/IB/0"; older versions without a slash.
bool ReadChannel(std::string_view text, NcclLine& line) {
  line.channel = SmallNumberAfter(text, "");
  const size_t colon = text.find(" : ");
  if (line.channel == kNone32 || colon == std::string_view::npos) return false;
  const std::string_view rest = Trimmed(text.substr(colon + 3));
  const size_t arrow = rest.find(" -> "), via = rest.find(" via ");
  if (arrow == std::string_view::npos) {
    line.kind = NcclLine::Kind::kRing;
    line.value = rest;
    return rest.find_first_not_of("0123456789 ") == std::string_view::npos && !rest.empty();
  }
  if (via == std::string_view::npos || via < arrow) return false;
  line.from = SmallNumberAfter(rest, "");
  line.to = SmallNumberAfter(rest.substr(arrow), " -> ");
  line.receives = Contains(rest.substr(0, via), "[receive]");
  line.via = Trimmed(rest.substr(via + 5));
  line.via = line.via.substr(0, line.via.find(' '));
  return line.from != kNone32 && line.to != kNone32 && !line.via.empty();
}

bool ReadSetting(std::string_view text, NcclLine& line) {
  line.kind = NcclLine::Kind::kSetting;
  constexpr std::string_view kSet = " set by environment to ";
  constexpr std::string_view kNetwork = "Using network ";
  if (text.starts_with(kNetwork)) {
    line.name = "network";
    line.value = Trimmed(text.substr(kNetwork.size()));
    return true;
  }
  const size_t set = text.find(kSet);
  if (set == std::string_view::npos || Contains(text.substr(0, set), " ")) return false;
  line.name = text.substr(0, set);
  line.value = Trimmed(text.substr(set + kSet.size()), " \t\r.");
  return true;
}

}  // namespace

bool MayBeNcclLine(std::string_view text) {
  const size_t info = text.find(kInfoMark);
  if (info == std::string_view::npos) return false;
  std::string_view rest = text.substr(info + kInfoMark.size());
  return rest.starts_with("Channel ") || rest.starts_with("Trees [") ||
         rest.starts_with("Using network ") || rest.starts_with("NCCL_") ||
         rest.starts_with("RCCL_");
}

bool ParseNcclSpeaker(std::string_view text, NcclLine& line) {
  const size_t info = text.find(kInfoMark);
  const size_t colon = text.find(':');
  if (info == std::string_view::npos || colon == std::string_view::npos || colon > info)
    return false;
  line.host = text.substr(0, colon);
  line.host = line.host.substr(line.host.rfind(' ') + 1);  // a time may stand in front
  const std::string_view rest = text.substr(colon + 1, info - colon - 1);
  line.pid = NumberAfter(rest, "");
  const size_t second = rest.find(':');
  if (second != std::string_view::npos) line.thread = NumberAfter(rest.substr(second), ":");
  return line.pid != kNone64;
}

std::optional<NcclLine> ParseNcclLine(std::string_view text) {
  NcclLine line;
  if (!MayBeNcclLine(text) || !ParseNcclSpeaker(text, line)) return std::nullopt;
  std::string_view rest = text.substr(text.find(kInfoMark) + kInfoMark.size());
  bool read = false;
  if (TakePrefix(rest, "Channel ")) {
    read = ReadChannel(rest, line);
  } else if (TakePrefix(rest, "Trees ")) {
    line.kind = NcclLine::Kind::kTrees;
    line.value = rest;
    read = true;
  } else {
    read = ReadSetting(rest, line);
  }
  return read ? std::optional(line) : std::nullopt;
}

}  // namespace debrief::inputs::job_text

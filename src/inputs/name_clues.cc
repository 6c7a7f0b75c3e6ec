#include "inputs/name_clues.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/text/strings.h"

namespace debrief {

namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The number at text[at], if digits start there and they fit a rank.
std::optional<int32_t> DigitsAt(std::string_view text, size_t at) {
  int32_t number = 0;
  if (at >= text.size() || !IsDigit(text[at])) return std::nullopt;
  auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// "rank" as a word of its own, not the end of another ("frank") nor of local_rank.
bool IsRankWord(std::string_view name, size_t at) {
  if (at > 0 && IsLetter(name[at - 1])) return false;
  return !name.substr(0, at).ends_with("local_") && !name.substr(0, at).ends_with("local-");
}

// In "rank_container-node02_5" what stands between "rank_" and the last number is the host.
NameClues HostAndRank(std::string_view rest) {
  rest = rest.substr(0, rest.find('.'));
  size_t last = rest.rfind('_');
  if (last == std::string_view::npos || last == 0) return {};
  auto rank = DigitsAt(rest, last + 1);
  bool is_number = rank && std::all_of(rest.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                       rest.end(), IsDigit);
  if (!is_number) return {};
  return {*rank, std::string(rest.substr(0, last))};
}

// TensorBoard's profiler plug-in: <host>_<pid>.<milliseconds>.pt.trace.json
std::string TensorBoardHost(std::string_view name) {
  size_t suffix = name.find(".pt.trace.json");
  if (suffix == std::string_view::npos) return {};
  std::string_view stem = name.substr(0, suffix);
  size_t dot = stem.rfind('.');
  size_t underscore = dot == std::string_view::npos ? dot : stem.rfind('_', dot);
  if (underscore == std::string_view::npos || underscore == 0) return {};
  std::string_view pid = stem.substr(underscore + 1, dot - underscore - 1);
  std::string_view time = stem.substr(dot + 1);
  auto digits = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
  };
  return digits(pid) && digits(time) ? std::string(stem.substr(0, underscore)) : std::string();
}

// Folders that launchers and people name after their content.
constexpr std::array<std::string_view, 27> kDataFolders = {
    "torch_trace", "torch_traces", "trace",    "traces",     "tlparse",     "compile_logs",
    "log",         "logs",         "stdout",   "stderr",     "profile",     "profiles",
    "profiler",    "prof",         "nccl",     "nccl_trace", "nccl_traces", "comm_traces",
    "comm_trace",  "fr",           "fr_dumps", "dump",       "dumps",       "flight_recorder",
    "memory",      "snapshots",    "et"};

}  // namespace

NameClues CluesOfFile(std::string_view name) {
  std::string lower = Lower(name);
  for (size_t at = lower.find("rank"); at != std::string::npos; at = lower.find("rank", at + 1)) {
    if (!IsRankWord(lower, at)) continue;
    size_t digits = at + 4;
    if (digits < name.size() && (name[digits] == '_' || name[digits] == '-' ||
                                 name[digits] == '=' || name[digits] == '.')) {
      ++digits;
    }
    if (auto rank = DigitsAt(name, digits)) return {*rank, {}};
    if (digits > at + 4) {
      if (NameClues clues = HostAndRank(name.substr(digits)); clues.rank != kNone32) return clues;
    }
  }
  return {kNone32, TensorBoardHost(name)};
}

FolderClues CluesOfFolder(std::string_view name, std::string_view parent) {
  std::string lower = Lower(name);
  if (std::find(kDataFolders.begin(), kDataFolders.end(), lower) != kDataFolders.end()) {
    return {FolderRole::kData, kNone32};
  }
  NameClues clues = CluesOfFile(lower);
  bool names_only_rank = lower.starts_with("rank") && clues.rank != kNone32 && clues.host.empty();
  if (names_only_rank) return {FolderRole::kRank, clues.rank};
  if (lower.starts_with("attempt_") || lower.starts_with("attempt-")) {
    if (auto number = DigitsAt(lower, 8)) return {FolderRole::kAttempt, *number};
  }
  // torchrun writes attempt_0/3/stdout.log; elsewhere a bare number may mean anything.
  bool below_attempt = parent.starts_with("attempt_");
  if (below_attempt && std::all_of(lower.begin(), lower.end(), IsDigit)) {
    if (auto number = DigitsAt(lower, 0)) return {FolderRole::kRank, *number};
  }
  return {};
}

std::string NumberPattern(std::string_view name) {
  std::string pattern;
  for (char c : name) {
    if (!IsDigit(c)) {
      pattern += c;
    } else if (pattern.empty() || pattern.back() != '#') {
      pattern += '#';
    }
  }
  return pattern;
}

}  // namespace debrief

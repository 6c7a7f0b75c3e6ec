#include "torch/prefixes/rank_heads.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "base/text/newlines.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr size_t kLongestHead = 120;
constexpr int32_t kMostRanksInHeads = 1 << 17;

struct RankField {
  int32_t rank = kNone32;
  size_t end = 0;  // behind it, and behind what closes it
};

size_t FindRankWord(std::string_view text, size_t from) {
  size_t found = std::string_view::npos;
  for (const std::string_view word : {"rank", "Rank", "RANK"})
    found = std::min(found, text.find(word, from));
  return found;
}

// Does a part of the head begin at `at`?
bool OpensAt(std::string_view text, size_t at) {
  if (at == 0) return true;
  if (Contains("[(|<", text.substr(at - 1, 1))) return true;
  const std::string_view before = Trimmed(text.substr(0, at), " ");
  return text[at - 1] == ' ' &&
         (before.empty() || Contains("|])-", before.substr(before.size() - 1)));
}

// The end of "5/8]" or "5 |" that begins at `at`; 0 when nothing closes it.
size_t EndOfField(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == '/') {
    ++at;
    while (at < text.size() && IsDigit(text[at])) ++at;
  }
  if (at < text.size() && Contains("])>|:", text.substr(at, 1))) return at + 1;
  const std::string_view rest = text.substr(at);
  return rest.starts_with(" |") || rest.starts_with(" - ") ? at + 2 : 0;
}

std::optional<RankField> FindRankField(std::string_view text) {
  constexpr size_t kWord = 4;
  text = text.substr(0, kLongestHead);
  for (size_t at = FindRankWord(text, 0); at != std::string_view::npos;
       at = FindRankWord(text, at + kWord)) {
    if (!OpensAt(text, at)) continue;
    size_t digits = at + kWord;
    if (digits < text.size() && Contains(" =:_-#", text.substr(digits, 1))) ++digits;
    if (digits < text.size() && text[digits] == ' ') ++digits;
    RankField field;
    const auto [end, error] =
        std::from_chars(text.data() + digits, text.data() + text.size(), field.rank);
    if (error != std::errc() || field.rank < 0 || field.rank >= kMostRanksInHeads) continue;
    field.end = EndOfField(text, static_cast<size_t>(end - text.data()));
    if (field.end != 0) return field;
  }
  return std::nullopt;
}

// The bytes of a level and of what sets it apart: "[INFO] ", "INFO | ", "INFO - ", "INFO: "; 0 when
// there is none.
size_t LevelBefore(std::string_view text) {
  constexpr std::array<std::string_view, 8> kLevels = {"DEBUG", "INFO",     "WARNING", "WARN",
                                                       "ERROR", "CRITICAL", "FATAL",   "SUCCESS"};
  const bool bracket = text.starts_with('[');
  const size_t begin = bracket ? 1 : 0;
  for (const std::string_view level : kLevels) {
    if (!text.substr(begin).starts_with(level)) continue;
    size_t end = begin + level.size();
    while (end < text.size() && text[end] == ' ') ++end;
    const bool closes = end < text.size() && Contains("]|-:", text.substr(end, 1));
    if (closes) return end + 1;
  }
  return 0;
}

// PyTorch's own "[PG ID 0 PG GUID 0(default_pg) Rank 1]" counts inside a group.
bool IsOfGroups(std::string_view text) {
  return Contains(text, "ProcessGroup") || Contains(text, "PG GUID") || Contains(text, "[Rank ");
}

}  // namespace

bool HasRankHeads(std::string_view head, const PrefixStyle& style) {
  constexpr size_t kFewest = 4, kLooked = 256;
  size_t lines = 0, marked = 0;
  std::set<int32_t> ranks;
  LineSplitter splitter(head);
  for (std::string_view line; lines < kLooked && splitter.Next(line);) {
    const PeeledLine peeled = PeelPrefixes(line, style);
    const std::string_view text = peeled.text;
    const bool counts = !Trimmed(text).empty() && text[0] != ' ' && text[0] != '\t' &&
                        peeled.rank == kNone32 && !text.starts_with("Traceback");
    if (!counts) continue;
    ++lines;
    const auto field =
        IsOfGroups(text.substr(0, kLongestHead)) ? std::nullopt : FindRankField(text);
    if (!field) continue;
    ++marked;
    ranks.insert(field->rank);
  }
  return marked >= kFewest && marked * 10 >= lines * 6 && ranks.size() * 2 <= marked;
}

bool TakeRankHead(PeeledLine& line) {
  const auto field =
      IsOfGroups(line.text.substr(0, kLongestHead)) ? std::nullopt : FindRankField(line.text);
  if (!field) return false;
  const int64_t time = ParseIsoTime(line.text.substr(line.text.starts_with('[') ? 1 : 0));
  if (line.time_ns == kNone64) line.time_ns = time;
  line.rank = field->rank;
  std::string_view rest = line.text.substr(field->end);
  for (int parts = 0; parts < 2; ++parts) {
    const size_t blank = rest.starts_with(' ') ? 1 : 0;
    const size_t level = LevelBefore(rest.substr(blank));
    if (level == 0) break;
    rest.remove_prefix(blank + level);
  }
  const std::string_view head = line.text.substr(0, line.text.size() - rest.size());
  line.is_error = Contains(head, "ERROR") || Contains(head, "CRITICAL") || Contains(head, "FATAL");
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  line.text = rest;
  return true;
}

}  // namespace debrief

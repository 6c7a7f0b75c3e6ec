#include "outputs/store/text_column.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "base/text/escape.h"

namespace debrief::outputs::store {

namespace {

constexpr uint32_t kNoCode = UINT32_MAX;
// Below one vector of DuckDB a column costs nothing either way.
constexpr size_t kMinRows = 2048;
// Codes of 16 bits, and members that must be read whenever the store is opened.
constexpr size_t kMaxMembers = 65535;
constexpr size_t kMaxMemberBytes = size_t{8} << 20;
// Fewer repetitions than this and the members are most of the column.
constexpr size_t kMinRepeats = 4;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsClean(std::string_view text) {
  return text.find('\0') == std::string_view::npos &&
         simdjson::validate_utf8(text.data(), text.size());
}

bool AppendClean(std::string_view text, std::string& out) {
  if (IsClean(text)) {
    out += text;
    return true;
  }
  for (char c : ValidUtf8(text)) {
    c == '\0' ? out += kReplacement : out += c;
  }
  return false;
}

size_t PoolSize(const Pools& pools, ColumnType type) {
  switch (type) {
    case ColumnType::kList:
      return pools.lists.size();
    case ColumnType::kStack:
      return pools.stack_count();
    default:
      return pools.strings.size();
  }
}

}  // namespace

TextColumn::TextColumn(const Pools& pools, ColumnType type, std::span<const uint32_t> ids)
    : pools_(pools), type_(type) {
  if (ids.size() < kMinRows || !Number(ids, std::min(kMaxMembers, ids.size() / kMinRepeats)))
    return;
  size_t bytes = 0;
  std::vector<std::string> members;
  std::unordered_map<std::string, uint32_t> seen;
  for (uint32_t id : distinct_) {
    std::string text;
    // Two different broken texts may read the same once replaced, and members must be distinct.
    if (!AppendText(id, text)) return;
    bytes += text.size();
    if (bytes > kMaxMemberBytes) return;
    // Stacks that differ in what their text leaves out are one member.
    auto [found, is_new] = seen.try_emplace(text, static_cast<uint32_t>(members.size()));
    codes_[id] = found->second;
    if (is_new) members.push_back(std::move(text));
  }
  members_ = std::move(members);
}

bool TextColumn::Number(std::span<const uint32_t> ids, size_t limit) {
  codes_.assign(PoolSize(pools_, type_), kNoCode);
  for (uint32_t id : ids) {
    if (id == 0 || codes_[id] != kNoCode) continue;
    if (distinct_.size() == limit) return false;
    codes_[id] = static_cast<uint32_t>(distinct_.size());
    distinct_.push_back(id);
  }
  return true;
}

bool TextColumn::AppendText(uint32_t id, std::string& out) const {
  if (type_ == ColumnType::kString) return AppendClean(pools_.Text(StringId{id}), out);
  if (type_ == ColumnType::kList) {
    fmt::format_to(std::back_inserter(out), "[{}]", fmt::join(pools_.lists.Get(ListId{id}), ", "));
    return true;
  }
  std::string raw;
  AppendStack(StackId{id}, raw);
  return AppendClean(raw, out);
}

void TextColumn::AppendStack(StackId id, std::string& out) const {
  for (FrameId frame_id : pools_.GetStack(id)) {
    const Frame& frame = pools_.GetFrame(frame_id);
    if (!out.empty()) out += '\n';
    size_t start = out.size();
    fmt::format_to(std::back_inserter(out), "{}:{} {}", pools_.Text(frame.file), frame.line,
                   pools_.Text(frame.function));
    std::replace(out.begin() + static_cast<ptrdiff_t>(start), out.end(), '\n', ' ');
  }
}

std::string DecodeExpression(ColumnType type, const std::string& name) {
  switch (type) {
    case ColumnType::kString:
      return fmt::format("CAST({0} AS VARCHAR) AS {0}", name);
    case ColumnType::kList:
      return fmt::format("CAST(CAST({0} AS VARCHAR) AS BIGINT[]) AS {0}", name);
    case ColumnType::kStack:
      return fmt::format(
          "CASE WHEN {0} = '' THEN CAST([] AS VARCHAR[]) "
          "ELSE string_split(CAST({0} AS VARCHAR), chr(10)) END AS {0}",
          name);
    default:
      return name;
  }
}

}  // namespace debrief::outputs::store

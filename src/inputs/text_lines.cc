#include "inputs/text_lines.h"

#include <algorithm>
#include <string>

#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief::inputs {

namespace {

void AppendCut(std::string_view piece, std::string& line) {
  if (line.size() < kLongestLine) line += piece.substr(0, kLongestLine - line.size());
}

}  // namespace

Status ForEachLine(const Source& source, uint64_t window_bytes, const OnLine& on_line) {
  std::string open;  // the line that the last window did not end
  bool is_open = false;
  int64_t number = 0;
  auto give = [&](std::string_view line) {
    line = line.substr(0, kLongestLine);
    if (line.ends_with('\r')) line.remove_suffix(1);
    on_line(line, ++number);
  };
  for (uint64_t begin = 0; begin < source.size(); begin += window_bytes) {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(begin, window_bytes));
    if (bytes.size() == 0) break;
    LineSplitter lines(bytes.text());
    for (std::string_view line; lines.Next(line);) {
      bool ends = lines.terminated();
      if (is_open || !ends) AppendCut(line, open);
      if (ends) give(is_open ? std::string_view(open) : line);
      if (ends) open.clear();
      is_open = !ends;
    }
  }
  if (is_open) give(open);
  return {};
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = Trimmed(line); !line.empty(); line = Trimmed(line)) {
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
  return words;
}

int64_t TimeInName(std::string_view name) {
  constexpr size_t kSize = 15;  // 20261115_232140
  for (size_t at = 0; at + kSize <= name.size(); ++at) {
    std::string stamp(name.substr(at, kSize));
    if (stamp[8] != '_' || std::count_if(stamp.begin(), stamp.end(), IsDigit) != kSize - 1)
      continue;
    for (size_t colon : {13U, 11U}) stamp.insert(colon, 1, ':');
    for (size_t dash : {6U, 4U}) stamp.insert(dash, 1, '-');
    return ParseIsoTime(stamp);
  }
  return kNone64;
}

TextReader::TextReader(const ImportContext& context)
    : who_(context.who),
      time_ns_(TimeInName(FileName(context.path))),
      window_bytes_(context.chunk_bytes) {}

Result<bool> TextReader::IsJsonObject(const Source& source) {
  ASSIGN_OR_RETURN(ByteView head, source.View(0, 4096));
  return Trimmed(head.text()).starts_with('{');
}

Status TextReader::ReadJson(const Source& source, ByteRange range, const JsonRules& rules,
                            Part& part, const std::function<Status(std::string_view)>& read) const {
  if (range.size() > rules.most_bytes) {
    part.diagnostics.Add(rules.too_long, who_.input, {});
    return {};
  }
  ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
  const Status status = read(bytes.text());
  if (!status.ok()) {
    part.diagnostics.Add(rules.bad_json, who_.input,
                         {.offset = status.place().offset, .detail = status.message()});
  }
  return {};
}

}  // namespace debrief::inputs

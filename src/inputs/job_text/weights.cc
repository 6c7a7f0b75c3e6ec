#include "inputs/job_text/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/job_text/compile_lines.h"
#include "inputs/job_text/fields.h"
#include "tables/output_weight.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kLongestShape = 160;
constexpr size_t kMostShapes = 1 << 16;
constexpr size_t kMostNames = 1 << 14;
constexpr size_t kMostWritten = 100;  // of each division

// Who wrote a line.
struct LineWriter {
  std::string logger;
  std::string source;  // empty: not told
};

// "torch._dynamo" of torch/_dynamo/variables/tensor.py; "ProcessGroupNCCL.cpp" as it is.
std::string LoggerOfFile(std::string_view file) {
  const size_t first = file.find('/');
  if (first == std::string_view::npos) return std::string(file);
  std::string logger(file.substr(0, file.find('/', first + 1)));
  std::ranges::replace(logger, '/', '.');
  return logger;
}

// "train.py:322: UserWarning: text": the class of the warning, and where it was given.
bool ParseWarning(std::string_view text, LineWriter& writer) {
  const size_t end = text.find("Warning: ");
  if (end == std::string_view::npos || text[0] == ' ') return false;
  const size_t begin = text.rfind(": ", end);
  if (begin == std::string_view::npos) return false;
  const std::string_view place = text.substr(0, begin);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == place.size() || !IsDigit(place[colon + 1]))
    return false;
  writer = {std::string(text.substr(begin + 2, end + 7 - begin - 2)), std::string(place)};
  return true;
}

LineWriter WriterOf(std::string_view text) {
  LineWriter writer;
  if (const auto line = ParseCompileLine(text); line && line->line != kNone32) {
    return {line->artifact.empty() ? LoggerOfFile(line->file) : std::string(line->artifact),
            fmt::format("{}:{}", line->file, line->line)};
  } else if (line) {
    return {std::string(line->artifact.empty() ? line->file : line->artifact),
            std::string(line->file)};
  }
  const bool may_be_log = text.size() > 20 && (text[5] == ' ' || text[6] == ' ');
  if (auto header = may_be_log ? ParseLogHeader(text) : std::nullopt)
    return {LoggerOfFile(header->file), fmt::format("{}:{}", header->file, header->line)};
  if (ParseWarning(text, writer)) return writer;
  for (std::string_view nccl : {"NCCL INFO", "NCCL WARN", "NCCL TRACE"}) {
    if (Contains(text.substr(0, 120), nccl)) return {std::string(nccl), ""};
  }
  return {"no logger", ""};
}

// The text without its numbers: "step # loss #.#". What stands in the head of a log is no text.
void MakeShape(std::string_view text, std::string& shape) {
  shape.clear();
  if (auto header = ParseLogHeader(text)) text = header->message;
  for (size_t i = 0; i < text.size() && shape.size() < kLongestShape; ++i) {
    if (!IsDigit(text[i])) {
      shape += text[i];
    } else if (shape.empty() || shape.back() != '#') {
      shape += '#';
    }
  }
}

}  // namespace

void LineWeights::Count(std::string_view name, const Weight& weight, Names& names) {
  auto found = names.find(name);
  if (found == names.end())
    found = names.emplace(names.size() < kMostNames ? name : "others", Weight()).first;
  found->second += weight;
}

void LineWeights::Add(std::string_view raw, std::string_view text) {
  const Weight weight = {.lines = 1, .bytes = static_cast<int64_t>(raw.size()) + 1};
  const LineWriter writer = WriterOf(text);
  Count(writer.logger, weight, loggers_);
  if (!writer.source.empty()) Count(writer.source, weight, sources_);
  std::string shape;
  MakeShape(text, shape);
  Shape& of = shapes_[std::hash<std::string_view>()(shape)];
  if (of.weight.lines == 0) of.text = std::move(shape), of.first = lines_;
  of.weight += weight;
  ++lines_;
  bytes_ += weight.bytes;
}

// New shapes in the order in which they were met, so that those that find no place any more are the
// same for ranges of any size.
void LineWeights::Join(const LineWeights& next) {
  for (const auto& [name, weight] : next.loggers_) Count(name, weight, loggers_);
  for (const auto& [name, weight] : next.sources_) Count(name, weight, sources_);
  std::vector<std::pair<int64_t, uint64_t>> unknown;
  for (const auto& [hash, shape] : next.shapes_) {
    if (auto found = shapes_.find(hash); found != shapes_.end()) {
      found->second.weight += shape.weight;
    } else {
      unknown.emplace_back(shape.first, hash);
    }
  }
  std::ranges::sort(unknown);
  for (const auto& [first, hash] : unknown) {
    const Shape& shape = next.shapes_.at(hash);
    if (shapes_.size() < kMostShapes) {
      shapes_[hash] = {shape.text, lines_ + shape.first, shape.weight};
    } else {
      others_ += shape.weight;
    }
  }
  others_ += next.others_;
  lines_ += next.lines_;
  bytes_ += next.bytes_;
}

void LineWeights::Write(const Identity& who, Part& part) const {
  using Row = std::pair<std::string_view, Weight>;
  auto write = [&](std::string_view divided_by, std::vector<Row> rows) {
    std::ranges::sort(rows, [](const Row& a, const Row& b) {
      return a.second.bytes != b.second.bytes ? a.second.bytes > b.second.bytes : a.first < b.first;
    });
    if (rows.size() > kMostWritten) rows.resize(kMostWritten);
    for (const auto& [name, weight] : rows) {
      auto row = Part::RowOf<OutputWeightRow>(who);
      row.input = who.input;
      row.divided_by = part.pools.Intern(divided_by);
      row.name = part.pools.Intern(name);
      row.lines = weight.lines;
      row.bytes = weight.bytes;
      part.tables.Edit<OutputWeightTable>().Add(row);
    }
  };
  write("logger", {loggers_.begin(), loggers_.end()});
  write("source", {sources_.begin(), sources_.end()});
  std::vector<Row> lines;
  for (const auto& [hash, shape] : shapes_) lines.emplace_back(shape.text, shape.weight);
  write("line", std::move(lines));
}

}  // namespace debrief::inputs::job_text

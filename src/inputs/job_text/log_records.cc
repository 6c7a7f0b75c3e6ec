#include "inputs/job_text/log_records.h"

#include <algorithm>
#include <array>

#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/job_text/fields.h"
#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/line_texts.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kLongestTold = 64 << 10;
constexpr size_t kMostRecords = 1 << 18;
constexpr size_t kMostRecordBytes = 64 << 20;
constexpr std::array<std::string_view, 6> kTold = {
    "recompiles", "recompiles_verbose", "graph_breaks", "cudagraphs", "perf_hints", "dynamic"};

// Every line repeats the artifact.
std::string WithoutArtifacts(std::string_view message) {
  std::string text;
  while (!message.empty()) {
    std::string_view line = TakeLine(message);
    TakeArtifact(line);
    text += line;
    if (!message.empty()) text += '\n';
  }
  return text;
}

}  // namespace

size_t LongestRecord(std::string_view message) {
  const std::string_view artifact = TakeArtifact(message);
  return std::ranges::find(kTold, artifact) != kTold.end() ? kLongestTold : kMaxText;
}

void LogRecords::Add(std::string_view text, int64_t line, int64_t lines, uint32_t stream,
                     int64_t now_ns, Pools& pools) {
  auto header = ParseLogHeader(text);
  auto message = header ? ParseCompileMessage(header->message) : std::nullopt;
  if (!message) return;
  if (records_.size() >= kMostRecords) {
    ++dropped_;
    return;
  }
  std::string_view rest = message->text;
  const std::string_view artifact = TakeArtifact(rest);
  const size_t longest = bytes_ < kMostRecordBytes ? LongestRecord(message->text) : kMaxTail;
  std::string said = WithoutArtifacts(message->text.substr(0, longest));
  bytes_ += said.size();
  auto row = Part::RowOf<TorchLogRow>(who_);
  row.input = who_.input;
  row.line = line;
  row.time_ns = GuessTime(header->time, now_ns);
  row.pid = header->pid;
  row.level = pools.Intern({&header->level, 1});
  if (!message->id.empty()) row.compile_id = pools.Intern(message->id);
  if (!artifact.empty()) row.artifact = pools.Intern(artifact);
  row.file = pools.Intern(header->file);
  row.file_line = header->line;
  row.lines = lines;
  row.text = pools.Intern(DropHalf(said));
  records_.push_back({row, stream});
}

void LogRecords::Write(const std::function<int32_t(uint32_t)>& rank_of,
                       const std::function<int32_t(int64_t)>& attempt_of, Part& part) {
  std::ranges::stable_sort(records_, {}, [](const Record& record) { return record.row.line; });
  for (Record& record : records_) {
    record.row.rank = rank_of(record.stream);
    record.row.attempt = attempt_of(record.row.line);
    part.tables.Edit<TorchLogTable>().Add(record.row);
  }
}

}  // namespace debrief::inputs::job_text

#include "inputs/job_text/log_records.h"

#include <algorithm>
#include <array>

#include "inputs/job_text/compile_lines.h"
#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/line_texts.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kLongestTold = 64 << 10;
constexpr size_t kMostRecords = 1 << 18;
constexpr size_t kMostRecordBytes = 64 << 20;
constexpr std::array<std::string_view, 6> kTold = {
    "recompiles", "recompiles_verbose", "graph_breaks", "cudagraphs", "perf_hints", "dynamic"};

}  // namespace

size_t LongestRecord(std::string_view artifact, std::string_view text) {
  // The exception stands behind a traceback of dozens of frames.
  const bool is_told = artifact.empty() ? text.starts_with("WON'T CONVERT ")
                                        : std::ranges::find(kTold, artifact) != kTold.end();
  return is_told ? kLongestTold : kMaxText;
}

void LogRecords::Add(std::string_view text, int64_t line, int64_t lines, uint32_t stream,
                     int64_t now_ns, Pools& pools) {
  const auto said = ParseCompileLine(text);
  if (!said) return;
  if (records_.size() >= kMostRecords) {
    ++dropped_;
    return;
  }
  const size_t longest =
      bytes_ < kMostRecordBytes ? LongestRecord(said->artifact, said->text) : kMaxTail;
  const std::string_view kept = said->text.substr(0, longest);
  bytes_ += kept.size();
  auto row = Part::RowOf<TorchLogRow>(who_);
  row.input = who_.input;
  row.line = line;
  row.time_ns = said->Time(now_ns);
  row.pid = said->pid;
  row.level = pools.Intern({&said->level, 1});
  if (!said->id.empty()) row.compile_id = pools.Intern(said->id);
  if (!said->artifact.empty()) row.artifact = pools.Intern(said->artifact);
  row.file = pools.Intern(said->file);
  row.file_line = said->line;
  row.lines = lines;
  row.text = pools.Intern(DropHalf(kept));
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

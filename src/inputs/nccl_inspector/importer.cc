// Files of NCCL Inspector, the profiler plug-in that comes with NCCL: one JSON object for each
// operation that completed, or means in Prometheus' text format. docs/formats/nccl_inspector.md
//
//   {"header":{"id":"0xad56","rank":1,"n_ranks":8,"nnodes":1},"metadata":{"hostname":"n1","pid":48,
//     ...},"coll_perf":{"coll":"AllReduce","coll_sn":8995,"coll_msg_size_bytes":2360832,
//     "coll_exec_time_us":563,"coll_timing_source":"kernel_gpu","coll_busbw_gbs":5.55}}
#include "inputs/importer.h"

#include <array>
#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "inputs/nccl_inspector/records.h"
#include "inputs/records/prometheus_text.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/nccl_perf.h"

namespace debrief::inputs::nccl_inspector {

namespace {

constexpr DiagnosticKind kInspectorLine = {
    "nccl_inspector.bad_line", Severity::kWarning, "a line is no record; left out",
    "Look at the line: the job may have ended inside of it."};

bool IsRecord(const JsonOutline& json) {
  const bool about_op = json.Has("coll_perf.coll") || json.Has("p2p_perf.p2p");
  return json.Has("metadata.inspector_output_format_version") ||
         (json.Has("header.id") && json.Has("header.n_ranks") && about_op);
}

Recognition Sniff(const SniffInput& input) {
  if (input.json == nullptr) {
    return {.mine = LooksLikeText(input.head) && FirstMetric(input.head).starts_with("nccl_")};
  }
  if (!IsRecord(*input.json)) return {};
  Recognition found{.mine = true};
  if (const auto host = input.json->Scalar("metadata.hostname")) found.host = *host;
  found.pid = input.json->Integer("metadata.pid").value_or(kNone64);
  return found;
}

class InspectorReader final : public TextReader {
 public:
  using TextReader::TextReader;

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    (void)range;
    JsonReader json;
    std::unordered_map<std::string, NcclPerfRow> means;
    std::vector<std::string> order;
    TRY(ForEachLine(source, [&](std::string_view line, int64_t number) {
      line = Trimmed(line);
      if (line.empty() || line.front() == '#') return;
      bool read = false;
      if (line.front() == '{') {
        read = AddRecord(json, line, number, part);
      } else if (const auto metric = ParseMetricLine(line)) {
        read = true;
        AddMean(*metric, number, means, order, part);
      }
      if (!read) part.diagnostics.Add(kInspectorLine, who_.input, {.line = number});
    }));
    for (const std::string& key : order) {
      const NcclPerfRow& row = means.at(key);
      if (row.duration_ns != kNone64 || !std::isnan(row.bus_gbs))
        part.tables.Edit<NcclPerfTable>().Add(row);
    }
    return {};
  }

 private:
  bool AddRecord(JsonReader& json, std::string_view text, int64_t number, Part& part) const {
    if (!json.OpenCopy(text).ok()) return false;
    auto record = ReadRecord(json.root(), who_, part.pools);
    if (!record.ok()) return false;
    if (!record.value()) return true;  // dump_stats
    NcclPerfRow row = *record.value();
    row.line = number;
    part.tables.Edit<NcclPerfTable>().Add(row);
    return true;
  }

  // Bandwidth and time of one mean are lines of their own.
  void AddMean(const MetricLine& metric, int64_t number,
               std::unordered_map<std::string, NcclPerfRow>& means, std::vector<std::string>& order,
               Part& part) const {
    std::string key = KeyOfMetric(metric);
    auto [entry, is_new] = means.try_emplace(key, Part::RowOf<NcclPerfRow>(who_));
    if (is_new) entry->second.line = number;
    if (FillFromMetric(metric, entry->second, part.pools) && is_new)
      order.push_back(std::move(key));
  }
};

constexpr std::array<std::string_view, 1> kMakes = {"nccl_perf"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "nccl_inspector",
               .sentence = "NCCL Inspector: time and bandwidth of each collective of a process",
               .example = "node1-pid4711.log",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<InspectorReader>};
  return kImporter;
}

}  // namespace debrief::inputs::nccl_inspector

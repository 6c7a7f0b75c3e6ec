// Values of GPUs and hosts out of Prometheus: answers of its HTTP API (JSON), series as
// VictoriaMetrics exports them (JSON, one a line), and what an exporter shows (text).
// docs/formats/prometheus.md
//
//   {"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":
//     "DCGM_FI_DEV_SM_CLOCK","gpu":"0","Hostname":"n1"},"values":[[1763167929,"1980"], ...]}]}}
#include "inputs/importer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "inputs/records/host_metrics.h"
#include "inputs/records/prometheus_text.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/host_sample.h"

namespace debrief::inputs::prometheus {

namespace {

constexpr DiagnosticKind kPrometheusJson = {
    "prometheus.bad_json", Severity::kError,
    "the JSON of an answer is broken; the series that are whole are kept",
    "Export it again: /api/v1/query_range answers in JSON."};
constexpr DiagnosticKind kPrometheusLong = {
    "prometheus.too_long", Severity::kWarning, "an answer in JSON is longer than 1 GB; not read",
    "Export less at once: fewer metrics, or a larger step."};
constexpr DiagnosticKind kPrometheusLine = {"prometheus.bad_line", Severity::kWarning,
                                            "a line is no sample; left out",
                                            "Look at the line: it may be cut."};
constexpr uint64_t kMostAnswer = 1 << 30;

// What the labels of a series say about its subject. Exporters and scrapers name things
// differently.
struct Labels {
  std::string name;
  std::string host, instance;
  std::string gpu, device, uuid, bus_id;
  std::string clock;  // which one, of a series about several

  void Set(std::string_view key, std::string_view value) {
    constexpr std::array<std::string_view, 7> kHosts = {
        "Hostname", "hostname", "node", "nodename", "host", "kubernetes_node", "exported_hostname"};
    for (std::string_view name_of_host : kHosts) {
      if (key == name_of_host && host.empty()) host = value;
    }
    if (key == "__name__") name = value;
    if (key == "instance") instance = value;
    if (key == "gpu" || key == "gpu_id" || key == "minor_number" || (key == "index" && gpu.empty()))
      gpu = value;
    if (key == "device" && StartsWithAny(value, {"nvidia", "card"})) device = value;
    if (key == "clock_type") clock = value;
    if (key == "UUID" || key == "uuid" || key == "gpu_uuid") uuid = value;
    if (key == "pci_bus_id" || key == "bus_id") bus_id = value;
  }

  // "10.0.0.2:9400" is the host 10.0.0.2 and the port of its exporter.
  HostSeries::Subject Subject() const {
    const std::string_view address = std::string_view(instance).substr(0, instance.rfind(':'));
    // As some write it: GPU3, nvidia3.
    std::string_view number = gpu.empty() ? std::string_view(device) : std::string_view(gpu);
    while (!number.empty() && IsAlphabetic(number.front())) number.remove_prefix(1);
    return {.host = host.empty() ? address : std::string_view(host),
            .gpu = RankOrNone(ParseNumber<int64_t>(number)),
            .uuid = uuid,
            .bus_id = bus_id};
  }

  // Of AMD's clocks that of the system is the one of the compute units.
  bool IsOtherClock() const { return !clock.empty() && !clock.ends_with("SYSTEM"); }
};

// A rule that records a metric keeps its name between colons: "instance:DCGM_FI_DEV_SM_CLOCK:avg".
std::string_view MetricName(std::string_view name) {
  const bool is_rule = Contains(name, ":") && HostMetricOf(name).name.empty();
  const std::string_view recorded = is_rule ? HostMetricInName(name) : std::string_view();
  return recorded.empty() ? name : recorded;
}

bool IsAnswer(const JsonOutline& json) {
  return json.Scalar("status") == "success" && json.Has("data.resultType");
}

bool IsExportedSeries(const JsonOutline& json) {
  return json.Has("metric.__name__") && json.Has("values") && json.Has("timestamps");
}

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr)
    return {.mine = IsAnswer(*input.json) || IsExportedSeries(*input.json)};
  if (!LooksLikeText(input.head)) return {};
  const std::string_view first = FirstMetric(input.head);
  const bool described = HasWord(input.head, "# TYPE ") || HasWord(input.head, "# HELP ");
  const bool known = described || (Contains(first, "_") && !HostMetricOf(first).name.empty());
  // NCCL Inspector writes this format, too.
  return {.mine = !first.empty() && known && !first.starts_with("nccl_")};
}

// [1763167929.5, "1980"]
struct Pair {
  int64_t time_ns = kNone64;
  std::optional<double> value;
};

std::optional<double> ReadNumber(JsonValue value) {
  if (value.kind() == JsonKind::kNumber) return value.Double();
  std::string_view text = value.String().value_or("");
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseNumber<double>(text);
}

Result<Pair> ReadPair(JsonValue value) {
  Pair pair;
  int position = 0;
  TRY(value.ForEachElement([&](JsonValue element) {
    if (position == 0) pair.time_ns = MetricTimeNs(element.Double().value_or(0));
    if (position == 1) pair.value = ReadNumber(element);
    ++position;
  }));
  return pair;
}

// One series, whatever order its fields have.
struct Series {
  Labels labels;
  std::vector<Pair> pairs;
  // As exports have them, in lists of their own.
  std::vector<std::optional<double>> values;
  std::vector<int64_t> times_ns;

  Status Take(std::string_view key, JsonValue field) {
    if (key == "metric" && field.kind() == JsonKind::kObject) {
      return field.ForEachField([&](std::string_view label, JsonValue text) {
        labels.Set(label, text.String().value_or(""));
      });
    }
    if (field.kind() != JsonKind::kArray) return {};
    if (key == "value") return Add(field);
    if (key == "values") {
      return field.ForEachElement([&](JsonValue each) {
        if (each.kind() == JsonKind::kArray) return Add(each);
        values.push_back(ReadNumber(each));
        return Status();
      });
    }
    if (key != "timestamps") return {};
    return field.ForEachElement([&](JsonValue time) {
      constexpr double kMilli = 1e-3;
      times_ns.push_back(MetricTimeNs(time.Double().value_or(0) * kMilli));
    });
  }

  // `metric`: what it is where it has no name of its own.
  void Flush(const Identity& who, std::string_view metric, Part& part) const {
    const std::string_view name = labels.name.empty() ? metric : MetricName(labels.name);
    if (name.empty() || labels.IsOtherClock()) return;
    HostSeries series(who, labels.Subject(), name, part);
    for (const Pair& pair : pairs) {
      if (pair.value) series.Add(pair.time_ns, *pair.value);
    }
    for (size_t i = 0; i < std::min(values.size(), times_ns.size()); ++i) {
      if (values[i]) series.Add(times_ns[i], *values[i]);
    }
  }

 private:
  Status Add(JsonValue value) {
    ASSIGN_OR_RETURN(const Pair pair, ReadPair(value));
    pairs.push_back(pair);
    return {};
  }
};

class PrometheusReader final : public TextReader {
 public:
  explicit PrometheusReader(const ImportContext& context)
      : TextReader(context), metric_(HostMetricInName(FileName(context.path))) {}

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(const bool is_json, IsJsonObject(source));
    if (is_json) {
      return ReadJson(source, range, {kMostAnswer, kPrometheusLong, kPrometheusJson}, part,
                      [&](std::string_view text) { return ReadAnswers(text, part); });
    }
    // OpenMetrics ends with this line and tells times in seconds.
    const uint64_t tail = std::min<uint64_t>(source.size(), 16);
    ASSIGN_OR_RETURN(ByteView end, source.View(source.size() - tail, tail));
    const double scale = Contains(end.text(), "# EOF") ? 1 : 1e-3;
    return ForEachLine(source, [&](std::string_view line, int64_t number) {
      ReadLine(line, number, scale, part);
    });
  }

 private:
  Status ReadAnswers(std::string_view text, Part& part) const {
    ForEachDocument(
        text, [&](std::string_view document, size_t begin) { ReadAnswer(document, begin, part); });
    return {};
  }

  void ReadAnswer(std::string_view text, size_t begin, Part& part) const {
    JsonReader reader;
    const size_t before = part.tables.Get<HostSampleTable>().size();
    Status status = reader.Open(text);
    if (status.ok()) status = ReadRoot(reader.root(), part);
    if (status.ok()) return;
    // What is cut has no last bracket, and is refused as a whole.
    if (part.tables.Get<HostSampleTable>().size() == before) ReadWholeSeries(text, part);
    const int64_t offset = std::max<int64_t>(status.place().offset, 0);
    part.diagnostics.Add(
        kPrometheusJson, who_.input,
        {.offset = static_cast<int64_t>(begin) + offset, .detail = status.message()});
  }

  // Of an answer that is cut: each series by itself.
  void ReadWholeSeries(std::string_view text, Part& part) const {
    constexpr std::string_view kSeries = "{\"metric\"";
    JsonReader reader;
    for (size_t at = text.find(kSeries); at != std::string_view::npos;) {
      const size_t next = text.find(kSeries, at + 1);
      const std::string_view series = Trimmed(text.substr(at, next - at), " \t\r\n,");
      if (reader.OpenCopy(series).ok()) (void)ReadSeries(reader.root(), part);
      at = next;
    }
  }

  // An answer, or a series.
  Status ReadRoot(JsonValue root, Part& part) const {
    Series series;
    TRY(root.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key != "data" || field.kind() != JsonKind::kObject) return series.Take(key, field);
      return field.ForEachField([&](std::string_view name, JsonValue result) -> Status {
        if (name != "result" || result.kind() != JsonKind::kArray) return {};
        return result.ForEachElement([&](JsonValue each) {
          return each.kind() == JsonKind::kObject ? ReadSeries(each, part) : Status();
        });
      });
    }));
    series.Flush(who_, metric_, part);
    return {};
  }

  Status ReadSeries(JsonValue value, Part& part) const {
    Series series;
    const Status status = value.ForEachField(
        [&](std::string_view key, JsonValue field) { return series.Take(key, field); });
    // A function over a metric (max_over_time) has no name of its own.
    series.Flush(who_, metric_, part);
    return status;
  }

  void ReadLine(std::string_view line, int64_t number, double scale, Part& part) const {
    const std::string_view trimmed = Trimmed(line);
    if (trimmed.empty() || trimmed.front() == '#') return;
    const std::optional<MetricLine> parsed = ParseMetricLine(trimmed);
    if (!parsed) {
      part.diagnostics.Add(kPrometheusLine, who_.input, {.line = number});
      return;
    }
    Labels labels;
    for (const auto& [key, value] : parsed->labels) labels.Set(key, value);
    const int64_t time_ns = parsed->time ? MetricTimeNs(*parsed->time * scale) : time_ns_;
    if (labels.IsOtherClock()) return;
    HostSeries(who_, labels.Subject(), MetricName(parsed->name), part).Add(time_ns, parsed->value);
  }

  std::string_view metric_;  // that the name of the file tells
};

constexpr std::array<std::string_view, 1> kMakes = {"host_sample"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "prometheus",
               .sentence = "Prometheus answers and exporters: clocks, temperatures, faults of GPUs",
               .example = "dcgm_range.json",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<PrometheusReader>};
  return kImporter;
}

}  // namespace debrief::inputs::prometheus

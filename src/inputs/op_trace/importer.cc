// Op traces: what a program recorded of its own ops, as one JSON document. docs/formats/op_trace.md
//
//   {"entries": [{"step": 0, "operation": "matmul", "device_id": "gpu:0", "input_shapes": [[64,
//   128]],
//                 "output_shape": [64, 10], "duration_us": 12.5, "output_elements": 640,
//                 "memory_bytes": 5120}, ...],
//    "total_duration_us": 12.5, "metadata": {"model": "tiny"}}
//
// Split finds batches of entries in one pass without parsing; Read parses a batch; Finish reads the
// keys beside the entries and compares the recorded total with the sum. The whole pattern for an
// importer.
#include "inputs/importer.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/json/array_splitter.h"
#include "base/json/cursor.h"
#include "base/json/writer.h"
#include "inputs/op_trace/diagnostics.h"
#include "inputs/op_trace/entry.h"
#include "tables/recorded_op.h"
#include "tables/recording_note.h"

namespace debrief::inputs::op_trace {

namespace {

Recognition Sniff(const SniffInput& input) {
  if (input.json == nullptr) return {};
  const JsonOutline& json = *input.json;
  bool has_ops = json.Has("entries[].operation") && !json.Has("entries[].profiling_name");
  bool is_empty_trace = json.Has("entries") && json.Has("total_duration_us");
  return {.mine = has_ops || is_empty_trace};
}

class OpTraceReader final : public Reader {
 public:
  explicit OpTraceReader(const ImportContext& context)
      : who_(context.who), chunk_bytes_(context.chunk_bytes) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    ASSIGN_OR_RETURN(split_, SplitJsonArray(source, "entries", chunk_bytes_));
    TRY(ReadOtherKeys(source));
    return split_.batches;
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    if (ReadEntries(bytes.text(), range.begin, part).ok()) return {};
    part = Part();
    return ReadOneByOne(bytes.text(), range.begin, part);
  }

  Status Finish(Part& whole) override {
    auto report = [&](const DiagnosticKind& kind, uint64_t offset, std::string detail) {
      whole.diagnostics.Add(kind, who_.input,
                            {.offset = static_cast<int64_t>(offset), .detail = std::move(detail)});
    };
    if (!split_.found) {
      report(kNoEntries, 0, "");
    } else if (!split_.closed) {
      report(kTruncated, split_.array_end, fmt::format("{} whole entries", split_.elements));
    }
    for (const auto& [key, value] : notes_) {
      auto row = Part::RowOf<RecordingNoteRow>(who_);
      row.input = who_.input;
      row.key = whole.pools.Intern(key);
      row.value = whole.pools.Intern(value);
      whole.tables.Edit<RecordingNoteTable>().Add(row);
    }
    CompareTotal(whole);
    return {};
  }

 private:
  // A Status when the JSON is broken somewhere in `text`.
  Status ReadEntries(std::string_view text, uint64_t offset, Part& part) const {
    JsonReader reader;
    TRY(reader.OpenElements(text));
    EntryParser parser(who_, offset, part);
    return reader.root().ForEachElement([&](JsonValue entry) { return parser.Add(entry); });
  }

  // The slow way, for a batch with a broken entry: each entry alone, so that only that one is lost
  // and the result does not depend on how the document was cut into batches.
  Status ReadOneByOne(std::string_view text, uint64_t offset, Part& part) const {
    auto batch = MakeMemorySource("[" + std::string(text) + "]");
    ASSIGN_OR_RETURN(JsonArraySplit split, SplitJsonArray(*batch, "", 1));
    for (ByteRange range : split.batches) {
      uint64_t begin = range.begin - 1;  // the bracket put in front
      Part entry;
      Status status = ReadEntries(text.substr(begin, range.size()), offset + begin, entry);
      if (!status.ok()) {
        entry = Part();
        entry.diagnostics.Add(
            kBadEntry, who_.input,
            {.offset = static_cast<int64_t>(offset + begin), .detail = status.message()});
      }
      part.Append(std::move(entry));
    }
    return {};
  }

  Status ReadOtherKeys(const Source& source) {
    for (const auto& [key, range] : split_.others) {
      ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
      if (key == "total_duration_us") total_us_ = ParseNumber(bytes.text());
      if (key == "metadata") ReadMetadata(bytes.text());
    }
    return {};
  }

  void ReadMetadata(std::string_view text) {
    JsonReader reader;
    if (!reader.Open(text).ok()) return;
    (void)reader.root().ForEachField([&](std::string_view key, JsonValue value) {
      if (auto string = value.String()) {
        notes_.emplace_back(key, *string);
      } else if (auto raw = value.Raw()) {
        notes_.emplace_back(key, *raw);
      }
    });
  }

  static double ParseNumber(std::string_view text) {
    JsonReader reader;
    double number = kNoDouble;
    if (!reader.OpenElements(text).ok()) return number;
    (void)reader.root().ForEachElement(
        [&](JsonValue value) { number = value.Double().value_or(kNoDouble); });
    return number;
  }

  // Any program may write the sum, so it may disagree with the entries; half a nanosecond per entry
  // is rounding.
  void CompareTotal(Part& whole) const {
    const auto& durations = whole.tables.Get<RecordedOpTable>().duration_ns;
    double sum_ns = 0;
    for (int64_t duration : durations)
      sum_ns += duration == kNone64 ? 0 : static_cast<double>(duration);
    double slack_ns = static_cast<double>(durations.size()) + std::abs(sum_ns) * 1e-9;
    bool agrees =
        std::isnan(total_us_) || !split_.closed || std::abs(total_us_ * 1000 - sum_ns) <= slack_ns;
    if (agrees) return;
    whole.diagnostics.Add(
        kTotalDisagrees, who_.input,
        {.detail = fmt::format("recorded {} us, sum {} us", total_us_, sum_ns / 1000)});
  }

  Identity who_;
  uint64_t chunk_bytes_;
  JsonArraySplit split_;
  double total_us_ = kNoDouble;
  std::vector<std::pair<std::string, std::string>> notes_;
};

std::unique_ptr<Reader> Open(const ImportContext& context) {
  return std::make_unique<OpTraceReader>(context);
}

constexpr std::array<std::string_view, 2> kMakes = {"recorded_op", "recording_note"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "op_trace",
               .sentence =
                   "op trace: ops that a program recorded of itself, with shapes, bytes and times",
               .example = "ops.json",
               .makes = kMakes},
      .sniff = Sniff,
      .open = Open};
  return kImporter;
}

}  // namespace debrief::inputs::op_trace

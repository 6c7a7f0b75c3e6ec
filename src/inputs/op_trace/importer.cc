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
#include "inputs/json_elements.h"
#include "model/model.h"
#include "tables/recorded_op.h"
#include "tables/recording_note.h"

namespace debrief::inputs::op_trace {

namespace {

constexpr DiagnosticKind kNoEntries = {"op_trace.no_entries", Severity::kError,
                                       "the document has no list of entries",
                                       "Check that the recorder finished writing the file."};
constexpr DiagnosticKind kTruncated = {
    "op_trace.truncated", Severity::kError,
    "the list of entries does not end; whole entries are kept",
    "The program was killed while writing; record to a .dbr file to lose nothing."};
constexpr DiagnosticKind kBadEntry = {
    "op_trace.bad_entry", Severity::kError,
    "an entry is not an object with an operation, or its JSON is broken; left out",
    "Look at the entry at this place."};
constexpr DiagnosticKind kNoDuration = {
    "op_trace.no_duration", Severity::kWarning,
    "an entry has no duration (null, NaN or text); kept without one",
    "The recorder wrote NaN or infinity; fix its clock."};
constexpr DiagnosticKind kOutOfRange = {
    "op_trace.out_of_range", Severity::kWarning,
    "a number is negative or does not fit 63 bits; kept as null",
    "A product of dimensions overflowed in the recorder."};
constexpr DiagnosticKind kTotalDisagrees = {
    "op_trace.total_disagrees", Severity::kWarning,
    "total_duration_us is not the sum of the entries; the sum is used",
    "Nothing is lost; the recorder's total was edited or miscounted."};

Recognition Sniff(const SniffInput& input) {
  if (input.json == nullptr) return {};
  const JsonOutline& json = *input.json;
  bool has_ops = json.Has("entries[].operation") && !json.Has("entries[].profiling_name");
  bool is_empty_trace = json.Has("entries") && json.Has("total_duration_us");
  return {.mine = has_ops || is_empty_trace};
}

// One entry: from JSON to a row.
class EntryParser {
 public:
  // Rows and diagnostics go into `part`; `offset` is where the batch begins in the source.
  EntryParser(const Identity& who, uint64_t offset, Part& part)
      : who_(who), offset_(offset), part_(part), rows_(part.tables.Edit<RecordedOpTable>()) {}

  // A Status only when the text is broken, and nothing more can be read of this batch.
  Status Add(JsonValue entry) {
    if (entry.kind() != JsonKind::kObject) {
      Report(kBadEntry, entry, "not an object");
      return {};
    }
    auto row = Part::RowOf<RecordedOpRow>(who_);
    TRY(entry.ForEachField(
        [&](std::string_view key, JsonValue value) { return AddField(key, value, row); }));
    if (row.operation == StringId::kNone) {
      Report(kBadEntry, entry, "no operation");
    } else {
      rows_.Add(row);
    }
    return {};
  }

 private:
  Status AddField(std::string_view key, JsonValue value, RecordedOpRow& row) {
    if (key == "operation") {
      if (auto name = value.String()) row.operation = part_.pools.Intern(*name);
    } else if (key == "device_id") {
      if (auto name = value.String()) row.device = part_.pools.Intern(*name);
    } else if (key == "step") {
      row.step = Count(value);
    } else if (key == "input_shapes") {
      row.input_shapes = Shapes(value);
    } else if (key == "output_shape") {
      row.output_shape = Shape(value);
    } else if (key == "duration_us") {
      row.duration_ns = Duration(value);
    } else if (key == "output_elements") {
      row.output_elements = Count(value);
    } else if (key == "memory_bytes") {
      row.memory_bytes = Count(value);
    }
    return {};
  }

  void Report(const DiagnosticKind& kind, JsonValue value, std::string detail) {
    part_.diagnostics.Add(
        kind, who_.input,
        {.offset = static_cast<int64_t>(offset_ + value.offset()), .detail = std::move(detail)});
  }

  int64_t Count(JsonValue value) {
    auto number = value.Int();
    if (number && *number >= 0) return *number;
    Report(kOutOfRange, value, std::string(value.Raw().value_or("").substr(0, 40)));
    return kNone64;
  }

  int64_t Duration(JsonValue value) {
    constexpr double kLongestUs = 9e15;  // what fits int64 nanoseconds: 285 years
    auto micros = value.Double();
    if (!micros || std::abs(*micros) > kLongestUs) {
      Report(kNoDuration, value, std::string(value.Raw().value_or("").substr(0, 40)));
      return kNone64;
    }
    return std::llround(*micros * 1000);
  }

  ListId Shape(JsonValue value) {
    dims_.clear();
    bool is_list = value.ForEachElement([&](JsonValue dim) { dims_.push_back(Count(dim)); }).ok();
    return is_list ? part_.pools.lists.Intern(dims_) : ListId::kNone;
  }

  StringId Shapes(JsonValue value) { return InternCompact(value, text_, part_.pools); }

  Identity who_;
  uint64_t offset_;
  Part& part_;
  RecordedOpTable& rows_;
  std::vector<int64_t> dims_;
  std::string text_;
};

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
    auto read = [this](std::string_view text, uint64_t offset, Part& read_part) {
      return ReadEntries(text, offset, read_part);
    };
    ReadBatch(bytes.text(), range.begin, read, kBadEntry, who_.input, part);
    return {};
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
      .open = MakeReader<OpTraceReader>};
  return kImporter;
}

}  // namespace debrief::inputs::op_trace

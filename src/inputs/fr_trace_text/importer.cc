// What torch.distributed.debug writes about collectives, as tables of text (fr_trace_*.txt): those
// that not all ranks have completed, and who is missing. docs/formats/fr_trace_text.md
//
//   === FR Trace NCCL ===
//   --- Collectives ---
//     id    group_id  pass_check      collective_seq_id  ...  collective_state    missing_ranks
//      0           0  True                           38  ...  scheduled           {2}
#include "inputs/importer.h"

#include <array>
#include <string>
#include <vector>

#include "base/text/scan.h"
#include "inputs/fr_trace_text/plain_table.h"
#include "inputs/records/partial_data.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/fr_trace_op.h"

namespace debrief::inputs::fr_trace_text {

namespace {

constexpr size_t kMostLines = 65536;  // of one table

constexpr DiagnosticKind kTooLong = {
    "fr_trace_text.too_long", Severity::kWarning,
    "a table has more than 65,536 rows; the rest of it was not read",
    "Give the Flight Recorder dumps themselves."};
constexpr DiagnosticKind kNoTable = {"fr_trace_text.no_table", Severity::kWarning,
                                     "a table of collectives has no column of sequence numbers",
                                     "The file was cut, or is of another version of PyTorch."};
constexpr DiagnosticKind kFailed = {
    "fr_trace_text.failed", Severity::kInfo,
    "the trace of collectives could not be fetched when the file was written",
    "Look at the files before it."};

bool IsTitle(std::string_view line) {
  return line.starts_with("=== ") && Contains(line, "FR Trace");
}

Recognition Sniff(const SniffInput& input) {
  // What most inputs fail at comes first.
  bool begins = IsTitle(FirstLine(input.head)) ||
                (PartialData::IsHead(input.head) && Contains(input.head, "\n=== "));
  if (input.json != nullptr || !begins || !LooksLikeText(input.head)) return {};
  bool has_table = Contains(input.head, "--- Collectives ---") ||
                   Contains(input.head, "--- Groups ---") ||
                   Contains(input.head, "Failed to fetch NCCL trace");
  return {.mine = has_table && Contains(input.head, "FR Trace")};
}

std::string_view RecorderOf(std::string_view title) {
  if (Contains(title, "TorchComms")) return "torchcomms";
  return Contains(title, "NCCL") ? "nccl" : "cpu";
}

// {0, 1, 2}, [0, 1, 2], set().
std::vector<int64_t> NumbersIn(std::string_view text) {
  std::vector<int64_t> numbers;
  for (size_t at = text.find_first_of("0123456789"); at != std::string_view::npos;
       at = text.find_first_of("0123456789", text.find_first_not_of("0123456789", at))) {
    numbers.push_back(LeadingNumber(text.substr(at), kNone64));
    if (text.find_first_not_of("0123456789", at) == std::string_view::npos) break;
  }
  return numbers;
}

class TraceReader final : public TextReader {
 public:
  explicit TraceReader(const ImportContext& context) : TextReader(context) {
    who_.rank = kNone32;  // it is about all ranks
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    (void)range;
    Open open;
    PartialData partial(who_, time_ns_);
    TRY(ForEachLine(source, [&](std::string_view line, int64_t number) {
      if (partial.Add(line, number, part)) return;
      if (IsTitle(line) || line.starts_with("--- ")) {
        AddTable(open, part);
        if (IsTitle(line)) open.recorder = RecorderOf(line);
        open.reading = line == "--- Collectives ---";
        open.first_line = number + 1;
        open.lines.clear();
      } else if (line.starts_with("Failed to fetch")) {
        part.diagnostics.Add(kFailed, who_.input, {.line = number});
      } else if (open.reading && !line.empty()) {
        if (open.lines.size() == kMostLines)
          part.diagnostics.Add(kTooLong, who_.input, {.line = number});
        if (open.lines.size() < kMostLines) open.lines.emplace_back(line);
      }
    }));
    AddTable(open, part);
    return {};
  }

 private:
  struct Open {
    std::string_view recorder = "cpu";
    bool reading = false;
    int64_t first_line = 0;
    std::vector<std::string> lines;
  };

  void AddTable(const Open& open, Part& part) const {
    if (!open.reading || open.lines.empty()) return;
    if (!Contains(open.lines[0], "collective_seq_id")) {
      part.diagnostics.Add(kNoTable, who_.input, {.line = open.first_line});
      return;
    }
    PlainTable table(open.lines);
    for (size_t i = 1; i < open.lines.size(); ++i) {
      auto row = Part::RowOf<FrTraceOpRow>(who_);
      row.input = who_.input;
      row.line = open.first_line + static_cast<int64_t>(i);
      row.time_ns = time_ns_;
      row.recorder = part.pools.Intern(open.recorder);
      FillRow(table, i, part.pools, row);
      part.tables.Edit<FrTraceOpTable>().Add(row);
    }
  }

  static void FillRow(const PlainTable& table, size_t i, Pools& pools, FrTraceOpRow& row) {
    auto word = [&](std::string_view name) {
      std::string_view cell = table.Cell(i, name);
      return cell.empty() || cell == "[]" ? StringId::kNone : pools.Intern(cell);
    };
    auto ranks = [&](std::string_view name) {
      std::vector<int64_t> numbers = NumbersIn(table.Cell(i, name));
      return numbers.empty() ? ListId::kNone : pools.lists.Intern(numbers);
    };
    row.group_name = word("group_id");
    std::string_view desc = table.Cell(i, "pg_desc");
    row.group_desc = pools.Intern(desc.substr(desc.find(':') + 1));
    row.seq = LeadingNumber(table.Cell(i, "collective_seq_id"), kNone64);
    row.p2p_seq = LeadingNumber(table.Cell(i, "p2p_seq_id"), kNone64);
    std::string_view op = table.Cell(i, "collective_name");
    row.op = pools.Intern(op.substr(op.find(':') + 1));
    row.state = word("collective_state");
    row.input_sizes = word("input_sizes");
    row.output_sizes = word("output_sizes");
    row.expected = ranks("expected_ranks");
    row.missing = ranks("missing_ranks");
    row.mismatch = word("type_of_mismatch");
  }
};

constexpr std::array<std::string_view, 2> kMakes = {"fr_trace_op", "debug_no_answer"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "fr_trace_text",
               .sentence = "collectives that hang, as torch.distributed.debug writes them",
               .example = "fr_trace_20261115_232140.txt",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<TraceReader>};
  return kImporter;
}

}  // namespace debrief::inputs::fr_trace_text

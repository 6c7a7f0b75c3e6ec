// Files of torch.distributed.debug that are no stacks and no collectives: wait counters of all
// ranks and the keys of the TCPStore. docs/formats/torch_debug.md
//
//   === Rank 0: http://n07:41233/handler/wait_counter_values? ===
//   {
//     "pytorch.ProcessGroupNCCL__Watchdog__run": {
//       "active_count": 1,
//
//   default_pg/0//cuda//0//0: b'\x01\x00...'
#include "inputs/importer.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/json/cursor.h"
#include "base/text/columns.h"
#include "base/text/strings.h"
#include "inputs/records/partial_data.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/debug_no_answer.h"
#include "tables/store_key.h"
#include "tables/wait_counter.h"
#include "torch/stacks/stack_lines.h"

namespace debrief::inputs::torch_debug {

namespace {

constexpr size_t kMostJson = 16 << 20;  // of one rank
constexpr size_t kLongestValue = 300;

constexpr DiagnosticKind kBadJson = {
    "torch_debug.bad_json", Severity::kWarning,
    "the counters of a rank are cut or no JSON; those before that place are kept",
    "Look at the files before it."};
constexpr DiagnosticKind kNoAnswer = {
    "torch_debug.no_answer", Severity::kInfo, "a rank gave an error in place of its counters",
    "408: the process holds the GIL or is stopped; 503: it is gone."};
constexpr DiagnosticKind kBadLine = {"torch_debug.bad_line", Severity::kInfo,
                                     "a line is no key of the store; left out",
                                     "A value with a line end in it, or a cut file."};

bool IsCounters(std::string_view head) { return HasWord(head, "/handler/wait_counter_values"); }

// key: b'value'
size_t EndOfKey(std::string_view line) {
  const size_t at = std::min(line.find(": b'"), line.find(": b\""));
  return at == 0 ? std::string_view::npos : at;
}

bool IsStore(std::string_view head) {
  size_t lines = 0, keys = 0;
  while (!head.empty()) {
    const std::string_view line = FirstLine(head);
    const bool is_cut = line.size() == head.size() && lines > 0;
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (is_cut || Trimmed(line).empty()) continue;
    ++lines;
    keys += EndOfKey(line) != std::string_view::npos && !line.starts_with(' ') ? 1 : 0;
    if (lines == 1 && keys == 0) return false;
  }
  return keys > 0 && keys * 10 >= lines * 9;
}

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr || !LooksLikeText(input.head)) return {};
  const std::string_view first = FirstLine(input.head);
  const bool is_headed = first.starts_with("=== Rank ") || PartialData::IsHead(first);
  return {.mine = is_headed ? IsCounters(input.head) : IsStore(input.head)};
}

class DebugReader final : public TextReader {
 public:
  explicit DebugReader(const ImportContext& context) : TextReader(context) {
    who_.rank = kNone32;  // it is about all ranks
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    (void)range;
    constexpr uint64_t kHead = 4096;
    ASSIGN_OR_RETURN(const ByteView head, source.View(0, kHead));
    const std::string_view first = FirstLine(head.text());
    const bool is_headed = first.starts_with("=== Rank ") || PartialData::IsHead(first);
    return is_headed ? ReadCounters(source, part) : ReadStore(source, part);
  }

 private:
  struct Open {
    int32_t rank = kNone32;
    int64_t line = 0;
    std::string json;
  };

  Status ReadCounters(const Source& source, Part& part) const {
    PartialData partial(who_, time_ns_);
    Open open;
    TRY(ForEachLine(source, [&](std::string_view line, int64_t number) {
      if (partial.Add(line, number, part)) return;
      if (line.starts_with("=== ")) {
        AddCounters(open, part);
        open = {.rank = stack_lines::RankOfHeading(line), .line = number, .json = {}};
      } else if (line.starts_with("Error: ")) {
        part.diagnostics.Add(kNoAnswer, who_.input, {.line = number, .detail = std::string(line)});
      } else if (open.json.size() + line.size() < kMostJson) {
        open.json += line;
        open.json += '\n';
      }
    }));
    AddCounters(open, part);
    return {};
  }

  void AddCounters(Open& open, Part& part) const {
    if (Trimmed(open.json).empty()) return;
    JsonReader reader;
    Status status = reader.OpenCopy(open.json);
    if (status.ok()) {
      status = reader.root().ForEachField([&](std::string_view name, JsonValue value) {
        return AddCounter(name, value, open, part);
      });
    }
    if (!status.ok()) {
      part.diagnostics.Add(kBadJson, who_.input, {.line = open.line, .detail = status.message()});
    }
  }

  Status AddCounter(std::string_view name, JsonValue value, const Open& open, Part& part) const {
    if (value.kind() != JsonKind::kObject) return {};
    auto row = Part::RowOf<WaitCounterRow>(who_);
    row.rank = open.rank;
    row.input = who_.input;
    row.line = open.line;
    row.time_ns = time_ns_;
    row.name = part.pools.Intern(name);
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) {
      const int64_t number = field.Int().value_or(kNone64);
      if (key == "active_count") row.active = number;
      if (key == "total_calls") row.calls = number;
      if (key == "total_time_us") row.total_us = number;
      if (key == "max_time_us") row.longest_us = number;
    }));
    part.tables.Edit<WaitCounterTable>().Add(row);
    return {};
  }

  Status ReadStore(const Source& source, Part& part) const {
    return ForEachLine(source, [&](std::string_view line, int64_t number) {
      if (Trimmed(line).empty()) return;
      const size_t end = EndOfKey(line);
      if (end == std::string_view::npos) {
        part.diagnostics.Add(kBadLine, who_.input, {.line = number});
        return;
      }
      auto row = Part::RowOf<StoreKeyRow>(who_);
      row.input = who_.input;
      row.line = number;
      row.time_ns = time_ns_;
      row.key = part.pools.Intern(line.substr(0, end));
      row.value = part.pools.Intern(CutEnd(line.substr(end + 2), kLongestValue));
      part.tables.Edit<StoreKeyTable>().Add(row);
    });
  }
};

constexpr std::array<std::string_view, 3> kMakes = {"wait_counter", "store_key", "debug_no_answer"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "torch_debug",
               .sentence = "torch.distributed.debug: wait counters of ranks, keys of the store",
               .example = "wait_counters_20261115_232140.txt",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<DebugReader>};
  return kImporter;
}

}  // namespace debrief::inputs::torch_debug

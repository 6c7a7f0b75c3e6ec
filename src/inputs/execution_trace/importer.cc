// PyTorch execution traces (Chakra host traces): every op as a node with inputs, outputs and the
// node that encloses it. docs/formats/execution_trace.md
//
//   {"schema": "1.1.1-chakra.0.0.4", "pid": 417, "time": "2026-11-15 02:52:40", "start_ts": 53410,
//    "nodes": [{...}, {...}], "finish_ts": 53589}
//
// Nodes are cut into batches without parsing and read in parallel. Values and strides, most of the
// bytes, stay in the file: a row tells where its node stands.
#include "inputs/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/array_splitter.h"
#include "base/json/cursor.h"
#include "inputs/json_elements.h"
#include "model/diagnostics.h"
#include "model/model.h"
#include "tables/execution_node.h"
#include "tables/execution_trace.h"

namespace debrief::inputs::execution_trace {

namespace {

// A node:
//
//   {"id": 3, "name": "aten::view", "ctrl_deps": 2,
//    "inputs": {"values": [...], "shapes": [[4,256],[[],[]]], "types": [...], "strides": [...]},
//    "outputs": {...},
//    "attrs": [{"name": "rf_id", "type": "uint64", "value": 1}, ...]}
//
// Before schema 1.1 the attributes and "input_shapes", "output_types", ... stand in the node
// itself, and the enclosing node is "parent".

constexpr DiagnosticKind kTruncated = {
    "execution_trace.truncated", Severity::kError, "the trace ends too early; whole nodes are kept",
    "The observer was not stopped before the process ended, or the copy is incomplete."};
constexpr DiagnosticKind kBadNode = {"execution_trace.bad_node", Severity::kError,
                                     "a node has no id or no name, or its JSON is broken; "
                                     "left out",
                                     "Look at the node at this place."};
constexpr DiagnosticKind kNoNodes = {
    "execution_trace.no_nodes", Severity::kWarning, "the trace has no nodes",
    "Run at least one step between start() and stop() of ExecutionTraceObserver."};

using Row = ExecutionNodeRow;

template <typename T>
struct Place {
  std::string_view key;
  T Row::* column;
};
constexpr Place<int64_t> kNumbers[] = {{"id", &Row::node},
                                       {"ctrl_deps", &Row::parent},
                                       {"parent", &Row::parent},
                                       {"rf_id", &Row::rf_id},
                                       {"fw_parent", &Row::fw_parent},
                                       {"seq_id", &Row::sequence},
                                       {"tid", &Row::thread},
                                       {"fw_tid", &Row::forward_thread},
                                       {"in_msg_nelems", &Row::input_elements},
                                       {"out_msg_nelems", &Row::output_elements}};
constexpr Place<StringId> kTexts[] = {{"name", &Row::name},
                                      {"op_schema", &Row::op_schema},
                                      {"kernel_backend", &Row::kernel_backend},
                                      {"kernel_file", &Row::kernel_file},
                                      {"collective_name", &Row::collective},
                                      {"pg_name", &Row::group_name},
                                      {"pg_desc", &Row::group_desc},
                                      {"dtype", &Row::dtype}};

template <typename T>
T Row::* ColumnOf(std::span<const Place<T>> places, std::string_view key) {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const Place<T>& place) { return place.key == key; });
  return found == places.end() ? nullptr : found->column;
}

class NodeParser {
 public:
  // `text` is a batch of nodes that begins at `offset` of the input.
  NodeParser(const Identity& who, std::string_view text, uint64_t offset, Part& part)
      : who_(who),
        text_(text),
        offset_(offset),
        part_(part),
        rows_(part.tables.Edit<ExecutionNodeTable>()) {}

  // Nodes in order; Finish behind the last one.
  Status Add(JsonValue node) {
    uint64_t begin = node.offset();
    EndLast(begin);
    auto row = Part::RowOf<ExecutionNodeRow>(who_);
    row.byte_begin = static_cast<int64_t>(offset_ + begin);
    reads_.clear();
    writes_.clear();
    first_text_.clear();
    bool is_object = node.kind() == JsonKind::kObject;
    if (is_object) {
      TRY(node.ForEachField(
          [&](std::string_view key, JsonValue value) { return AddField(key, value, row); }));
    }
    if (row.node == kNone64 || row.name == StringId::kNone) {
      part_.diagnostics.Add(kBadNode, who_.input,
                            {.offset = row.byte_begin,
                             .detail = !is_object            ? "not an object"
                                       : row.node == kNone64 ? "no id"
                                                             : "no name"});
      return {};
    }
    if (!reads_.empty()) row.reads = part_.pools.lists.Intern(reads_);
    if (!writes_.empty()) row.writes = part_.pools.lists.Intern(writes_);
    if (part_.pools.Text(row.name) == "record_param_comms") CompleteCollective(row);
    rows_.Add(row);
    is_open_ = true;
    return {};
  }

  void Finish() { EndLast(text_.size()); }

 private:
  Status AddField(std::string_view key, JsonValue value, ExecutionNodeRow& row) {
    bool is_object = value.kind() == JsonKind::kObject;
    if (key == "attrs") return AddAttributes(value, row);
    if (key == "inputs" && is_object)
      return AddTensors(value, row.input_shapes, row.input_types, reads_);
    if (key == "outputs" && is_object)
      return AddTensors(value, row.output_shapes, row.output_types, writes_);
    if (key == "inputs" || key == "outputs")  // before schema 1.1
      return AddValues(value, key == "inputs" ? reads_ : writes_, 0);
    if (key == "input_shapes") row.input_shapes = Compact(value);
    if (key == "input_types") row.input_types = Compact(value);
    if (key == "output_shapes") row.output_shapes = Compact(value);
    if (key == "output_types") row.output_types = Compact(value);
    if (AddNumber(key, value.IntOrText(), row)) return {};
    if (value.kind() == JsonKind::kString) AddText(key, value.String().value_or(""), row);
    return {};
  }

  Status AddTensors(JsonValue value, StringId& shapes, StringId& types,
                    std::vector<int64_t>& tensors) {
    return value.ForEachField([&](std::string_view key, JsonValue part) -> Status {
      if (key == "values") return AddValues(part, tensors, 0);
      if (key == "shapes") shapes = Compact(part);
      if (key == "types") types = Compact(part);
      return {};
    });
  }

  // A tensor is [its id, id of its storage, offset, elements, bytes of an element, "cuda:0"]; lists
  // of tensors hold such.
  Status AddValues(JsonValue value, std::vector<int64_t>& tensors, int depth) {
    constexpr int kDeepest = 6;
    constexpr size_t kFields = 5, kMostTensors = 4096;
    if (value.kind() != JsonKind::kArray || depth > kDeepest) return {};
    std::array<int64_t, kFields> fields{};
    size_t count = 0;
    bool is_tensor = true;
    TRY(value.ForEachElement([&](JsonValue each) -> Status {
      const size_t at = count++;
      const JsonKind kind = each.kind();
      is_tensor &= at < kFields ? kind == JsonKind::kNumber : kind == JsonKind::kString;
      if (kind == JsonKind::kArray) return AddValues(each, tensors, depth + 1);
      if (at < kFields && kind == JsonKind::kNumber) fields[at] = each.Int().value_or(0);
      if (depth == 0 && kind == JsonKind::kString && first_text_.empty())
        first_text_ = each.String().value_or("");
      return {};
    }));
    if (!is_tensor || count != kFields + 1 || tensors.size() >= 2 * kMostTensors) return {};
    int64_t bytes = 0;
    if (fields[3] < 0 || __builtin_mul_overflow(fields[3], fields[4], &bytes)) bytes = 0;
    tensors.push_back(fields[1]);
    tensors.push_back(std::max<int64_t>(0, bytes));
    return {};
  }

  // Before schema 1.1 a collective is told by the values of its node alone.
  void CompleteCollective(ExecutionNodeRow& row) {
    if (row.collective == StringId::kNone && !first_text_.empty())
      row.collective = part_.pools.Intern(first_text_);
  }

  Status AddAttributes(JsonValue value, ExecutionNodeRow& row) {
    if (value.kind() != JsonKind::kArray) return {};
    return value.ForEachElement([&](JsonValue attribute) -> Status {
      if (attribute.kind() != JsonKind::kObject) return {};
      std::string_view name;
      std::string_view text;
      std::optional<int64_t> number;
      TRY(attribute.ForEachField([&](std::string_view key, JsonValue part) {
        if (key == "name") name = part.String().value_or("");
        if (key == "value") {
          number = part.IntOrText();
          if (part.kind() == JsonKind::kString) text = part.String().value_or("");
        }
      }));
      // The node's own name and id are no attributes.
      if (name == "name" || name == "id") return {};
      if (!AddNumber(name, number, row)) AddText(name, text, row);
      return {};
    });
  }

  // True when the key is one of a number, whether it has one or not.
  static bool AddNumber(std::string_view key, std::optional<int64_t> number,
                        ExecutionNodeRow& row) {
    int64_t value = number.value_or(kNone64);
    if (key == "scope") row.scope = Narrow(value);
    if (key == "pg_size") row.group_size = Narrow(value);
    if (key == "scope" || key == "pg_size") return true;
    const auto column = ColumnOf<int64_t>(kNumbers, key);
    if (column == nullptr) return false;
    bool is_none = key == "seq_id" && value == -1;
    row.*column = is_none ? kNone64 : value;
    return true;
  }

  // An empty text means that there is none.
  void AddText(std::string_view key, std::string_view text, ExecutionNodeRow& row) {
    const auto column = ColumnOf<StringId>(kTexts, key);
    if (column != nullptr && !text.empty()) row.*column = part_.pools.Intern(text);
  }

  StringId Compact(JsonValue value) { return InternCompact(value, line_, part_.pools); }

  // The last node ends with the last brace before the next one.
  void EndLast(uint64_t next) {
    if (!is_open_) return;
    is_open_ = false;
    auto begin = static_cast<uint64_t>(rows_.byte_begin.back()) - offset_;
    size_t brace = next == 0 ? std::string_view::npos : text_.rfind('}', next - 1);
    bool is_found = brace != std::string_view::npos && brace >= begin;
    rows_.bytes.back() = static_cast<int64_t>((is_found ? brace + 1 : next) - begin);
  }

  Identity who_;
  std::string_view text_;
  uint64_t offset_;
  Part& part_;
  ExecutionNodeTable& rows_;
  bool is_open_ = false;  // the last row has no length yet
  std::string line_;
  // Of the node under way.
  std::vector<int64_t> reads_, writes_;
  std::string first_text_;
};

Recognition Sniff(const SniffInput& input) {
  if (input.json == nullptr) return {};
  const JsonOutline& json = *input.json;
  bool has_nodes = json.Has("nodes[].ctrl_deps") || json.Has("nodes[].id");
  if (!json.Has("schema") || !json.Has("nodes") || !(has_nodes || json.Has("start_ts"))) return {};
  return {.mine = true, .pid = json.Integer("pid").value_or(kNone64)};
}

// A Status when the JSON is broken somewhere in `text`.
Status ReadNodes(std::string_view text, uint64_t offset, const Identity& who, Part& part) {
  JsonReader reader;
  TRY(reader.OpenElements(text));
  NodeParser parser(who, text, offset, part);
  size_t nodes = 0;
  TRY(reader.root().ForEachElement([&](JsonValue node) {
    ++nodes;
    return parser.Add(node);
  }));
  parser.Finish();
  // Behind bytes that were repaired, nodes do not stand where they seem to: each is read alone.
  if (reader.repaired() && nodes > 1) return Status(Code::kInvalid, "bytes that are not UTF-8");
  return {};
}

class TraceReader final : public Reader {
 public:
  explicit TraceReader(const ImportContext& context)
      : who_(context.who), chunk_bytes_(context.chunk_bytes) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    ASSIGN_OR_RETURN(split_, SplitJsonArray(source, "nodes", chunk_bytes_));
    for (const auto& [key, range] : split_.others) {
      ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
      ReadHeader(key, bytes.text());
    }
    return split_.batches;
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    auto read = [this](std::string_view text, uint64_t offset, Part& read_part) {
      return ReadNodes(text, offset, who_, read_part);
    };
    ReadBatch(bytes.text(), range.begin, read, kBadNode, who_.input, part);
    return {};
  }

  Status Finish(Part& whole) override {
    if (!split_.document_closed) {
      whole.diagnostics.Add(kTruncated, who_.input,
                            {.offset = static_cast<int64_t>(split_.array_end),
                             .detail = fmt::format("{} whole nodes", split_.elements)});
    } else if (split_.elements == 0) {
      whole.diagnostics.Add(kNoNodes, who_.input);
    }
    auto row = Part::RowOf<ExecutionTraceRow>(who_);
    if (!schema_.empty()) row.schema_version = whole.pools.Intern(schema_);
    if (!time_.empty()) row.written = whole.pools.Intern(time_);
    row.pid = pid_;
    row.start_ts = start_ts_;
    row.finish_ts = finish_ts_;
    row.nodes = static_cast<int64_t>(whole.tables.Get<ExecutionNodeTable>().size());
    row.whole = split_.document_closed;
    whole.tables.Edit<ExecutionTraceTable>().Add(row);
    return {};
  }

 private:
  void ReadHeader(std::string_view key, std::string_view text) {
    JsonReader reader;
    if (!reader.OpenElements(text).ok()) return;
    (void)reader.root().ForEachElement([&](JsonValue value) {
      if (key == "schema") schema_ = value.String().value_or("");
      if (key == "time") time_ = value.String().value_or("");
      if (key == "pid") pid_ = value.IntOrText().value_or(kNone64);
      if (key == "start_ts") start_ts_ = value.IntOrText().value_or(kNone64);
      if (key == "finish_ts") finish_ts_ = value.IntOrText().value_or(kNone64);
    });
  }

  Identity who_;
  uint64_t chunk_bytes_;
  JsonArraySplit split_;
  std::string schema_;
  std::string time_;
  int64_t pid_ = kNone64;
  int64_t start_ts_ = kNone64;
  int64_t finish_ts_ = kNone64;
};

constexpr std::array<std::string_view, 2> kMakes = {"execution_node", "execution_trace"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "execution_trace",
               .sentence = "PyTorch execution trace: ops as a graph of nodes",
               .example = "execution_trace.json.gz",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<TraceReader>};
  return kImporter;
}

}  // namespace debrief::inputs::execution_trace

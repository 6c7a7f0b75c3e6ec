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

#include <array>

#include "base/json/array_splitter.h"
#include "base/json/cursor.h"
#include "inputs/execution_trace/diagnostics.h"
#include "inputs/execution_trace/node.h"
#include "tables/execution_trace.h"

namespace debrief::inputs::execution_trace {

namespace {

Recognition Sniff(const SniffInput& input) {
  if (input.json == nullptr) return {};
  const JsonOutline& json = *input.json;
  bool has_nodes = json.Has("nodes[].ctrl_deps") || json.Has("nodes[].id");
  return {.mine = json.Has("schema") && json.Has("nodes") && (has_nodes || json.Has("start_ts"))};
}

// A Status when the JSON is broken somewhere in `text`.
Status ReadNodes(std::string_view text, uint64_t offset, const Identity& who, Part& part) {
  JsonReader reader;
  TRY(reader.OpenElements(text));
  NodeParser parser(who, text, offset, part);
  TRY(reader.root().ForEachElement([&](JsonValue node) { return parser.Add(node); }));
  parser.Finish();
  return {};
}

// The slow way, for a batch with a broken node: each node alone, so that only that one is lost.
Status ReadOneByOne(std::string_view text, uint64_t offset, const Identity& who, Part& part) {
  auto batch = MakeMemorySource("[" + std::string(text) + "]");
  ASSIGN_OR_RETURN(JsonArraySplit split, SplitJsonArray(*batch, "", 1));
  for (ByteRange range : split.batches) {
    uint64_t begin = range.begin - 1;  // the bracket put in front
    Part node;
    Status status = ReadNodes(text.substr(begin, range.size()), offset + begin, who, node);
    if (!status.ok()) {
      node = Part();
      node.diagnostics.Add(
          kBadNode, who.input,
          {.offset = static_cast<int64_t>(offset + begin), .detail = status.message()});
    }
    part.Append(std::move(node));
  }
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
    if (ReadNodes(bytes.text(), range.begin, who_, part).ok()) return {};
    part = Part();
    return ReadOneByOne(bytes.text(), range.begin, who_, part);
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
    row.input = who_.input;
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

std::unique_ptr<Reader> Open(const ImportContext& context) {
  return std::make_unique<TraceReader>(context);
}

constexpr std::array<std::string_view, 2> kMakes = {"execution_node", "execution_trace"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "execution_trace",
               .sentence = "PyTorch execution trace: ops as a graph of nodes",
               .example = "execution_trace.json.gz",
               .makes = kMakes},
      .sniff = Sniff,
      .open = Open};
  return kImporter;
}

}  // namespace debrief::inputs::execution_trace

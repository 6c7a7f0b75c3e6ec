// Chakra execution traces: a step as a graph of nodes with what each depends on, for simulators and
// replay. docs/formats/chakra.md
//
//   <length><GlobalMetadata><length><Node><length><Node> ...
//
// Lengths are varints, messages protobuf; one file a rank, "name.3.et". Rows are those of PyTorch's
// execution traces, so that what is asked of one is asked of the other.
#include "inputs/importer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/scan.h"
#include "inputs/chakra/node_message.h"
#include "model/diagnostics.h"
#include "model/model.h"
#include "tables/execution_node.h"
#include "tables/execution_trace.h"

namespace debrief::inputs::chakra {

namespace {

constexpr DiagnosticKind kTruncated = {
    "chakra.truncated", Severity::kError, "the trace ends inside of a node; whole nodes are kept",
    "The converter did not come to its end, or the copy is incomplete."};
constexpr DiagnosticKind kBadNode = {"chakra.bad_node", Severity::kError,
                                     "a node is no protobuf message, or has no name; left out",
                                     "Look at the node at this place."};
constexpr DiagnosticKind kNoNodes = {
    "chakra.no_nodes", Severity::kWarning, "the trace has no nodes",
    "Convert the trace again; the converter wrote metadata alone."};

// "resnet.3.et" -> 3
int32_t RankInName(std::string_view name) {
  constexpr std::string_view kEnding = ".et";
  if (!name.ends_with(kEnding)) return kNone32;
  name.remove_suffix(kEnding.size());
  const std::string_view digits = name.substr(name.find_last_not_of("0123456789") + 1);
  if (digits.empty() || digits.size() == name.size()) return kNone32;
  return LeadingNumber(digits, kNone32);
}

bool IsName(std::string_view text) {
  constexpr size_t kLongestName = 4096;
  return !text.empty() && text.size() <= kLongestName &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<uint8_t>(c) < 0x20; });
}

// Metadata with a version, and a node with id or name behind it.
bool IsChakra(std::string_view head) {
  constexpr uint64_t kLongestMetadata = 60'000;
  const Framed first = ReadLength(head);
  if (first.begin == 0 || first.size > kLongestMetadata) return false;
  if (head.size() < first.begin + first.size) return false;
  std::string_view version;
  const bool read = ReadMetadata(head.substr(first.begin, first.size), version);
  const bool has_version = !version.empty() && version.size() < 32 && IsName(version);
  if (!read || (!has_version && first.size != 0)) return false;
  const std::string_view rest = head.substr(first.begin + first.size);
  if (rest.empty()) return has_version;
  const Framed second = ReadLength(rest);
  if (second.begin == 0 || second.size == 0 || rest.size() < second.begin + second.size)
    return false;
  NodeMessage node;
  return ReadNode(rest.substr(second.begin, second.size), node) && IsName(node.name) &&
         !NodeTypeName(node.type).empty();
}

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr || input.head.size() < 4 || !IsChakra(input.head)) return {};
  return {.mine = true, .rank_in_name = RankInName(input.name)};
}

// Times that no clock has are none.
int64_t NanosecondsOf(int64_t us) {
  constexpr int64_t kMost = int64_t{1} << 50;
  return us < 0 || us > kMost ? kNone64 : us * 1000;
}

class NodeReader final : public Reader {
 public:
  explicit NodeReader(const ImportContext& context) : who_(context.who) {}

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    uint64_t at = range.begin;
    bool is_first = true;
    while (at < range.end) {
      ASSIGN_OR_RETURN(ByteView prefix, source.View(at, kLongestLength));
      const Framed framed = ReadLength(prefix.text());
      const bool whole = framed.begin != 0 && framed.size <= range.end - at - framed.begin;
      if (!whole) {
        part.diagnostics.Add(kTruncated, who_.input, {.offset = static_cast<int64_t>(at)});
        break;
      }
      const uint64_t begin = at + framed.begin;
      at = begin + framed.size;
      ASSIGN_OR_RETURN(ByteView message, source.View(begin, framed.size));
      if (std::exchange(is_first, false)) {
        AddTrace(message.text(), part);
      } else {
        AddNode(message.text(), begin, part);
      }
    }
    return {};
  }

  Status Finish(Part& whole) override {
    const auto nodes = static_cast<int64_t>(whole.tables.Get<ExecutionNodeTable>().size());
    if (nodes == 0) whole.diagnostics.Add(kNoNodes, who_.input);
    auto& traces = whole.tables.Edit<ExecutionTraceTable>();
    for (size_t row = 0; row < traces.size(); ++row) traces.nodes[row] = nodes;
    return {};
  }

 private:
  static constexpr uint64_t kLongestLength = 5;

  void AddTrace(std::string_view message, Part& part) const {
    std::string_view version;
    auto row = Part::RowOf<ExecutionTraceRow>(who_);
    if (ReadMetadata(message, version)) row.schema_version = part.pools.InternOrNone(version);
    row.whole = true;
    part.tables.Edit<ExecutionTraceTable>().Add(row);
  }

  void AddNode(std::string_view message, uint64_t begin, Part& part) const {
    NodeMessage node;
    if (!ReadNode(message, node) || node.name.empty()) {
      part.diagnostics.Add(kBadNode, who_.input, {.offset = static_cast<int64_t>(begin)});
      return;
    }
    Pools& pools = part.pools;
    auto row = Part::RowOf<ExecutionNodeRow>(who_);
    row.node = node.id == kNone64 ? 0 : node.id;  // protobuf does not write a 0
    if (!node.control.empty()) row.parent = node.control.front();
    row.name = pools.Intern(node.name);
    row.rf_id = node.rf_id;
    row.input_shapes = pools.InternOrNone(node.input_shapes);
    row.input_types = pools.InternOrNone(node.input_types);
    row.output_shapes = pools.InternOrNone(node.output_shapes);
    row.output_types = pools.InternOrNone(node.output_types);
    AddCollective(node, pools, row);
    std::vector<int64_t> depends = std::move(node.data);
    depends.insert(depends.end(), node.control.begin(), node.control.end());
    if (!depends.empty()) row.depends = pools.lists.Intern(depends);
    row.node_type = pools.InternOrNone(NodeTypeName(node.type));
    row.duration_ns = NanosecondsOf(node.duration_us);
    row.byte_begin = static_cast<int64_t>(begin);
    row.bytes = static_cast<int64_t>(message.size());
    part.tables.Edit<ExecutionNodeTable>().Add(row);
  }

  // Sizes are bytes here and elements in PyTorch's own traces: one byte is an element.
  static void AddCollective(const NodeMessage& node, Pools& pools, ExecutionNodeRow& row) {
    const std::string_view type = NodeTypeName(node.type);
    if (type != "collective" && type != "send" && type != "recv") return;
    const std::string_view name =
        type != "collective" ? type
                             : CollectiveName(node.comm_type == kNone64 ? 0 : node.comm_type);
    row.collective = pools.InternOrNone(name);
    row.group_name = pools.InternOrNone(node.group);
    if (node.group_size > 0 && node.group_size <= 1 << 20)
      row.group_size = static_cast<int32_t>(node.group_size);
    row.dtype = pools.Intern("Byte");
    row.input_elements = row.output_elements = node.comm_size;
  }

  Identity who_;
};

constexpr std::array<std::string_view, 2> kMakes = {"execution_node", "execution_trace"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "chakra",
               .sentence = "Chakra execution trace: the nodes of a step and what they depend on",
               .example = "resnet.0.et",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<NodeReader>};
  return kImporter;
}

}  // namespace debrief::inputs::chakra

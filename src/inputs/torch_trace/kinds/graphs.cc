// Graphs of operations: the payload is their text. Of most of them the value is {}, or tells what
// nobody asks: {"dynamo_output_graph": {"sizes": {"l_x_": [4, 64]}}}.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace {

namespace {

// {"graph_dump": {"name": "inductor_aot_wrapper_code"}}
constexpr Field<CompileEntryRow> kNamedGraph[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
};

Status ReadGraphDump(JsonValue value, Entry& entry) {
  TRY(ReadEntryRow<kNamedGraph>(value, entry));
  entry.row.file = entry.Intern(entry.TextOf(entry.row.name) + ".txt");
  return {};
}

// {"optimize_ddp_split_child": {"name": "submod_0"}}
Status ReadSplitChild(JsonValue value, Entry& entry) {
  TRY(ReadEntryRow<kNamedGraph>(value, entry));
  entry.row.file =
      entry.Intern("optimize_ddp_split_child_" + entry.TextOf(entry.row.name) + ".txt");
  return {};
}

constexpr Kind TextKind(std::string_view key, std::string_view sentence, int order) {
  return {.key = key, .sentence = sentence, .order = order, .form = "text"};
}

constexpr Kind kGraphs[] = {
    TextKind("optimize_ddp_split_graph", "the graph that DDP splits into buckets", 1),
    TextKind("compiled_autograd_graph", "the graph of compiled autograd", 2),
    TextKind("aot_forward_graph", "the forward graph of AOTAutograd", 3),
    TextKind("aot_backward_graph", "the backward graph of AOTAutograd", 4),
    TextKind("aot_inference_graph", "the graph of AOTAutograd without a backward", 5),
    TextKind("aot_joint_graph", "forward and backward in one graph, before it is cut", 6),
    TextKind("inductor_post_grad_graph", "the graph after Inductor's last passes", 7),
    TextKind("inductor_pre_grad_graph", "the graph before Inductor's first passes", 8),
    {.key = "graph_dump",
     .sentence = "a graph or code that was dumped under a name",
     .order = 10,
     .form = "text",
     .read = ReadGraphDump},
    TextKind("dynamo_output_graph", "the graph that Dynamo captured", 11),
    {.key = "optimize_ddp_split_child",
     .sentence = "one bucket of a graph that DDP split",
     .order = 14,
     .form = "text",
     .read = ReadSplitChild},
    {.key = "exported_program", .sentence = "the program that torch.export made"},
    {.key = "subgraph_name", .sentence = "names the part of a split graph that entries are about"},
};

}  // namespace

std::span<const Kind> GraphKinds() { return kGraphs; }

}  // namespace debrief::inputs::torch_trace

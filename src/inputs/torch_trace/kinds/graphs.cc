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

constexpr Kind kGraphs[] = {
    {"optimize_ddp_split_graph", "the graph that DDP splits into buckets", nullptr, 1, "text"},
    {"compiled_autograd_graph", "the graph of compiled autograd", nullptr, 2, "text"},
    {"aot_forward_graph", "the forward graph of AOTAutograd", nullptr, 3, "text"},
    {"aot_backward_graph", "the backward graph of AOTAutograd", nullptr, 4, "text"},
    {"aot_inference_graph", "the graph of AOTAutograd without a backward", nullptr, 5, "text"},
    {"aot_joint_graph", "forward and backward in one graph, before it is cut", nullptr, 6, "text"},
    {"inductor_post_grad_graph", "the graph after Inductor's last passes", nullptr, 7, "text"},
    {"inductor_pre_grad_graph", "the graph before Inductor's first passes", nullptr, 8, "text"},
    {"graph_dump", "a graph or code that was dumped under a name", ReadGraphDump, 10, "text"},
    {"dynamo_output_graph", "the graph that Dynamo captured", nullptr, 11, "text"},
    {"optimize_ddp_split_child", "one bucket of a graph that DDP split", ReadSplitChild, 14,
     "text"},
    {"exported_program", "the program that torch.export made"},
    {"subgraph_name", "names the part of a split graph that entries are about"},
};

}  // namespace

std::span<const Kind> GraphKinds() { return kGraphs; }

}  // namespace debrief::inputs::torch_trace

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
    {.key = "optimize_ddp_split_graph",
     .sentence = "the graph that DDP splits into buckets",
     .order = 1,
     .form = "text"},
    {.key = "compiled_autograd_graph",
     .sentence = "the graph of compiled autograd",
     .order = 2,
     .form = "text"},
    {.key = "aot_forward_graph",
     .sentence = "the forward graph of AOTAutograd",
     .order = 3,
     .form = "text"},
    {.key = "aot_backward_graph",
     .sentence = "the backward graph of AOTAutograd",
     .order = 4,
     .form = "text"},
    {.key = "aot_inference_graph",
     .sentence = "the graph of AOTAutograd without a backward",
     .order = 5,
     .form = "text"},
    {.key = "aot_joint_graph",
     .sentence = "forward and backward in one graph, before it is cut",
     .order = 6,
     .form = "text"},
    {.key = "inductor_post_grad_graph",
     .sentence = "the graph after Inductor's last passes",
     .order = 7,
     .form = "text"},
    {.key = "inductor_pre_grad_graph",
     .sentence = "the graph before Inductor's first passes",
     .order = 8,
     .form = "text"},
    {.key = "graph_dump",
     .sentence = "a graph or code that was dumped under a name",
     .order = 10,
     .form = "text",
     .read = ReadGraphDump},
    {.key = "dynamo_output_graph",
     .sentence = "the graph that Dynamo captured",
     .order = 11,
     .form = "text"},
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

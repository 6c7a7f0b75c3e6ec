// PyTorch execution traces (Chakra): every op as a node with inputs, outputs and dependencies.
// Recognised; a reader comes with the profiles part.
#include "inputs/importer.h"

namespace debrief::inputs::execution_trace {

namespace {

Recognition Sniff(const SniffInput& input) {
  if (input.json == nullptr) return {};
  const JsonOutline& json = *input.json;
  bool has_nodes = json.Has("nodes[].ctrl_deps") || json.Has("nodes[].id");
  return {.mine = json.Has("schema") && json.Has("nodes") && (has_nodes || json.Has("start_ts"))};
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "execution_trace",
               .sentence = "PyTorch execution trace: ops as a graph of nodes",
               .example = "execution_trace.json.gz",
               .makes = {}},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::execution_trace

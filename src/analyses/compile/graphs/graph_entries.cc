#include "analyses/compile/graphs/graph_entries.h"

#include <array>

#include "tables/compile_entry.h"

namespace debrief::analyses::compile_graphs {

namespace {

constexpr std::array<std::string_view, 10> kGraphKinds = {
    "dynamo_output_graph",      "aot_forward_graph",        "aot_backward_graph",
    "aot_inference_graph",      "aot_joint_graph",          "inductor_pre_grad_graph",
    "inductor_post_grad_graph", "optimize_ddp_split_graph", "optimize_ddp_split_child",
    "compiled_autograd_graph"};

// before_pre_grad_graph, after_recompile_post_grad, vllm_piecewise_split_graph
bool IsGraphName(std::string_view name) {
  if (name.starts_with("before_") || name.starts_with("after_")) return true;
  return name.ends_with("_graph") || name.find("subgraph") != name.npos ||
         name.find("submod") != name.npos;
}

}  // namespace

template <typename Ask>
GraphEntries::Answer GraphEntries::Cached(std::vector<Answer>& answers, StringId id, Ask ask) {
  auto index = static_cast<size_t>(id);
  if (index >= answers.size()) answers.resize(index + 1, Answer::kNotAsked);
  Answer& answer = answers[index];
  if (answer == Answer::kNotAsked) answer = ask(model_.pools.Text(id));
  return answer;
}

bool GraphEntries::MayBeGraph(size_t row) {
  Answer kind = Cached(kinds_, entries_.kind[row], [](std::string_view text) {
    if (text == "artifact" || text == "graph_dump") return Answer::kByName;
    for (std::string_view graph : kGraphKinds)
      if (text == graph) return Answer::kYes;
    return Answer::kNo;
  });
  if (kind == Answer::kByName)
    kind = Cached(names_, entries_.name[row], [](std::string_view text) {
      return IsGraphName(text) ? Answer::kYes : Answer::kNo;
    });
  if (kind != Answer::kYes || entries_.payload_bytes[row] <= 0) return false;
  return model_.pools.Text(entries_.state[row]) != "refused";
}

}  // namespace debrief::analyses::compile_graphs

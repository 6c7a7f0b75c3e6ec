// What compile logs tell, for a terminal: a summary, one graph, the difference of two, and Python
// files that compile.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"

namespace debrief::outputs::compile_summary {

struct SummaryOptions {
  size_t width = 100;
  size_t rows = 12;        // of each section
  std::string compile_id;  // one compilation alone ("0/0"); empty: all
};

// kNotFound, with ids that are near, when no compilation has the id; attempts ("0/0_1") count as
// their compilation.
Status CheckCompileId(const Model& model, std::string_view compile_id);

// On one screen: the first lines say what matters, a section follows for each question
// (compilations and why they happened again, graph breaks, time, caches, ranks, what makes the log
// large).
std::string SummaryText(const Model& model, const SummaryOptions& options);

// All rows of the tables behind it: {"compilation": [{"compile_id": "0/0", ...}], ...}.
std::string SummaryJson(const Model& model, const SummaryOptions& options);

// One graph as a table, a row a node; and the difference between two graphs. `which` is "1/0" (the
// graph that Dynamo captured) or "1/0:aot_forward_graph"; of several ranks the first. kNotFound
// names the graphs that there are.
Result<std::string> GraphTable(const Model& model, std::string_view which, size_t width);
Result<std::string> GraphDifference(const Model& model, std::string_view before,
                                    std::string_view now, size_t width);

// The Python of an fx_graph_runnable payload, made to compile.
//
// PyTorch pastes texts into that program that are not Python. Repaired, each with a comment:
//   self.body = <lambda>()                  -> self.body = None
//   f(x, <function g at 0x7f...>)           -> f(x, None)
//   class <lambda>(torch.nn.Module):        -> class _lambda_(torch.nn.Module):
//   torch._x.config.y = <function g ...>    -> a comment: the setting keeps its default
//   self.body = GraphModule(                -> self.body = None, the printed tree as comments
//     (inner): GraphModule()
//   )
//   os.environ['A'] = 'it's C:\new'         -> the value, quoted as Python wants it
// Zero bytes and bytes that are no UTF-8 become question marks. All other lines stay as they are.
// One pass. Not a Python parser: lines that PyTorch prints by repr() of data are already Python.
std::string RunnableSource(std::string_view payload);

// Writes FOLDER/<graph directory>_<n>.py for each fx_graph_runnable artifact, with rank_<R>_ in
// front where there are several ranks. Returns how many.
Result<int> WriteRunnables(const Model& model, const std::string& folder);

}  // namespace debrief::outputs::compile_summary

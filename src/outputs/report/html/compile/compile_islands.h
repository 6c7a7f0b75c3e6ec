// What the report's views of compile logs show besides tables and texts. Each is empty when no log
// tells; same model, same bytes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/model.h"

namespace debrief::outputs::html {

// Island "lanes": when each rank compiled what.
std::string LanesJson(const Model& model);

// Island "stacks": where in the program compilations began, the trees of their stacks.
std::string StacksJson(const Model& model);

// Island "export": what stood in the way of torch.export.
std::string ExportJson(const Model& model);

struct ExportIssue {
  size_t row = 0;  // of compile_shape
  StackId stack = StackId::kNone;
};

struct ExportIssues {
  std::vector<ExportIssue> first;
  size_t left_out = 0;
};

// In the order of the logs, `most` of them.
ExportIssues FindExportIssues(const Model& model, size_t most);

}  // namespace debrief::outputs::html

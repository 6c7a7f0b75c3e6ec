// What stood in the way of torch.export.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "outputs/report/html/islands.h"

namespace debrief::outputs::html {

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

// Empty when there are no compile logs. Same model, same bytes.
std::string ExportJson(const Model& model);

Status AddExport(const Model& model, Islands& islands);

}  // namespace debrief::outputs::html

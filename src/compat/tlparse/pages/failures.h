// Failures and restarts of a tree, in the order of the log: what the index shows first and
// failures_and_restarts.html in full.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/tlparse/pages/context.h"

namespace debrief::outputs::tlparse_tree {

struct Failure {
  bool is_restart = false;
  size_t metrics_row = 0;
  std::string_view type;    // class of the exception; RestartAnalysis for a restart
  std::string_view reason;  // may be empty
};

std::vector<Failure> FindFailures(const PageContext& context);

// "[0/0]" as a link to its metrics page, "(unknown)" for a broken id.
void AppendCompileLink(const PageContext& context, size_t metrics_row, std::string& out);

}  // namespace debrief::outputs::tlparse_tree

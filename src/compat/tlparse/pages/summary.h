// The numbers at the top of an index page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compat/tlparse/pages/context.h"
#include "compat/tlparse/pages/failures.h"

namespace debrief::outputs::tlparse_tree {

// A strip of numbers; below it what failed, each with its place and the first line of the reason.
void AppendSummary(const PageContext& context, const std::vector<Failure>& failures,
                   std::string& out);

// What was wrong with the log itself, and keys that nobody reads; nothing when all is well.
void AppendLogTrouble(const PageContext& context, std::string& out);

}  // namespace debrief::outputs::tlparse_tree

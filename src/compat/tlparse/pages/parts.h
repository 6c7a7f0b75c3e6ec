// Parts that several pages show: failures, listed files, the numbers of a log, the tree of stacks.
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

// In the order of the log: what the index shows first and failures_and_restarts.html in full.
std::vector<Failure> FindFailures(const PageContext& context);

// "[0/0]" as a link to its metrics page, "(unknown)" for a broken id.
void AppendCompileLink(const PageContext& context, size_t metrics_row, std::string& out);

// <li><a href="url">path</a> (<a href="...">readable_html</a>) suffix (number)</li>
// On a page in the folder of the compilation (`root` is not empty) the path is the name alone.
void AppendListed(const PageContext& context, const ListedFile& file, std::string_view root,
                  std::string& out);

// A strip of numbers; below it what failed, each with its place and the first line of the reason.
void AppendSummary(const PageContext& context, const std::vector<Failure>& failures,
                   std::string& out);

// What was wrong with the log itself, and keys that nobody reads; nothing when all is well.
void AppendLogTrouble(const PageContext& context, std::string& out);

// Appends the trie ("starts" or "entries") of the tree's entries; false when there is none. Where a
// frame has one callee, that follows on the same level: only branches indent.
bool AppendTrie(const PageContext& context, std::string_view trie, std::string& out);

}  // namespace debrief::outputs::tlparse_tree

// The pages of a tree: pure functions from the model, the plan and payloads to the text of a file.
//
// Every text of a log is escaped; addresses of a log become links only when they are harmless;
// custom_header_html alone goes in as it is. Pages stand alone: style and script inside, nothing
// loaded from anywhere. All functions may be called by many threads on one PageContext.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compat/tlparse/pages/context.h"
#include "compat/tlparse/plan.h"

namespace debrief::outputs::tlparse_tree {

// index.html. `of_many`: the tree is one rank of a run and has a collectives_parity.json.
std::string IndexPage(const PageContext& context, bool of_many);
// failures_and_restarts.html.
std::string FailuresPage(const PageContext& context);
// index.html of export mode.
std::string ExportIndexPage(const PageContext& context);

// The page of one file of the plan: kCode, kGraph, kGuards, kMetrics, kDump, kKernelStacks (of the
// readable page) and kSymbolicGuard. `payload` is that of the file's row; room for kPadding bytes
// is made behind it. Empty for files that are no pages.
std::string FilePage(const PageContext& context, const TreeFile& file, std::string& payload);

// Links of the header of a file's page: to the graph, the code and the metrics of its compilation,
// to the files before and behind it, and to all of them. Empty for a file of no compilation.
std::string FileLinks(const PageContext& context, const TreeFile& file);

// JSON: [{"code": ..., "user_stack": [...]}, ...]. Text that is something else is shown as it is.
std::string GuardsPage(const PageContext& context, const TreeFile& file, std::string& payload);
// {"kernel": ["stack", ...], ...}; an error when the JSON is something else.
using Kernels = std::map<std::string, std::vector<std::string>>;
Status ReadKernels(std::string& payload, Kernels& kernels);
// An empty string where that is an error.
std::string KernelStacksPage(const PageContext& context, const TreeFile& file,
                             std::string& payload);
std::string MetricsPage(const PageContext& context, const TreeFile& file);
std::string SymbolicGuardPage(const PageContext& context, const TreeFile& file);

// index.html above the trees of several ranks, which are of one attempt. `has_runtime`: there is a
// chromium_trace_with_runtime.json.
std::string LandingPage(const Model& model, std::span<const TreePlan> plans,
                        const TreeOptions& options, int32_t job, int32_t attempt, bool has_runtime);

struct ProvenanceTexts {
  std::string_view id;             // "[0/0]"
  std::string_view pre_grad;       // before_pre_grad_graph
  std::string_view post_grad;      // after_post_grad_graph
  std::string_view code;           // generated code, Python or C++
  std::string_view line_mappings;  // JSON
};
// provenance_tracking_<directory>.html.
std::string ProvenancePage(const ProvenanceTexts& texts);

// Parts that several pages show.

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

// A strip of numbers, those of `debrief compile --summary` and of the report; below it what failed,
// each with its place and the first line of the reason, and what broke graphs.
void AppendSummary(const PageContext& context, const std::vector<Failure>& failures,
                   std::string& out);

// What was wrong with the log itself, and keys that nobody reads; nothing when all is well.
void AppendLogTrouble(const PageContext& context, std::string& out);

// Appends the trie ("starts" or "entries") of the tree's entries; false when there is none. Where a
// frame has one callee, that follows on the same level: only branches indent.
bool AppendTrie(const PageContext& context, std::string_view trie, std::string& out);

}  // namespace debrief::outputs::tlparse_tree

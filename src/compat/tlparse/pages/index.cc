// index.html: failures first, then where compilations began, then all files.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/text/strings.h"
#include "base/text/units.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"
#include "tables/compilation.h"
#include "tables/input.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr std::string_view kTrieWords =
    "<p class=\"quiet\">Where in the program compilations began: each branch is a stack, outermost "
    "frame first, and each mark a compilation that began in the frame it stands before.</p>"
    "<p class=\"legend\"><span class=\"ok\">[0/0]</span> ok <span class=\"break\">[0/0]</span> "
    "restarted, as a graph break does <span class=\"empty\">[0/0]</span> nothing to compile "
    "<span class=\"error-mark\">[0/0]</span> failed <span class=\"missing\">[0/0]</span> no "
    "metrics</p>\n";

constexpr std::string_view kIrWords =
    "<section><details><summary><strong>IR dumps</strong>: how to read the files below</summary>"
    "<p>A compilation has the id [frame/compile_attempt]: [2/1_3] is the fourth attempt to compile "
    "frame 2 for the second time. A leading !n marks compiled autograd. Its files come in the "
    "order in which the compiler made them:</p><dl>"
    "<dt>dynamo_output_graph</dt><dd>what Dynamo captured of the Python function</dd>"
    "<dt>dynamo_guards</dt><dd>when the compiled code may be used again</dd>"
    "<dt>optimize_ddp_split_graph</dt><dd>the graph cut at the buckets of DDP</dd>"
    "<dt>compiled_autograd_graph</dt><dd>what compiled autograd captured of a backward pass</dd>"
    "<dt>aot_joint, forward, backward_graph</dt><dd>after AOTAutograd: functional, ATen ops</dd>"
    "<dt>inductor_pre_grad, post_grad_graph</dt><dd>before and after Inductor's graph passes</dd>"
    "<dt>inductor_output_code</dt><dd>the code that runs</dd>"
    "<dt>fx_graph_cache_hit, miss, bypass</dt><dd>whether that code came from the cache</dd>"
    "</dl></details></section>\n";

void AppendTries(const PageContext& context, std::string& out) {
  std::string trie;
  if (!AppendTrie(context, "starts", trie)) return;
  out += "<section><h2>Stack trie</h2>";
  out += kTrieWords;
  out += "<details><summary>Stack</summary>" + trie + "</details></section>\n";
}

void AppendLinks(const PageContext& context, size_t failures, bool of_many, std::string& out) {
  std::string links;
  if (!context.options.report_link.empty()) {
    Put(links, "<li><a href=\"{}#/compile\">The report of all that the job left</a></li>",
        Path{context.options.report_link});
  }
  if (failures > 0) {
    Put(links, "<li><a href=\"failures_and_restarts.html\">Failures and Restarts</a> ({})</li>",
        failures);
  }
  if (!context.plan.events.empty()) {
    Put(links,
        "<li>Chromium Events: <a href=\"chromium_events.json\">chromium_events.json</a> "
        "<small>({}; opens in ui.perfetto.dev)</small></li>",
        context.plan.events.size());
  }
  if (of_many) {
    links +=
        "<li>Collectives of the schedule against those of the code: "
        "<a href=\"collectives_parity.json\">collectives_parity.json</a></li>";
  }
  if (!links.empty()) out += "<section><h2>More</h2><ul>" + links + "</ul></section>\n";
}

// What is said of a compilation beside its id.
struct Words {
  std::string_view function;
  std::string_view outcome = "ok";
  std::string_view again;  // why it was compiled again
  double seconds = 0;      // in the compiler; 0: the log does not say

  // Failures and breaks come first.
  int order() const {
    static constexpr std::string_view kFirst[] = {"failed", "unfinished", "restarted"};
    return static_cast<int>(std::ranges::find(kFirst, outcome) - std::begin(kFirst));
  }
};

// "[0/0_1]", as listings have it, without brackets and attempt.
std::string_view BaseOf(std::string_view id) {
  if (id.starts_with('[')) id.remove_prefix(1);
  if (id.ends_with(']')) id.remove_suffix(1);
  return WithoutAttempt(id);
}

// By compile id without attempt. Of a log with several lives, what went wrong in one of them stays.
std::map<std::string_view, Words> FindWords(const PageContext& context) {
  const auto& table = context.model.tables.Get<CompilationTable>();
  std::map<std::string_view, Words> words;
  for (size_t row : context.compilation_rows()) {
    Words found{.function = context.Text(table.function[row]),
                .outcome = context.Text(table.outcome[row]),
                .again = context.Text(table.why[row])};
    auto [place, is_new] = words.try_emplace(context.Text(table.compile_id[row]), found);
    Words& word = place->second;
    if (found.order() < word.order()) word.outcome = found.outcome;
    if (table.seconds[row] > 0) word.seconds += table.seconds[row];  // false for NaN as well
  }
  return words;
}

void AppendOutcome(std::string_view outcome, std::string& out) {
  if (outcome == "failed") out += "<span class=\"error-mark\">failed</span>";
  if (outcome == "restarted") out += "<span class=\"break\">restarted</span>";
  if (outcome == "empty") out += "<span class=\"empty\">nothing to compile</span>";
  if (outcome == "unfinished") out += "<span class=\"missing\">no metrics</span>";
}

void AppendCompilation(const PageContext& context, const Compilation& compilation,
                       const Words& words, std::string& out) {
  Put(out, "<li><h3><a id=\"{0}\">{0}</a>", compilation.id);
  AppendOutcome(words.outcome, out);
  if (!words.function.empty()) Put(out, "<code class=\"quiet\">{}</code>", words.function);
  if (words.seconds > 0) Put(out, " <small>{}</small>", SecondsText(words.seconds));
  out += "</h3>\n";
  if (!words.again.empty()) {
    Put(out, "<p class=\"quiet\">compiled again: <code>{}</code></p>\n", FirstLine(words.again));
  }
  out += "<ul>\n";
  for (const ListedFile& file : compilation.files) AppendListed(context, file, "", out);
  if (compilation.files.empty()) out += "<li class=\"quiet\">no files</li>";
  out += "</ul></li>\n";
}

void AppendProducts(const PageContext& context, std::string& out) {
  const auto words = FindWords(context);
  const auto& compilations = context.plan.compilations;
  Put(out,
      "<section class=\"bare\"><div class=\"bar\"><h2>Build products below "
      "<span class=\"quiet\" id=\"shown\">{}</span></h2><input id=\"filter\" "
      "type=\"search\" placeholder=\"Filter: id, function, file ( / )\" "
      "aria-label=\"Filter compilations\"></div>\n<ul class=\"products\">\n",
      compilations.size());
  std::vector<std::pair<const Compilation*, Words>> ordered;
  for (const Compilation& compilation : compilations) {
    auto found = words.find(BaseOf(compilation.id));
    ordered.emplace_back(&compilation, found == words.end() ? Words() : found->second);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return a.second.order() < b.second.order();
  });
  for (const auto& [compilation, said] : ordered)
    AppendCompilation(context, *compilation, said, out);
  out += "</ul></section>\n";
}

void AppendProvenance(const PageContext& context, std::string& out) {
  if (!context.options.provenance || context.plan.compilations.empty()) return;
  out += "<section><h2>Provenance Tracking</h2><ul>\n";
  for (const Compilation& compilation : context.plan.compilations) {
    Put(out, "<li><a href=\"provenance_tracking_{}.html\">{}</a></li>\n",
        Path{compilation.directory}, compilation.id);
  }
  out += "</ul></section>\n";
}

// Its last part: the folder is of the machine that made the tree.
std::string_view LogName(const PageContext& context) {
  const auto& inputs = context.model.tables.Get<InputTable>();
  const auto row = static_cast<size_t>(context.plan.input);
  if (context.plan.input < 0 || row >= inputs.size()) return {};
  return FileName(context.Text(inputs.path[row]));
}

}  // namespace

void AppendListed(const PageContext& context, const ListedFile& file, std::string_view root,
                  std::string& out) {
  out += "<li>";
  if (context.Text(context.entries.form[file.row]) == "link") {
    AppendLink(file.url, file.name, out);
  } else {
    AppendFileLink(root, file.url, root.empty() ? file.url : file.name, out);
  }
  if (!file.page_url.empty()) Put(out, " (<a href=\"{}{}\">page</a>)", root, Path{file.page_url});
  if (!file.readable_url.empty())
    Put(out, " (<a href=\"{}{}\">readable_html</a>)", root, Path{file.readable_url});
  if (!file.suffix.empty()) Put(out, " {}", file.suffix);
  Put(out, " <small>({})</small></li>\n", file.number);
}

std::string IndexPage(const PageContext& context, bool of_many) {
  const std::vector<Failure> failures = FindFailures(context);
  const std::string title = context.plan.rank == kNone32
                                ? "Compilations"
                                : fmt::format("Compilations of rank {}", context.plan.rank);
  std::string out = BeginPage({.kind = PageKind::kIndex,
                               .title = title,
                               .custom_html = context.options.custom_header_html});
  Put(out, "<main><div><h1>{}</h1><p class=\"quiet\">{}</p></div>\n", title, LogName(context));
  AppendSummary(context, failures, out);
  AppendLinks(context, failures.size(), of_many, out);
  AppendTries(context, out);
  out += kIrWords;
  AppendProducts(context, out);
  AppendProvenance(context, out);
  std::string unknown;
  if (AppendTrie(context, "entries", unknown)) {
    out += "<section><h2>Unknown stacks</h2><details><summary>Stack</summary>" + unknown +
           "</details></section>\n";
  }
  AppendLogTrouble(context, out);
  out += "</main>\n";
  return EndPage(PageKind::kIndex, std::move(out));
}

}  // namespace debrief::outputs::tlparse_tree

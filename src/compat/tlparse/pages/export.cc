// Export mode: what draft export stumbled over, and a page for each guard with the expression it
// came from. A field that the log does not have is shown as missing.
#include <unordered_set>
#include <vector>

#include "base/text/strings.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kMaxListDepth = 100;  // of nested lists; browsers give up at 512
constexpr size_t kMaxNodes = 2000;     // of an expression on one page

bool IsIssue(const PageContext& context, size_t row) {
  const std::string_view kind = context.Text(context.shapes.kind[row]);
  if (kind == "guard_added") return context.Text(context.shapes.prefix[row]) == "eval";
  return kind == "propagate_real_tensors_provenance" || kind == "missing_fake_kernel" ||
         kind == "mismatched_fake_kernel";
}

// As code; `before` is put in front of it.
std::string Code(std::string_view text, std::string_view before = "") {
  if (text.empty()) return "<span class=\"quiet\">(missing in the log)</span>";
  std::string out;
  Put(out, "<code>{}{}</code>", before, text);
  return out;
}

std::string OnOneLine(std::string_view lines) {
  std::string text;
  for (char c : lines) text += c == '\n' ? std::string_view(", ") : std::string_view(&c, 1);
  return text;
}

void AppendReason(const PageContext& context, size_t row, std::string& out) {
  const CompileShapeTable& shapes = context.shapes;
  const std::string_view kind = context.Text(shapes.kind[row]);
  const std::string_view expression = context.Text(shapes.expression[row]);
  if (kind == "guard_added") {
    Put(out,
        "When exporting, the following guard was evaluated: {}. This might have resulted in a "
        "constraint violation error.",
        Raw{Code(expression)});
  } else if (kind == "propagate_real_tensors_provenance") {
    Put(out,
        "When exporting, we were unable to figure out if the expression {} always holds. As a "
        "result, it was specialized to evaluate to {}, and asserts were inserted into the graph.",
        Raw{Code(expression)}, Raw{Code(context.Text(shapes.result[row]))});
  } else if (kind == "missing_fake_kernel") {
    Put(out, "{} is missing a fake kernel implementation.", Raw{Code(expression, "torch.ops.")});
  } else {
    Put(out, "{} has a fake kernel, but it does not behave like the real one: {}",
        Raw{Code(expression, "torch.ops.")}, Raw{Code(context.Text(shapes.reason[row]))});
  }
}

std::string_view IssueName(std::string_view kind) {
  if (kind == "guard_added") return "Guard Evaluated";
  if (kind == "propagate_real_tensors_provenance") return "Data Dependent Error";
  return kind == "missing_fake_kernel" ? "Missing Fake Kernel" : "Mismatched Fake Kernel";
}

using PagesByRow = std::unordered_map<size_t, std::string_view>;  // row of compile_shape -> path

PagesByRow GuardPages(const PageContext& context) {
  PagesByRow pages;
  for (const TreeFile& file : context.plan.files) {
    if (file.content != Content::kSymbolicGuard) continue;
    if (auto row = context.ShapeOf(file.row)) pages.emplace(*row, file.path);
  }
  return pages;
}

void AppendIssue(const PageContext& context, size_t row, const PagesByRow& pages,
                 std::string& out) {
  Put(out, "<tr><td class=\"n\">{}</td><td>", IssueName(context.Text(context.shapes.kind[row])));
  AppendReason(context, row, out);
  out += "</td><td>";
  if (auto page = pages.find(row); page != pages.end())
    AppendFileLink("", page->second, "stacks, locals and expression", out);
  out += "</td></tr>\n";
}

void AppendProgram(const PageContext& context, std::string& out) {
  for (const Compilation& compilation : context.plan.compilations) {
    for (const ListedFile& file : compilation.files) {
      if (!Contains(file.url, "exported_program")) continue;
      Put(out, "<section><h2>Exported program</h2><a href=\"{}\">{}</a></section>\n",
          Path{file.url}, file.url);
      return;
    }
  }
}

// The tree of expressions below `root`, each node once, depth first.
class ExpressionWriter {
 public:
  ExpressionWriter(const PageContext& context, int64_t entry, std::string_view root,
                   std::string& out)
      : context_(context), entry_(entry), root_(root), out_(out) {}

  void Write(int64_t node) {
    std::vector<Level> levels;
    Open(node, levels);
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.arguments.size()) {
        out_ += level.nested ? "</ul></li>\n" : "";
        depth_ -= level.nested;
        levels.pop_back();
      } else {
        Open(level.arguments[level.next++], levels);
      }
    }
    if (left_out_) out_ += "<li class=\"quiet\">the rest is left out</li>";
  }

 private:
  struct Level {
    std::span<const int64_t> arguments;
    size_t next = 0;
    bool nested = false;
  };

  void Open(int64_t node, std::vector<Level>& levels) {
    if (!seen_.insert(node).second) return;
    const std::optional<size_t> row = context_.ExpressionBefore(node, entry_);
    if (!row) return;
    if (seen_.size() > kMaxNodes) {
      left_out_ = true;
      return;
    }
    const auto arguments = context_.model.pools.lists.Get(context_.shapes.argument_nodes[*row]);
    const bool nested = depth_ < kMaxListDepth;
    out_ += "<li>";
    Box(*row);
    out_ += nested ? "<ul class=\"tree\">\n" : "</li>\n";
    depth_ += nested;
    levels.push_back({arguments, 0, nested});
  }

  void Box(size_t row) {
    const CompileShapeTable& shapes = context_.shapes;
    const bool is_symbol = context_.Text(shapes.kind[row]) == "create_unbacked_symbol";
    Put(out_, "<div class=\"box\">{}<dl>",
        Raw{Code(context_.Text(is_symbol ? shapes.symbol[row] : shapes.result[row]))});
    AppendFact("Method", is_symbol ? "new unbacked symbol" : context_.Text(shapes.method[row]),
               out_);
    AppendFact("Arguments", OnOneLine(context_.Text(shapes.arguments[row])), out_);
    AppendFact("Range", context_.Text(shapes.range[row]), out_);
    out_ += "</dl>";
    context_.AppendStacks(row, root_, out_);
    out_ += "</div>";
  }

  const PageContext& context_;
  const int64_t entry_;
  const std::string_view root_;
  std::string& out_;
  std::unordered_set<int64_t> seen_;
  size_t depth_ = 0;
  bool left_out_ = false;
};

void AppendSection(std::string_view title, std::string_view text, std::string& out) {
  if (!text.empty()) Put(out, "<section><h2>{}</h2><pre>{}</pre></section>\n", title, text);
}

void AppendStacks(const PageContext& context, size_t entry_row, std::string_view root,
                  std::string& out) {
  const Pools& pools = context.model.pools;
  const auto user = pools.GetStack(context.entries.user_stack[entry_row]);
  const auto all = pools.GetStack(context.entries.stack[entry_row]);
  out += "<section><h2>User stack</h2>";
  if (user.empty()) out += "<p class=\"quiet\">(missing in the log)</p>";
  context.frames().AppendStack(user, root, out);
  context.frames().AppendFolded("Framework stack", all, root, out);
  out += "</section>\n";
}

void AppendGuard(const PageContext& context, size_t row, std::string_view root, std::string& out) {
  const CompileShapeTable& shapes = context.shapes;
  AppendSection("Locals", context.Text(shapes.locals[row]), out);
  AppendSection("Symbols", context.Text(shapes.symbols[row]), out);
  out += "<section><h2>Expression tree</h2>";
  std::string tree;
  if (shapes.node[row] != kNone64)
    ExpressionWriter(context, shapes.entry[row], root, tree).Write(shapes.node[row]);
  out += tree.empty() ? "<p class=\"quiet\">The log does not tell how the expression was made.</p>"
                      : "<ul class=\"tree\">" + tree + "</ul>";
  out += "</section>\n";
}

}  // namespace

std::string ExportIndexPage(const PageContext& context) {
  std::vector<size_t> issues;
  for (size_t row : context.shape_rows()) {
    if (IsIssue(context, row)) issues.push_back(row);
  }
  std::string out = BeginPage({.kind = PageKind::kIndex,
                               .title = "Draft Export Report",
                               .custom_html = context.options.custom_header_html});
  out += "<main><h1>Draft Export Report</h1>\n";
  if (issues.empty()) {
    out += "<section><p>No issues were found during export: the program is sound.</p></section>\n";
  } else {
    Put(out,
        "<section class=\"warning\"><h2>{} issue(s) were found during export</h2><table>"
        "<thead><tr><th>Failure Type</th><th>Reason</th><th>Additional Info</th></tr>"
        "</thead>\n<tbody>\n",
        issues.size());
    const PagesByRow pages = GuardPages(context);
    for (size_t row : issues) AppendIssue(context, row, pages, out);
    out += "</tbody></table></section>\n";
  }
  AppendProgram(context, out);
  out += "</main>\n";
  return EndPage(PageKind::kIndex, std::move(out));
}

std::string SymbolicGuardPage(const PageContext& context, const TreeFile& file) {
  const std::string root = WayToRoot(file.path);
  const std::optional<size_t> row = context.ShapeOf(file.row);
  std::string out = BeginPage({.title = "Symbolic guard", .root = root});
  Put(out, "<main><div><h1>Symbolic guard</h1><p>{}</p></div>\n",
      Raw{Code(row ? context.Text(context.shapes.expression[*row]) : std::string_view())});
  AppendStacks(context, file.row, root, out);
  if (row) AppendGuard(context, *row, root, out);
  out += "</main>\n";
  return EndPage(PageKind::kPlain, std::move(out));
}

}  // namespace debrief::outputs::tlparse_tree

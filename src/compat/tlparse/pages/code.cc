// Pages of text with line numbers: generated code, dumped files, and graphs beside code.
//
//   <pre class="code" data-lang="py"><div><span id="L1">...</span>... 200 lines ...</div>...</pre>
//
// The browser lays out and colours only the parts of 200 lines that are in view (web/tree/code.*),
// so a file of 5 MB opens at once. Colours are made there and not here: spans around every word
// would make the file five times as large. Cost: one pass over the text.
#include <algorithm>

#include "base/text/escape.h"
#include "base/text/strings.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kPartLines = 200;

// Wrappers of AOTInductor are C++; Python code may hold kernels in C++, but imports something
// first.
std::string_view LanguageOf(std::string_view code) {
  const std::string_view head = code.substr(0, 4096);
  const bool includes = head.find("#include") != std::string_view::npos;
  return includes && head.find("\nimport ") == std::string_view::npos ? "cpp" : "py";
}

template <typename Use>
void ForEachLine(std::string_view text, Use use) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    use(text.substr(at, end - at));
    at = end + 1;
  }
}

void AppendLines(std::string_view text, std::string& out) {
  out.reserve(out.size() + text.size() + text.size() / 2);
  size_t number = 0;
  ForEachLine(text, [&](std::string_view line) {
    if (number % kPartLines == 0) out += number == 0 ? "<div>" : "</div><div>";
    Put(out, "<span id=\"L{}\">", ++number);
    AppendHtml(out, line);
    out += "</span>";
  });
  out += "</div>";
}

std::string TextPage(const PageContext& context, const TreeFile& file, std::string_view text,
                     std::string_view language) {
  const std::string_view name = FileName(file.path);
  const std::string root = WayToRoot(file.path), links = FileLinks(context, file);
  std::string out = BeginPage({.kind = PageKind::kCode,
                               .title = name,
                               .root = root,
                               .anchor = context.AnchorOf(file),
                               .links = links});
  Put(out, "<main><h1>{}</h1>\n<pre class=\"code\" data-lang=\"{}\">",
      name.substr(0, name.rfind('.')), language);
  AppendLines(text, out);
  out += "</pre></main>\n";
  return EndPage(PageKind::kCode, std::move(out));
}

void AppendPane(std::string_view id, std::string_view title, std::string_view text,
                std::string& out) {
  Put(out, "<section aria-label=\"{1}\"><h2>{1}</h2><div><div class=\"lines\" id=\"{0}\">", id,
      title);
  ForEachLine(text, [&](std::string_view line) {
    out += "<span>";
    AppendHtml(out, line);
    out += "</span>";
  });
  out += "</div></div></section>\n";
}

void AppendDivider(std::string_view label, std::string& out) {
  Put(out,
      "<div role=\"separator\" aria-orientation=\"vertical\" aria-label=\"{}\" "
      "tabindex=\"0\"></div>\n",
      label);
}

// Mappings number the lines of Python code from the one that names the AOT id, else from the first
// that is not empty.
std::string_view CountedLines(std::string_view code) {
  code.remove_prefix(std::min(code.find_first_not_of('\n'), code.size()));
  const size_t id = code.find("# AOT ID:");
  if (id == std::string_view::npos) return code;
  const size_t before = code.rfind('\n', id);
  return before == std::string_view::npos ? code : code.substr(before + 1);
}

// '<' occurs in strings of JSON only, where \u003c means the same and ends no element.
void AppendJsonIsland(std::string_view json, std::string& out) {
  for (size_t at = 0; at < json.size();) {
    const size_t next = std::min(json.find('<', at), json.size());
    out += json.substr(at, next - at);
    if (next < json.size()) out += "\\u003c";
    at = next + 1;
  }
}

}  // namespace

std::string FilePage(const PageContext& context, const TreeFile& file, std::string& payload) {
  switch (file.content) {
    case Content::kCode:
      return TextPage(context, file, payload, LanguageOf(payload));
    case Content::kGraph:
    case Content::kDump:
      return TextPage(context, file, payload, "py");
    case Content::kGuards:
      return GuardsPage(context, file, payload);
    case Content::kMetrics:
      return MetricsPage(context, file);
    case Content::kKernelStacks:
      return KernelStacksPage(context, file, payload);
    case Content::kSymbolicGuard:
      return SymbolicGuardPage(context, file);
    case Content::kPayload:
    case Content::kJson:
      break;
  }
  return {};
}

// Three texts side by side and which line came from which. The mappings go in as JSON; all the
// linking is done by web/tree/provenance.ts.
std::string ProvenancePage(const ProvenanceTexts& texts) {
  const bool is_cpp = texts.code.find("AOTInductorModel::run_impl") != std::string_view::npos;
  std::string out = BeginPage(
      {.kind = PageKind::kProvenance, .title = "Provenance Tracking", .anchor = texts.id});
  Put(out, "<main data-code=\"{}\">\n", is_cpp ? "cpp" : "py");
  AppendPane("pre", "Pre-grad graph", texts.pre_grad, out);
  AppendDivider("Width of the pre-grad graph", out);
  AppendPane("post", "Post-grad graph", texts.post_grad, out);
  AppendDivider("Width of the post-grad graph", out);
  AppendPane("code", is_cpp ? "Generated C++" : "Generated code",
             is_cpp ? texts.code : CountedLines(texts.code), out);
  out += "</main>\n<script id=\"lineMappings\" type=\"application/json\">";
  AppendJsonIsland(texts.line_mappings.empty() ? "{}" : texts.line_mappings, out);
  out += "</script>\n";
  return EndPage(PageKind::kProvenance, std::move(out));
}

}  // namespace debrief::outputs::tlparse_tree

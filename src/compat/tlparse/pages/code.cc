// Pages of text with line numbers: generated code, and dumped files.
//
//   <pre class="code" data-lang="py"><div><span id="L1">...</span>... 200 lines ...</div>...</pre>
//
// The browser lays out and colours only the parts of 200 lines that are in view (web/tree/code.*),
// so a file of 5 MB opens at once. Colours are made there and not here: spans around every word
// would make the file five times as large. Cost: one pass over the text.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/escape.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kPartLines = 200;

// Wrappers of AOTInductor are C++; Python code may hold kernels in C++, but imports something
// first.
std::string_view LanguageOf(std::string_view code) {
  const std::string_view head = code.substr(0, 4096);
  const bool includes = head.find("#include") != head.npos;
  return includes && head.find("\nimport ") == head.npos ? "cpp" : "py";
}

void AppendLines(std::string_view text, std::string& out) {
  out.reserve(out.size() + text.size() + text.size() / 2);
  if (text.ends_with('\n')) text.remove_suffix(1);
  size_t number = 0;
  for (size_t at = 0; at <= text.size();) {
    if (number % kPartLines == 0) out += number == 0 ? "<div>" : "</div><div>";
    const size_t end = std::min(text.find('\n', at), text.size());
    fmt::format_to(std::back_inserter(out), "<span id=\"L{}\">", ++number);
    AppendHtml(out, text.substr(at, end - at));
    out += "</span>";
    at = end + 1;
  }
  out += "</div>";
}

std::string TextPage(const PageContext& context, const TreeFile& file, std::string_view text,
                     std::string_view language) {
  const std::string root = WayToRoot(file.path);
  std::string_view anchor;
  if (file.compilation >= 0) {
    anchor = context.plan.compilations[static_cast<size_t>(file.compilation)].id;
  }
  std::string out;
  const std::string_view name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
  BeginPage({.kind = PageKind::kCode, .title = name, .root = root, .anchor = anchor}, out);
  out += "<main>";
  AppendElement("h1", name.substr(0, name.rfind('.')), out);
  fmt::format_to(std::back_inserter(out), "\n<pre class=\"code\" data-lang=\"{}\">", language);
  AppendLines(text, out);
  out += "</pre></main>\n";
  EndPage(PageKind::kCode, out);
  return out;
}

}  // namespace

std::string CodePage(const PageContext& context, const TreeFile& file, std::string_view code) {
  return TextPage(context, file, code, LanguageOf(code));
}

std::string DumpPage(const PageContext& context, const TreeFile& file, std::string_view text) {
  return TextPage(context, file, text, "py");
}

std::string FilePage(const PageContext& context, const TreeFile& file, std::string& payload) {
  switch (file.content) {
    case Content::kCode:
      return CodePage(context, file, payload);
    case Content::kGuards:
      return GuardsPage(context, file, payload);
    case Content::kMetrics:
      return MetricsPage(context, file);
    case Content::kDump:
      return DumpPage(context, file, payload);
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

}  // namespace debrief::outputs::tlparse_tree

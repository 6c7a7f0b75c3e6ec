// Three texts side by side and which line came from which. The mappings go in as JSON; all the
// linking is done by web/tree/provenance.ts.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/escape.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

void AppendPane(std::string_view id, std::string_view title, std::string_view text,
                std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "<section aria-label=\"{1}\"><h2>{1}</h2><div><div class=\"lines\" id=\"{0}\">",
                 id, title);
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    AppendElement("span", text.substr(at, end - at), out);
    at = end + 1;
  }
  out += "</div></div></section>\n";
}

void AppendDivider(std::string_view label, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "<div role=\"separator\" aria-orientation=\"vertical\" aria-label=\"{}\" "
                 "tabindex=\"0\"></div>\n",
                 label);
}

// Mappings number the lines of Python code from the one that names the AOT id, else from the first
// that is not empty.
std::string_view CountedLines(std::string_view code) {
  code.remove_prefix(std::min(code.find_first_not_of('\n'), code.size()));
  const size_t id = code.find("# AOT ID:");
  if (id == code.npos) return code;
  const size_t before = code.rfind('\n', id);
  return before == code.npos ? code : code.substr(before + 1);
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

std::string ProvenancePage(const ProvenanceTexts& texts) {
  const bool is_cpp = texts.code.find("AOTInductorModel::run_impl") != texts.code.npos;
  std::string out;
  BeginPage({.kind = PageKind::kProvenance, .title = "Provenance Tracking", .anchor = texts.id},
            out);
  fmt::format_to(std::back_inserter(out), "<main data-code=\"{}\">\n", is_cpp ? "cpp" : "py");
  AppendPane("pre", "Pre-grad graph", texts.pre_grad, out);
  AppendDivider("Width of the pre-grad graph", out);
  AppendPane("post", "Post-grad graph", texts.post_grad, out);
  AppendDivider("Width of the post-grad graph", out);
  AppendPane("code", is_cpp ? "Generated C++" : "Generated code",
             is_cpp ? texts.code : CountedLines(texts.code), out);
  out += "</main>\n<script id=\"lineMappings\" type=\"application/json\">";
  AppendJsonIsland(texts.line_mappings.empty() ? "{}" : texts.line_mappings, out);
  out += "</script>\n";
  EndPage(PageKind::kProvenance, out);
  return out;
}

}  // namespace debrief::outputs::tlparse_tree

// The pages that web/build.mjs made are cut at their marks once, when the first page is made:
//
//   <!doctype ... {{policy}} ... <title>{{title}}</title> ... <body>{{body}}<script>...</html>
//
// A page is then three or four copies and what its content needs. Text that is filled in is never
// searched for marks.
#include "compat/tlparse/pages/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "base/text/escape.h"

// web_bundle.S, made by cmake/web_bundle.cmake.
// NOLINTBEGIN(readability-identifier-naming): names of the assembler file
extern "C" {
extern const char debrief_tree_plain_begin[], debrief_tree_plain_end[];
extern const char debrief_tree_index_begin[], debrief_tree_index_end[];
extern const char debrief_tree_code_begin[], debrief_tree_code_end[];
extern const char debrief_tree_provenance_begin[], debrief_tree_provenance_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace debrief::outputs::tlparse_tree {

namespace {

struct Shell {
  std::string_view before_policy, policy, before_title, before_body, after_body;
};

std::string_view TakeUpTo(std::string_view mark, std::string_view& rest) {
  const size_t at = rest.find(mark);
  DEBRIEF_CHECK(at != std::string_view::npos);  // web/tree/page.html has it
  std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return piece;
}

Shell Cut(const char* begin, const char* end) {
  std::string_view rest(begin, static_cast<size_t>(end - begin));
  Shell shell;
  const size_t policy = rest.find("<meta http-equiv=");
  DEBRIEF_CHECK(policy != std::string_view::npos);
  shell.before_policy = rest.substr(0, policy);
  rest.remove_prefix(policy);
  shell.policy = rest.substr(0, rest.find('\n') + 1);
  rest.remove_prefix(shell.policy.size());
  shell.before_title = TakeUpTo("{{title}}", rest);
  shell.before_body = TakeUpTo("{{body}}", rest);
  shell.after_body = rest;
  return shell;
}

const Shell& ShellOf(PageKind kind) {
  static const std::array<Shell, 4> kShells = {
      Cut(debrief_tree_plain_begin, debrief_tree_plain_end),
      Cut(debrief_tree_index_begin, debrief_tree_index_end),
      Cut(debrief_tree_code_begin, debrief_tree_code_end),
      Cut(debrief_tree_provenance_begin, debrief_tree_provenance_end)};
  return kShells[static_cast<size_t>(kind)];
}

void AppendHeader(const PageHead& head, std::string& out) {
  out += "<header><b>debrief</b><nav>";
  const bool is_index = head.kind == PageKind::kIndex;
  if (!is_index) {
    fmt::format_to(std::back_inserter(out), "<a href=\"{}index.html\">Index</a>", head.root);
  }
  if (!head.anchor.empty()) {
    out += "<a href=\"";
    out += head.root;
    out += "index.html#";
    AppendHtml(out, head.anchor);
    out += "\">";
    AppendHtml(out, head.anchor);
    out += "</a>";
  }
  // The panes of a provenance page leave no room for a heading of their own.
  AppendElement(head.kind == PageKind::kProvenance ? "h1" : "span", head.title, out);
  out += "</nav></header>\n";
}

// Bytes that stand for themselves in the path of an address.
bool IsPlainInPath(char c) {
  constexpr std::string_view kSpecial = "\"#%<>?[\\]^`{|}:";
  return c > ' ' && c != 0x7F && kSpecial.find(c) == std::string_view::npos;
}

}  // namespace

void BeginPage(const PageHead& head, std::string& out) {
  const Shell& shell = ShellOf(head.kind);
  out += shell.before_policy;
  if (head.custom_html.empty()) out += shell.policy;
  out += shell.before_title;
  AppendHtml(out, head.title);
  out += shell.before_body;
  out += head.custom_html;
  AppendHeader(head, out);
}

void EndPage(PageKind kind, std::string& out) { out += ShellOf(kind).after_body; }

std::string WayToRoot(std::string_view path) {
  std::string way;
  for (auto folders = std::count(path.begin(), path.end(), '/'); folders > 0; --folders) {
    way += "../";
  }
  return way;
}

void AppendPath(std::string_view path, std::string& out) {
  for (char c : path) {
    if (IsPlainInPath(c)) {
      if (c == '&') {
        out += "&amp;";
      } else if (c == '\'') {
        out += "&#39;";
      } else {
        out += c;
      }
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<uint8_t>(c));
    }
  }
}

void AppendFileLink(std::string_view root, std::string_view path, std::string_view text,
                    std::string& out) {
  out += "<a href=\"";
  out += root;
  AppendPath(path, out);
  out += "\">";
  AppendHtml(out, text);
  out += "</a>";
}

bool IsSafeAddress(std::string_view url) {
  // Browsers drop white space and control characters inside of addresses: "java\nscript:".
  for (char c : url) {
    if (static_cast<uint8_t>(c) <= ' ' || c == 0x7F || c == '\\') return false;
  }
  if (url.empty() || url.starts_with("//")) return false;
  const size_t colon = url.find(':');
  if (colon == std::string_view::npos || url.find_first_of("/?#") < colon) return true;
  std::string scheme(url.substr(0, colon));
  for (char& c : scheme) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return scheme == "http" || scheme == "https";
}

void AppendLink(std::string_view url, std::string_view text, std::string& out) {
  if (!IsSafeAddress(url)) {
    AppendHtml(out, text);
    if (!url.empty() && url != text) AppendElement("span class=\"quiet\"", url, out);
    return;
  }
  out += "<a href=\"";
  AppendHtml(out, url);
  out += "\" rel=\"noreferrer\">";
  AppendHtml(out, text);
  out += "</a>";
}

void AppendElement(std::string_view open, std::string_view text, std::string& out) {
  out += '<';
  out += open;
  out += '>';
  AppendHtml(out, text);
  out += "</";
  out += open.substr(0, open.find(' '));
  out += '>';
}

void AppendFact(std::string_view name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  AppendElement("dt", name, out);
  AppendElement("dd", value, out);
}

std::string FloatText(double number) {
  if (std::isnan(number)) return {};
  const double size = std::fabs(number);
  if (size != 0 && (size < 1e-5 || size >= 1e16)) return fmt::format("{}", number);
  std::string text = fmt::format("{}", number);
  if (size >= 1 && text.find('e') != std::string_view::npos) return fmt::format("{:.1f}", number);
  // fmt turns to exponents below 1e-4; the digits it found are as short as they can be.
  if (text.find('e') != std::string_view::npos) {
    const size_t digits =
        text.find('e') - 1 - (text.find('.') != std::string_view::npos) - (number < 0);
    text = fmt::format("{:.{}f}", number, 5 + digits);
  }
  if (text.find('.') == std::string_view::npos) text += ".0";
  return text;
}

}  // namespace debrief::outputs::tlparse_tree

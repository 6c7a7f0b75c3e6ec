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
#include "base/text/units.h"
#include "compat/tlparse/rust_text.h"

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
  if (head.kind != PageKind::kIndex) Put(out, "<a href=\"{}index.html\">Index</a>", head.root);
  if (!head.anchor.empty())
    Put(out, "<a href=\"{0}index.html#{1}\">{1}</a>", head.root, head.anchor);
  out += head.links;
  // The panes of a provenance page leave no room for a heading of their own.
  const std::string_view tag = head.kind == PageKind::kProvenance ? "h1" : "span";
  Put(out, "<{0}>{1}</{0}></nav></header>\n", tag, head.title);
}

// Bytes that stand for themselves in the path of an address.
bool IsPlainInPath(char c) {
  constexpr std::string_view kSpecial = "\"#%<>?[\\]^`{|}:";
  return c > ' ' && c != 0x7F && kSpecial.find(c) == std::string_view::npos;
}

}  // namespace

void AppendText(Html html, std::string& out) { AppendHtml(out, html.text); }

void AppendText(Path path, std::string& out) {
  for (const char& c : path.text) {
    if (IsPlainInPath(c)) {
      AppendHtml(out, {&c, 1});
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<uint8_t>(c));
    }
  }
}

std::string BeginPage(const PageHead& head) {
  const Shell& shell = ShellOf(head.kind);
  std::string out(shell.before_policy);
  if (head.custom_html.empty()) out += shell.policy;
  out += shell.before_title;
  AppendHtml(out, head.title);
  out += shell.before_body;
  out += head.custom_html;
  AppendHeader(head, out);
  return out;
}

std::string EndPage(PageKind kind, std::string page) {
  page += ShellOf(kind).after_body;
  return page;
}

std::string WayToRoot(std::string_view path) {
  std::string way;
  for (auto folders = std::count(path.begin(), path.end(), '/'); folders > 0; --folders)
    way += "../";
  return way;
}

void AppendFileLink(std::string_view root, std::string_view path, std::string_view text,
                    std::string& out) {
  Put(out, "<a href=\"{}{}\">{}</a>", root, Path{path}, text);
}

void AppendFold(size_t count, std::string_view package, std::string& out) {
  Put(out, "<li><details><summary>{} of {}</summary><ol class=\"stack\">\n", Plural(count, "frame"),
      package);
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
  if (IsSafeAddress(url)) {
    Put(out, "<a href=\"{}\" rel=\"noreferrer\">{}</a>", url, text);
  } else {
    AppendHtml(out, text);
    if (!url.empty() && url != text) Put(out, "<span class=\"quiet\">{}</span>", url);
  }
}

void AppendFact(std::string_view name, std::string_view value, std::string& out) {
  if (!value.empty()) Put(out, "<dt>{}</dt><dd>{}</dd>", name, value);
}

std::string FloatText(double number) {
  const double size = std::fabs(number);
  const bool is_plain = size == 0 || (size >= 1e-5 && size < 1e16);
  return is_plain ? SerdeDouble(number) : fmt::format("{}", number);
}

}  // namespace debrief::outputs::tlparse_tree

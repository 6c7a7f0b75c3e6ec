#include "compat/tlparse/pages/listing.h"

#include <fmt/format.h>

#include "base/text/escape.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

void AppendFileLink(std::string_view root, std::string_view path, std::string_view text,
                    std::string& out) {
  out += "<a href=\"";
  out += root;
  AppendPath(path, out);
  out += "\">";
  AppendHtml(out, text);
  out += "</a>";
}

}  // namespace

void AppendListed(const PageContext& context, const ListedFile& file, std::string_view root,
                  std::string& out) {
  if (context.Text(context.entries.form[file.row]) == "link") {
    AppendLink(file.url, file.name, out);
  } else {
    AppendFileLink(root, file.url, root.empty() ? file.url : file.name, out);
  }
  if (!file.readable_url.empty()) {
    out += " (";
    AppendFileLink(root, file.readable_url, "readable_html", out);
    out += ')';
  }
  if (!file.suffix.empty()) {
    out += ' ';
    AppendHtml(out, file.suffix);
  }
  fmt::format_to(std::back_inserter(out), " <small>({})</small>", file.number);
}

}  // namespace debrief::outputs::tlparse_tree

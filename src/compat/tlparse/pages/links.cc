// The way from one page of a compilation to the others: header links of every page of a file.
//
//   debrief  Index  [0/0]  Report  Graph  Code  Metrics  < before  behind >  12 files of [0/0]
#include <algorithm>

#include "base/text/units.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// Files on either side that a page lists: with all of them, an id that is compiled again and again
// would take space that grows with the square of their number.
constexpr size_t kNearby = 20;

class LinkWriter {
 public:
  LinkWriter(const PageContext& context, const TreeFile& file)
      : context_(context),
        files_(context.plan.compilations[static_cast<size_t>(file.compilation)].files),
        own_(file.listed),
        compilation_(file.compilation),
        id_(context.AnchorOf(file)),
        root_(WayToRoot(file.path)) {}

  std::string Write() {
    if (!context_.options.report_link.empty()) {
      Put(out_, "<a href=\"{}{}#/compile\">Report</a>", root_, Path{context_.options.report_link});
    }
    const PageContext::Shortcuts& to = context_.ShortcutsOf(compilation_);
    Shortcut(to.graph, "Graph");
    Shortcut(to.code, "Code");
    Shortcut(to.metrics, "Metrics");
    Neighbours();
    Nearby();
    return std::move(out_);
  }

 private:
  bool IsFile(size_t at) const {
    return context_.Text(context_.entries.form[files_[at].row]) != "link";
  }

  void Link(size_t at, std::string_view text) {
    const ListedFile& file = files_[at];
    AppendFileLink(root_, file.page_url.empty() ? file.url : file.page_url, text, out_);
  }

  void Shortcut(int32_t at, std::string_view text) {
    if (at >= 0 && static_cast<size_t>(at) != own_) Link(static_cast<size_t>(at), text);
  }

  // In the order of the log, which is that of the compiler.
  void Neighbours() {
    for (size_t at = std::min(own_, files_.size()); at-- > 0;) {
      if (!IsFile(at)) continue;
      Link(at, "\u2190 " + files_[at].name);
      break;
    }
    for (size_t at = own_ + 1; at < files_.size(); ++at) {
      if (!IsFile(at)) continue;
      Link(at, files_[at].name + " \u2192");
      break;
    }
  }

  void Nearby() {
    Put(out_, "<details><summary>{} of {}</summary><ul>\n", Plural(files_.size(), "file"), id_);
    const size_t begin = own_ > kNearby ? own_ - kNearby : 0;
    const size_t end = std::min(files_.size(), own_ + kNearby + 1);
    for (size_t at = begin; at < end; ++at) {
      if (!IsFile(at)) continue;
      out_ += at == own_ ? "<li aria-current=\"page\">" : "<li>";
      Link(at, files_[at].name);
      out_ += "</li>\n";
    }
    if (end - begin < files_.size())
      Put(out_, "<li><a href=\"{}index.html#{}\">all of them</a></li>\n", root_, id_);
    out_ += "</ul></details>";
  }

  const PageContext& context_;
  const std::vector<ListedFile>& files_;
  const size_t own_;
  const int32_t compilation_;
  const std::string_view id_;
  const std::string root_;
  std::string out_;
};

}  // namespace

std::string FileLinks(const PageContext& context, const TreeFile& file) {
  return file.compilation < 0 ? std::string() : LinkWriter(context, file).Write();
}

}  // namespace debrief::outputs::tlparse_tree

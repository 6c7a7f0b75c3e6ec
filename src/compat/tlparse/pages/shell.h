// What all pages of a tree have around their content, and the pieces that several of them use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debrief::outputs::tlparse_tree {

// Which style and script a page has.
enum class PageKind : uint8_t { kPlain, kIndex, kCode, kProvenance };

struct PageHead {
  PageKind kind = PageKind::kPlain;
  std::string_view title;        // in the browser's tab, and beside the links of the header
  std::string_view root;         // way to the folder of index.html: "" or "../"
  std::string_view anchor;       // of the page's compilation on the index; empty: none
  std::string_view custom_html;  // as given, before everything else
};

// A page is made in one string: what BeginPage appends, the content, what EndPage appends. A page
// with custom HTML has no policy: what that may do is the user's matter.
void BeginPage(const PageHead& head, std::string& out);
void EndPage(PageKind kind, std::string& out);

// "../" for each folder that `path` lies in.
std::string WayToRoot(std::string_view path);

// A path in the tree as an address: whatever means something in an address is escaped.
void AppendPath(std::string_view path, std::string& out);

// `text` as a link to a file of the tree; `root` is the way to the root of the tree.
void AppendFileLink(std::string_view root, std::string_view path, std::string_view text,
                    std::string& out);

// Whether an address from a log may become a link: http, https, or relative.
bool IsSafeAddress(std::string_view url);

// `text` as a link to an address from a log; as text alone where that is not safe.
void AppendLink(std::string_view url, std::string_view text, std::string& out);

// "<tag>" + escaped text + "</tag>"; `open` is the tag with its attributes.
void AppendElement(std::string_view open, std::string_view text, std::string& out);

// A row of a definition list; nothing when `value` is empty.
void AppendFact(std::string_view name, std::string_view value, std::string& out);

// Shortest text that reads back as the same number, never with an exponent for 1e-5 <= |x| < 1e16,
// and always with a fraction: "2.0", "0.00001".
std::string FloatText(double number);

}  // namespace debrief::outputs::tlparse_tree

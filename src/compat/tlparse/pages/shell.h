// What all pages of a tree have around their content, and the pieces that several of them use.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace debrief::outputs::tlparse_tree {

// How Put() writes a text: escaped; as a path in the tree, where whatever means something in an
// address is escaped; or as it is, since it is HTML already.
struct Html {
  std::string_view text;
};
struct Path {
  std::string_view text;
};
struct Raw {
  std::string_view text;
};

void AppendText(Html html, std::string& out);
void AppendText(Path path, std::string& out);
inline void AppendText(Raw raw, std::string& out) { out += raw.text; }

template <typename T>
auto InHtml(const T& value) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    return Html{value};
  } else {
    return value;
  }
}

// Appends what fmt::format would give, but that texts are escaped: Put(out, "<b>{}</b>", name).
template <typename... Args>
void Put(std::string& out,
         fmt::format_string<decltype(InHtml(std::declval<const Args&>()))...> pattern,
         const Args&... args) {
  fmt::format_to(std::back_inserter(out), pattern, InHtml(args)...);
}

// Which style and script a page has.
enum class PageKind : uint8_t { kPlain, kIndex, kCode, kProvenance };

struct PageHead {
  PageKind kind = PageKind::kPlain;
  std::string_view title;        // in the browser's tab, and beside the links of the header
  std::string_view root;         // way to the folder of index.html: "" or "../"
  std::string_view anchor;       // of the page's compilation on the index; empty: none
  std::string_view links;        // to other pages, as HTML
  std::string_view custom_html;  // as given, before everything else
};

// A page is made in one string: what BeginPage gives, the content, what EndPage puts behind it. A
// page with custom HTML has no policy: what that may do is the user's matter.
std::string BeginPage(const PageHead& head);
std::string EndPage(PageKind kind, std::string page);

// "../" for each folder that `path` lies in.
std::string WayToRoot(std::string_view path);

// `text` as a link to a file of the tree; `root` is the way to the root of the tree.
void AppendFileLink(std::string_view root, std::string_view path, std::string_view text,
                    std::string& out);

// Begins a list item that folds `count` frames of a package away; ends with </ol></details></li>.
void AppendFold(size_t count, std::string_view package, std::string& out);

// Whether an address from a log may become a link: http, https, or relative.
bool IsSafeAddress(std::string_view url);

// `text` as a link to an address from a log; as text alone where that is not safe.
void AppendLink(std::string_view url, std::string_view text, std::string& out);

// A row of a definition list; nothing when `value` is empty.
void AppendFact(std::string_view name, std::string_view value, std::string& out);

// Shortest text that reads back as the same number, never with an exponent for 1e-5 <= |x| < 1e16,
// and then always with a fraction: "2.0", "0.00001".
std::string FloatText(double number);

}  // namespace debrief::outputs::tlparse_tree

template <typename Text>
  requires requires(Text text, std::string& out) {
    debrief::outputs::tlparse_tree::AppendText(text, out);
  }
struct fmt::formatter<Text> : fmt::formatter<std::string_view> {
  auto format(Text text, fmt::format_context& context) const {
    std::string out;
    debrief::outputs::tlparse_tree::AppendText(text, out);
    return fmt::formatter<std::string_view>::format(out, context);
  }
};

#include "compat/tlparse/names.h"

#include <fmt/format.h>

#include "base/bytes/hash.h"
#include "base/text/escape.h"
#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kLongestPart = 200;  // of 255 that file systems take; a number is added yet

std::string InsidePart(std::string_view part) {
  if (part == "." || part == "..") return std::string(part.size(), '_');
  std::string made;
  for (char c : part) {
    auto byte = static_cast<unsigned char>(c);
    made += byte < 0x20 || byte == 0x7f || c == '\\' ? '_' : c;
  }
  if (made.size() <= kLongestPart) return made;
  size_t dot = made.rfind('.');
  std::string extension =
      dot != std::string_view::npos && made.size() - dot <= 16 ? made.substr(dot) : "";
  return fmt::format("{}-{:016x}{}", CutBytes(made, kLongestPart - 17), HashBytes(part), extension);
}

}  // namespace

std::string DisplayId(std::string_view compile_id) {
  return compile_id.empty() ? "(unknown)" : fmt::format("[{}]", compile_id);
}

std::string Numbered(std::string_view name, int32_t number) {
  size_t slash = name.rfind('/');
  size_t dot = name.rfind('.');
  bool has_dot = dot != std::string_view::npos && (slash == std::string_view::npos || dot > slash);
  if (!has_dot) return fmt::format("{}_{}", name, number);
  return fmt::format("{}_{}{}", name.substr(0, dot), number, name.substr(dot));
}

std::string InsidePath(std::string_view name) {
  std::string valid = ValidUtf8(name);
  std::string path;
  for (std::string_view rest = valid; !rest.empty();) {
    size_t slash = std::min(rest.find('/'), rest.size());
    std::string part = InsidePart(rest.substr(0, slash));
    if (!part.empty()) path += (path.empty() ? "" : "/") + part;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return path.empty() ? "_" : path;
}

std::string DumpPath(std::string_view name) {
  constexpr std::string_view kEval = "<eval_with_key>.";
  const size_t at = name.find(kEval);
  if (at == std::string_view::npos) return {};
  name.remove_prefix(at + kEval.size());
  return fmt::format("dump_file/eval_with_key_{}.html",
                     name.substr(0, name.find_first_not_of("0123456789")));
}

std::string_view StemOf(std::string_view path) {
  std::string_view name = FileName(path);
  size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

}  // namespace debrief::outputs::tlparse_tree

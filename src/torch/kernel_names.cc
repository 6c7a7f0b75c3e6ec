#include "torch/kernel_names.h"

#include <algorithm>
#include <array>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

// Where the parameters begin: the bracket that the last one closes.
size_t ParametersAt(std::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

// The name behind all namespaces that stand in front of the first template argument.
std::string_view Unqualified(std::string_view name) {
  const size_t arguments = std::min(name.find('<'), name.size());
  const size_t colons = name.substr(0, arguments).rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

bool IsNamespaceOrType(std::string_view word) {
  constexpr std::array<std::string_view, 22> kWords = {
      "at",     "native", "c10",  "std",   "cuda",  "cub",     "thrust", "detail",
      "float",  "double", "int",  "long",  "short", "char",    "bool",   "unsigned",
      "signed", "void",   "true", "false", "const", "internal"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// The first word of the template arguments that names something.
std::string_view FirstArgument(std::string_view arguments) {
  for (size_t at = 0; at < arguments.size();) {
    if (!IsWord(arguments[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < arguments.size() && IsWord(arguments[end])) ++end;
    const std::string_view word = arguments.substr(at, end - at);
    const bool is_space = arguments.substr(end).starts_with("::");
    if (!IsDigit(word[0]) && !is_space && !IsNamespaceOrType(word)) return word;
    at = end;
  }
  return {};
}

}  // namespace

std::string ShortKernelName(std::string_view name) {
  const bool is_code = name.starts_with("void ") || Contains(name, "::") ||
                       (name.ends_with(')') && !Contains(name, " ("));
  if (!is_code) return std::string(name);
  std::string clean(name);
  for (size_t at; (at = clean.find(kAnonymous)) != std::string::npos;)
    clean.erase(at, kAnonymous.size());
  std::string_view rest = clean;
  rest = rest.substr(0, ParametersAt(rest));
  TakePrefix(rest, "void ");
  rest = Unqualified(rest);
  const size_t arguments = rest.find('<');
  if (arguments == std::string_view::npos)
    return rest.empty() ? std::string(name) : std::string(rest);
  const std::string_view first = FirstArgument(rest.substr(arguments));
  std::string text(rest.substr(0, arguments));
  if (!first.empty()) text.append("<").append(first).append(">");
  return text.empty() ? std::string(name) : text;
}

}  // namespace debrief

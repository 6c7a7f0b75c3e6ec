#include "analyses/compile/modules/guarded_modules.h"

#include <optional>
#include <unordered_set>

#include "base/text/newlines.h"
#include "base/text/scan.h"

namespace debrief::analyses::compile_modules {

namespace {

// What stands between `begin` and `end`, which follows it.
std::optional<std::string_view> Between(std::string_view text, std::string_view begin,
                                        std::string_view end) {
  const size_t at = text.find(begin);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + begin.size());
  const size_t stop = text.find(end);
  if (stop == std::string_view::npos) return std::nullopt;
  return text.substr(0, stop);
}

// L['self'] with any number of ._modules['name'] behind it, and nothing else.
bool IsModulePath(std::string_view source) {
  if (!TakePrefix(source, "L['")) return false;
  while (true) {
    const size_t close = source.find("']");
    if (close == std::string_view::npos) return false;
    source.remove_prefix(close + 2);
    if (source.empty()) return true;
    if (!TakePrefix(source, "._modules['")) return false;
  }
}

}  // namespace

std::vector<StackModule> ParseGuardedModules(std::string_view text) {
  std::vector<StackModule> modules;
  std::unordered_set<std::string_view> known;
  LineSplitter lines(text);
  for (std::string_view line; lines.Next(line);) {
    const auto source = Between(line, "GuardManager: source=", ", ");
    const auto type = Between(line, ", type=<class '", "'>");
    if (!source || !type || !IsModulePath(*source) || !known.insert(*source).second) continue;
    modules.push_back({.path = ModulePath(*source), .type = std::string(*type)});
  }
  return modules;
}

}  // namespace debrief::analyses::compile_modules

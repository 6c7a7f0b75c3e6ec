#include "analyses/compile/modules/guarded_modules.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

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

// L['self'] with any number of ._modules['name'] behind it, and nothing else but the wrapper of
// torch.compile().
bool IsModulePath(std::string_view source) {
  if (!TakePrefix(source, "L['")) return false;
  while (true) {
    const size_t close = source.find("']");
    if (close == std::string_view::npos) return false;
    source.remove_prefix(close + 2);
    TakePrefix(source, "._orig_mod");
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
    StackModule made = {.path = ModulePath(*source), .type = std::string(*type)};
    // What is wrapped names the class, and not the wrapper.
    auto wrapper = source->ends_with("._orig_mod")
                       ? std::ranges::find(modules, made.path, &StackModule::path)
                       : modules.end();
    if (wrapper != modules.end()) {
      wrapper->type = std::move(made.type);
    } else {
      modules.push_back(std::move(made));
    }
  }
  return modules;
}

}  // namespace debrief::analyses::compile_modules

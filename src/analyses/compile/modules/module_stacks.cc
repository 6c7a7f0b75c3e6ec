#include "analyses/compile/modules/module_stacks.h"

#include <algorithm>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::analyses::compile_modules {

namespace {

constexpr size_t kMostModules = 64;  // around one node

// "getattr(L['self'].layers, '0')" as "L['self'].layers.0"; what is no such call stays.
std::string WithoutGetattr(std::string_view expression) {
  constexpr std::string_view kCall = "getattr(";
  if (!expression.starts_with(kCall) || !expression.ends_with(')')) return std::string(expression);
  expression = expression.substr(kCall.size(), expression.size() - kCall.size() - 1);
  const size_t comma = expression.rfind(", ");
  if (comma == std::string_view::npos) return std::string(expression);
  std::string inner(expression.substr(0, comma));
  return inner + "." + std::string(Trimmed(expression.substr(comma + 2), "'\""));
}

void AddModule(std::string_view path, std::string_view type, std::vector<StackModule>& stack) {
  if (stack.size() < kMostModules) stack.push_back({ModulePath(path), std::string(type)});
}

// ["L['self'].relu", "torch.nn.modules.activation.ReLU"]
Status ReadModule(JsonValue pair, std::vector<StackModule>& stack) {
  std::vector<std::string> texts;
  TRY(pair.ForEachElement([&](JsonValue element) {
    if (auto text = element.String()) texts.emplace_back(*text);
  }));
  if (texts.size() == 2) AddModule(texts[0], texts[1], stack);
  return {};
}

// ["L__self___relu", [path, type]]
Status ReadKeyed(JsonValue element, std::vector<StackModule>& stack) {
  return element.ForEachElement([&](JsonValue part) -> Status {
    return part.kind() == JsonKind::kArray ? ReadModule(part, stack) : Status();
  });
}

// "L__self___relu,relu,torch.nn.modules.activation.ReLU;..."
void ReadJoined(std::string_view text, std::vector<StackModule>& stack) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t path = one.find(','), type = one.rfind(',');
    if (path == std::string_view::npos || path == type) continue;
    AddModule(one.substr(path + 1, type - path - 1), one.substr(type + 1), stack);
  }
}

Status ReadStack(JsonValue value, std::vector<StackModule>& stack) {
  switch (value.kind()) {
    case JsonKind::kArray:
      return value.ForEachElement([&](JsonValue element) { return ReadKeyed(element, stack); });
    case JsonKind::kObject:
      return value.ForEachField(
          [&](std::string_view, JsonValue pair) { return ReadModule(pair, stack); });
    case JsonKind::kString:
      if (auto text = value.String()) ReadJoined(*text, stack);
      return {};
    default:
      return {};
  }
}

}  // namespace

std::string ModulePath(std::string_view expression) {
  const std::string plain = WithoutGetattr(expression);
  std::string path;
  for (std::string_view rest = plain; !rest.empty();) {
    if (TakePrefix(rest, "._modules") || TakePrefix(rest, "._orig_mod")) continue;
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c != '[') {
      path += c;
      continue;
    }
    const size_t close = std::min(rest.find(']'), rest.size());
    const std::string_view name = Trimmed(rest.substr(0, close), "'\"");
    rest.remove_prefix(std::min(close + 1, rest.size()));
    if (path == "L" || path == "G") {
      path = name;
    } else {
      path += '.';
      path += name;
    }
  }
  if (path.empty()) return "self";
  const bool is_rooted = path == "self" || path.starts_with("self.") || plain.find('[') < 2;
  return is_rooted ? path : "self." + path;
}

ModuleStacks ParseModuleStacks(std::string_view text, JsonReader& reader) {
  ModuleStacks stacks;
  Status status = reader.Open(text);
  if (status.ok()) {
    status = reader.root().ForEachField([&](std::string_view node, JsonValue value) {
      const std::string name(node);
      return ReadStack(value, stacks[name]);
    });
  }
  if (!status.ok()) stacks.clear();
  return stacks;
}

}  // namespace debrief::analyses::compile_modules

#include "torch/fx/input_source.h"

namespace debrief {

namespace {

constexpr std::string_view kModules = "_modules_";
constexpr std::string_view kParameters = "_parameters_";
constexpr std::string_view kBuffers = "_buffers_";

// The separator that begins at `at`, if one does.
std::string_view SeparatorAt(std::string_view name, size_t at) {
  for (std::string_view separator : {kModules, kParameters, kBuffers})
    if (name.substr(at).starts_with(separator)) return separator;
  return {};
}

// L__self___fc1, of older versions: L['self'].fc1
FxInputSource GuessOld(std::string_view name) {
  FxInputSource source;
  size_t behind_root = name.find("___");
  if (behind_root == name.npos || behind_root == 0) return source;
  source.path = name.substr(0, behind_root);
  source.path += '.';
  source.path += name.substr(behind_root + 3);
  source.module = behind_root;
  return source;
}

}  // namespace

std::string_view FxInputSource::leaf() const {
  return std::string_view(path).substr(module == 0 ? 0 : module + 1);
}

FxInputSource GuessInputSource(std::string_view name) {
  if (name.starts_with("L__")) return GuessOld(name.substr(3));
  FxInputSource source;
  if (!name.starts_with("L_") && !name.starts_with("G_")) return source;
  name.remove_prefix(2);
  if (name.ends_with('_')) name.remove_suffix(1);
  for (size_t at = 0; at < name.size();) {
    std::string_view separator = name[at] == '_' ? SeparatorAt(name, at) : std::string_view();
    if (separator.empty() || at == 0) {
      source.path += name[at++];
      continue;
    }
    at += separator.size();
    if (separator != kModules) source.module = source.path.size();
    source.is_parameter |= separator == kParameters;
    source.is_buffer |= separator == kBuffers;
    source.path += '.';
    if (separator == kModules) continue;
    source.path += name.substr(at);  // the name of the parameter is the rest
    break;
  }
  return source;
}

}  // namespace debrief

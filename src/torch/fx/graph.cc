#include "torch/fx/graph.h"

#include <array>
#include <charconv>

#include "base/text/strings.h"

namespace debrief {

namespace {

// Behind the bracket that closes the one at `open`; npos when none does.
size_t BehindBracket(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '(') ++depth;
    if ((text[at] == ']' || text[at] == ')') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

// Bytes of one element; 0 when the type is not known. The digits of a name are its bits.
int64_t ElementBytes(std::string_view dtype) {
  if (dtype.starts_with("f8")) return 1;
  size_t letters = dtype.find_first_of("0123456789");
  if (letters == std::string_view::npos) return 0;
  std::string_view kind = dtype.substr(0, letters);
  if (kind != "f" && kind != "bf" && kind != "i" && kind != "u" && kind != "b" && kind != "c")
    return 0;
  const int64_t bits = ParseNumber<int64_t>(dtype.substr(letters)).value_or(0);
  return bits % 8 == 0 && bits <= 128 ? bits / 8 : 0;
}

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
  if (behind_root == std::string_view::npos || behind_root == 0) return source;
  source.path = name.substr(0, behind_root);
  source.path += '.';
  source.path += name.substr(behind_root + 3);
  source.module = behind_root;
  return source;
}

}  // namespace

FxValue ReadFxValue(std::string_view text) {
  FxValue value;
  value.text = value.dtype = text;
  size_t open = text.find_first_of("[(");
  if (open == std::string_view::npos) return value;
  size_t behind = BehindBracket(text, open);
  if (behind == std::string_view::npos) return value;
  std::string_view inside = text.substr(open + 1, behind - open - 2);
  if (text[open] == '(') {
    if (!text.starts_with("Sym(") || behind != text.size()) return value;
    value.dtype = text.substr(0, open);
    value.sizes = inside;
    return value;
  }
  if (open == 0) return value;
  value.is_tensor = true;
  value.dtype = text.substr(0, open);
  value.sizes = inside;
  if (behind < text.size() && text[behind] == '[') {
    size_t end = BehindBracket(text, behind);
    if (end == std::string_view::npos) return value;
    value.strides = text.substr(behind + 1, end - behind - 2);
    behind = end;
  }
  value.device = text.substr(behind);
  return value;
}

std::optional<int64_t> FxBytes(const FxValue& value) {
  if (value.dtype == "Sym") return 0;
  int64_t bytes = value.is_tensor ? ElementBytes(value.dtype) : 0;
  if (bytes == 0) return std::nullopt;
  const char* at = value.sizes.data();
  const char* end = at + value.sizes.size();
  while (at < end) {
    int64_t size = 0;
    auto [stop, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0) return std::nullopt;
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
    at = stop;
    if (at < end && *at != ',') return std::nullopt;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return bytes;
}

std::string_view WithoutDeviceIndex(std::string_view device) {
  size_t colon = device.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == device.size()) return device;
  const bool has_index =
      device.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return has_index ? device.substr(0, colon) : device;
}

std::string_view FxOpName(FxOp op) {
  constexpr std::array<std::string_view, 7> kNames = {"placeholder", "get_attr",    "call_function",
                                                      "call_method", "call_module", "output",
                                                      "unknown"};
  return kNames[static_cast<size_t>(op)];
}

void GraphNodes::Clear() {
  nodes.clear();
  inputs.clear();
  places.assign(1, {});
  graphs.clear();
  texts.clear();
}

std::string_view FxInputSource::leaf() const {
  return std::string_view(path).substr(module == 0 ? 0 : module + 1);
}

FxInputSource GuessInputSource(std::string_view name) {
  constexpr std::string_view kWrapped = "_orig_mod";
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
    // A module that torch.compile() wrapped is the module: L['m']._orig_mod._modules['fc'].
    if (source.path.size() > kWrapped.size() && source.path.ends_with(kWrapped))
      source.path.resize(source.path.size() - kWrapped.size());
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

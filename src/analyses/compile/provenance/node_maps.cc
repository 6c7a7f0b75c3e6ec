#include "analyses/compile/provenance/line_maps.h"
#include "base/bytes/source.h"
#include "base/json/canonical.h"
#include "base/json/cursor.h"

namespace debrief::analyses::compile_provenance {

namespace {

void ReadNames(JsonValue list, std::vector<std::string>& names) {
  if (list.kind() != JsonKind::kArray) return;
  Status status = list.ForEachElement([&](JsonValue element) {
    if (element.kind() != JsonKind::kString) return;
    if (auto name = element.String()) names.emplace_back(*name);
  });
  static_cast<void>(status);  // the text is canonical, so it is JSON
}

void ReadNameMap(JsonValue object, NameMap& map) {
  if (object.kind() != JsonKind::kObject) return;
  Status status = object.ForEachField(
      [&](std::string_view key, JsonValue list) { ReadNames(list, map[std::string(key)]); });
  static_cast<void>(status);
}

}  // namespace

std::optional<NodeMaps> ReadNodeMaps(std::string_view json) {
  JsonCanonical canonical;
  std::string text;
  if (!canonical.Append(json, JsonCanonical::kCompact, text)) return std::nullopt;
  size_t size = text.size();
  text.append(kPadding, '\0');
  JsonReader reader;
  NodeMaps maps;
  if (!reader.Open({text.data(), size}).ok()) return std::nullopt;
  Status status = reader.root().ForEachField([&](std::string_view key, JsonValue value) {
    if (key == "preToPost") ReadNameMap(value, maps.pre_to_post);
    if (key == "postToPre") ReadNameMap(value, maps.post_to_pre);
    if (key == "cppCodeToPost") ReadNameMap(value, maps.kernel_to_post);
    if (key == "postToCppCode") ReadNameMap(value, maps.post_to_kernel);
  });
  if (!status.ok()) return std::nullopt;
  return maps;
}

}  // namespace debrief::analyses::compile_provenance

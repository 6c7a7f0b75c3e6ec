#include "analyses/compile/provenance/line_maps.h"

#include <unordered_map>

#include "base/bytes/source.h"
#include "base/json/canonical.h"
#include "base/json/cursor.h"
#include "base/text/strings.h"

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

constexpr size_t kMostTargets = size_t{1} << 22;

constexpr std::string_view kBlanks = " \t\n\v\f\r";

using NodeLines = std::unordered_map<std::string_view, int32_t>;

NodeLines FindNodes(std::string_view graph) {
  NodeLines nodes;
  int32_t number = 0;
  for (std::string_view line : SplitLines(graph)) {
    ++number;
    line = Trimmed(line, kBlanks);
    if (line.empty() || line[0] == '#') continue;
    line = line.substr(0, line.find('='));
    line = Trimmed(line.substr(0, line.find(':')), kBlanks);
    if (!line.empty()) nodes[line] = number;
  }
  return nodes;
}

// Fills maps until they are too large.
class Mapper {
 public:
  void NodesToNodes(const NameMap& map, const NodeLines& from, const NodeLines& to,
                    LineMap& lines) {
    for (const auto& [name, targets] : map) {
      auto at = from.find(name);
      if (at != from.end()) Put(at->second, LinesOf(targets, to), lines);
    }
  }

  // A later kernel on the same line takes its place.
  void KernelsToNodes(const NameMap& map, const KernelLines& kernels, const NodeLines& nodes,
                      LineMap& lines) {
    for (const auto& [name, targets] : map) {
      auto at = kernels.find(name);
      if (at == kernels.end()) continue;
      std::vector<int64_t> target_lines = LinesOf(targets, nodes);
      for (int32_t line : at->second) Put(line, target_lines, lines);
    }
  }

  void NodesToKernels(const NameMap& map, const NodeLines& nodes, const KernelLines& kernels,
                      LineMap& lines) {
    for (const auto& [name, targets] : map) {
      auto node = nodes.find(name);
      if (node == nodes.end() || too_large()) continue;
      std::vector<int64_t> target_lines;
      for (const std::string& target : targets) {
        auto at = kernels.find(target);
        if (at == kernels.end() || target_lines.size() > kMostTargets) continue;
        target_lines.insert(target_lines.end(), at->second.begin(), at->second.end());
      }
      Put(node->second, std::move(target_lines), lines);
    }
  }

  bool too_large() const { return targets_ > kMostTargets; }

 private:
  static std::vector<int64_t> LinesOf(const std::vector<std::string>& names,
                                      const NodeLines& nodes) {
    std::vector<int64_t> lines;
    for (const std::string& name : names) {
      auto at = nodes.find(name);
      if (at != nodes.end()) lines.push_back(at->second);
    }
    return lines;
  }

  void Put(int32_t line, std::vector<int64_t> targets, LineMap& lines) {
    targets_ += targets.size();
    if (!targets.empty() && !too_large()) lines[line] = std::move(targets);
  }

  size_t targets_ = 0;
};

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

std::optional<LineMaps> MapLines(const NodeMaps& maps, const ProvenanceTexts& texts) {
  NodeLines pre = FindNodes(texts.pre);
  NodeLines post = FindNodes(texts.post);
  auto python = FindInPython(texts.python, maps.kernel_to_post);
  auto cpp = FindInCpp(texts.cpp, maps.kernel_to_post);
  if (!python || !cpp) return std::nullopt;
  LineMaps lines;
  Mapper mapper;
  mapper.KernelsToNodes(maps.kernel_to_post, *cpp, post, lines[0]);
  mapper.NodesToKernels(maps.post_to_kernel, post, *cpp, lines[1]);
  mapper.NodesToNodes(maps.post_to_pre, post, pre, lines[2]);
  mapper.NodesToKernels(maps.post_to_kernel, post, *python, lines[3]);
  mapper.NodesToNodes(maps.pre_to_post, pre, post, lines[4]);
  mapper.KernelsToNodes(maps.kernel_to_post, *python, post, lines[5]);
  if (mapper.too_large()) return std::nullopt;
  return lines;
}

}  // namespace debrief::analyses::compile_provenance

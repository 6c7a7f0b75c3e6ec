#include "analyses/compile/guards/guard_tree.h"

#include "base/text/scan.h"

namespace debrief::analyses::compile_guards {

namespace {

// The source of a manager; ends before ", accessed_by=" or with the line.
std::string_view SourceOf(std::string_view line) {
  constexpr std::string_view kSource = "source=";
  const size_t at = line.find(kSource);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + kSource.size());
  return line.substr(0, line.find(", accessed_by="));
}

// "GuardManager", "KeyManager", "KeyValueManager pair at index=0", but no kind of guard: those are
// in capitals.
bool IsManager(std::string_view label) {
  return label.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos &&
         label.find("Manager") != std::string_view::npos;
}

class TreeReader {
 public:
  explicit TreeReader(GuardTree& tree) : tree_(tree) {}

  void Line(std::string_view line) {
    const size_t at = line.find_first_not_of("| ");
    if (at == std::string_view::npos) return;
    line.remove_prefix(at);
    if (!TakePrefix(line, "+- ")) return Latency(line);
    const size_t depth = at / 2;
    const size_t colon = line.find(": ");
    const std::string_view label = line.substr(0, colon);
    if (IsManager(label) || colon == std::string_view::npos) {
      sources_.resize(depth + 1);
      sources_[depth] = SourceOf(line);
      return;
    }
    Guard& guard = tree_.guards.emplace_back();
    guard.kind = label;
    if (depth > 0 && depth <= sources_.size()) guard.source = sources_[depth - 1];
    ParseGuardLine(line.substr(colon + 2), guard);
  }

 private:
  void Latency(std::string_view line) {
    if (TakePrefix(line, "Guard latency = ")) tree_.check_us = LeadingNumber(line, tree_.check_us);
  }

  GuardTree& tree_;
  std::vector<std::string_view> sources_;  // of the managers above, by depth
};

}  // namespace

void ParseGuardTree(std::string_view text, GuardTree& tree) {
  tree.guards.clear();
  tree.check_us = kNoDouble;
  TreeReader reader(tree);
  while (!text.empty()) reader.Line(TakeLine(text));
}

}  // namespace debrief::analyses::compile_guards

// Logs of the AIU compiler (DeepRT): tables of ideal cycles per kernel, as text or as
// ideal_cycles.json. Recognised; a reader comes with the accelerator part.
#include "inputs/importer.h"

#include "inputs/sniffing.h"

namespace debrief::inputs::aiu_compiler_log {

namespace {

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr && input.json->Has("[].ideal_cycles")) return {.mine = true};
  auto has = [&](std::string_view text) { return input.head.find(text) != std::string_view::npos; };
  bool mine =
      LooksLikeText(input.head) && (input.head.starts_with("[DeepRT]") || has("\n[DeepRT] ") ||
                                    has("====== Perf Summary ======"));
  return {.mine = mine};
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "aiu_compiler_log",
               .sentence = "AIU compiler log: ideal cycles per kernel",
               .example = "compiler.log",
               .makes = {}},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::aiu_compiler_log

#include "accel/pass.h"

namespace debrief::accel {

// One walk over the arguments: the keys are neighbours.
bool ReadCycles(const Event& event, const StringPool& strings, int64_t (&cycles)[5]) {
  unsigned found = 0;
  for (const Arg& arg : event.args()) {
    const uint32_t at = static_cast<uint32_t>(arg.key) - static_cast<uint32_t>(key::kTS1);
    if (at > 4 || arg.place != ArgPlace::kArgs) continue;
    if (arg.kind == ValueKind::kDecimalText) {
      cycles[at] = arg.integer;
    } else if (const auto value = arg.value().AsInteger(strings)) {
      cycles[at] = *value;
    } else {
      return false;
    }
    found |= 1u << at;
  }
  return found == 0x1f;
}

// The reference looks for the last dot anywhere: "./out" then has the stem "".
std::string SidePath(const Options& options, std::string_view purpose, std::string_view extension) {
  std::string stem = options.output;
  if (const size_t at = stem.find(".pt.trace"); at != std::string::npos) stem.erase(at, 9);
  const size_t dot = stem.rfind('.');
  const size_t slash = stem.rfind('/');
  const bool in_folder = slash != std::string::npos && dot != std::string::npos && dot < slash;
  if (dot != std::string::npos && (options.compat || !in_folder)) stem.resize(dot);
  return stem + "_" + std::string(purpose) + "." + std::string(extension);
}

}  // namespace debrief::accel

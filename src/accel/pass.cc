#include "accel/pass.h"

namespace debrief::accel {

bool ReadCycles(const Event& event, const StringPool& strings, int64_t (&cycles)[5]) {
  constexpr StringId kKeys[5] = {key::kTS1, key::kTS2, key::kTS3, key::kTS4, key::kTS5};
  for (int i = 0; i < 5; ++i) {
    const Arg* arg = event.Find(kKeys[i]);
    const auto value = arg == nullptr ? std::nullopt : arg->value().AsInteger(strings);
    if (!value) return false;
    cycles[i] = *value;
  }
  return true;
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

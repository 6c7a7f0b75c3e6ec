// debrief_fuzz: one libFuzzer program for everything that reads bytes from outside.
//
//   debrief_fuzz --target=NAME [what libFuzzer takes]     NAME: an importer, or one of kOthers
//   debrief_fuzz --list                                   the names, one a line
//
// libFuzzer itself ignores flags with two dashes, and hands them on when it starts itself again.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz_targets.h"
#include "inputs/importer.h"

namespace {

struct Target {
  std::string_view name;
  void (*run)(std::span<const uint8_t> data);
};

constexpr Target kOthers[] = {
    {"recording_reader", debrief::FuzzRecordingReader},
    {"accel", debrief::FuzzAccel},
    {"discovery", debrief::FuzzDiscovery},
    {"archive", debrief::FuzzArchive},
    {"sql", debrief::FuzzSql},
    {"findings", debrief::FuzzFindings},
    {"mcp", debrief::FuzzMcp},
    {"doctor", debrief::FuzzDoctor},
    {"redact", debrief::FuzzRedact},
};

const debrief::Importer* importer = nullptr;
const Target* other = nullptr;

[[noreturn]] void ListTargets() {
  for (const debrief::Importer* one : debrief::AllImporters()) {
    std::printf("%.*s\n", static_cast<int>(one->info.name.size()), one->info.name.data());
  }
  for (const Target& one : kOthers) std::printf("%s\n", one.name.data());
  std::exit(0);
}

void ChooseTarget(std::string_view name) {
  importer = debrief::FindImporter(name);
  for (const Target& one : kOthers) {
    if (one.name == name) other = &one;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word == "--list") ListTargets();
    if (word.starts_with(kFlag)) ChooseTarget(word.substr(kFlag.size()));
  }
  if (importer != nullptr || other != nullptr) return 0;
  std::fprintf(stderr,
               "usage: debrief_fuzz --target=NAME ..., with a NAME of debrief_fuzz --list\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (other != nullptr) {
    other->run({data, size});
  } else {
    debrief::FuzzImporter(*importer, {data, size});
  }
  return 0;
}

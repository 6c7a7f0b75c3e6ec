// debrief_fuzz: one libFuzzer program for everything that reads bytes from outside.
//
//   debrief_fuzz --target=NAME [what libFuzzer takes]     NAME: an importer, or recording_reader
//   debrief_fuzz --list                                   the names, one a line
//
// libFuzzer itself ignores flags with two dashes, and hands them on when it starts itself again.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz_targets.h"
#include "inputs/importer.h"

namespace {

constexpr std::string_view kReader = "recording_reader";

std::string_view target;
const debrief::Importer* importer = nullptr;  // none: the reader of recordings

[[noreturn]] void ListTargets() {
  for (const debrief::Importer* one : debrief::AllImporters()) {
    std::printf("%.*s\n", static_cast<int>(one->info.name.size()), one->info.name.data());
  }
  std::printf("%s\n", kReader.data());
  std::exit(0);
}

void ChooseTarget(std::string_view name) {
  target = name;
  for (const debrief::Importer* one : debrief::AllImporters()) {
    if (one->info.name == name) importer = one;
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
  if (importer != nullptr || target == kReader) return 0;
  std::fprintf(stderr,
               "usage: debrief_fuzz --target=NAME ..., with a NAME of debrief_fuzz --list\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (importer != nullptr) {
    debrief::FuzzImporter(*importer, {data, size});
  } else {
    debrief::FuzzRecordingReader({data, size});
  }
  return 0;
}

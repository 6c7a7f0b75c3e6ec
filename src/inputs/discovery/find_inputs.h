// Finds everything under the given paths and says what it is.
//
// Files and folders (recursive, in order of name), .gz and .zst, members of .tar, .tar.gz, .tar.zst
// and .zip, and "-" for standard input. Nothing here stops the run: what cannot be opened is an
// input with a diagnostic. Cost: one pass over the folders and the first 64 KiB of every file, in
// parallel; archives are read once from front to end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/spill.h"
#include "base/threads/progress.h"
#include "base/threads/thread_pool.h"
#include "inputs/found_input.h"

namespace debrief {

struct FindOptions {
  std::vector<std::string> paths;
  std::string output_folder;  // never an input
  bool stays_inside = false;  // links to files outside of the paths are not followed
  int stdin_fd = 0;
  int64_t now_ns = 0;
  bool all_claims = false;  // ask every importer, for tests: FoundInput::claims
};

std::vector<FoundInput> FindInputs(const FindOptions& options, ThreadPool& pool,
                                   SpillBudget& budget, Progress& progress);

}  // namespace debrief

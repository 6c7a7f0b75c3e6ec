// A folder of its own for a benchmark that writes files; it is gone afterwards.
#pragma once

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

// The exit code for `run`, whose error is printed.
inline int RunInScratchFolder(std::string_view name, Status (*run)(const std::string& folder)) {
  std::string folder =
      (std::filesystem::temp_directory_path() / ("debrief_" + std::string(name) + "_XXXXXX"))
          .string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  Status status = run(folder);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace debrief

// A folder of its own for a benchmark that writes files; it is gone afterwards.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/paths.h"
#include "base/status.h"

namespace debrief {

// The exit code for `run`, whose error is printed.
inline int RunInScratchFolder(std::string_view name, Status (*run)(const std::string& folder)) {
  const ScratchFolder folder(
      (std::filesystem::temp_directory_path() / ("debrief_" + std::string(name) + "_")).string());
  if (folder.path().empty()) return 1;
  const Status status = run(folder.path());
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace debrief

// An output folder that appears all at once: files are written beside it, and it gets its name when
// the work is done. A run that fails leaves nothing behind, and an older folder stays until it is
// replaced.
#pragma once

#include <string>

#include "base/status.h"

namespace debrief {

class StagedFolder {
 public:
  StagedFolder() = default;
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();  // removes what was not published

  // Fails when `target` exists and may not be replaced.
  Status Begin(const std::string& target, bool overwrite);
  // Where to write.
  const std::string& path() const { return staging_; }
  Status Publish();

 private:
  std::string target_;
  std::string staging_;  // empty: nothing to remove
};

}  // namespace debrief

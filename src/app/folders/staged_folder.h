// An output folder that appears all at once: files are written beside it, and it gets its name when
// the work is done. A run that fails or is interrupted leaves nothing behind, and an older folder
// stays whole until it is replaced.
//
//   StagedFolder staged;
//   TRY(staged.Begin("debrief_out", {.is_report = true, .inputs = paths}));
//   ... write into staged.path() ...
//   TRY(staged.Publish());
//
// Only folders that debrief wrote are replaced (output_folder.h); what others put into one of them
// is carried over. Folders above it are made when they are missing.
#pragma once

#include <string>
#include <vector>

#include "base/bytes/unfinished.h"
#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

class StagedFolder {
 public:
  struct Options {
    bool overwrite = false;           // an older folder of ours may be replaced
    bool is_report = false;           // an older report may be, even so
    std::vector<std::string> inputs;  // never replaced, nor what holds one
    bool is_tlparse_tree = false;     // has no marker, and an empty folder is one that exists
  };

  StagedFolder() = default;
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();  // removes what was not published

  // Fails when `target` may not be replaced.
  Status Begin(const std::string& target, Options options);
  // Where to write.
  const std::string& path() const { return staging_.path(); }
  // The folder that it will be.
  const std::string& target() const { return target_; }
  Status Publish();

 private:
  Status CheckTarget() const;
  Status MakeParents();
  Status MakeStaging();
  Status Swap() const;
  Status MoveInside() const;

  Options options_;
  std::string shown_;   // the target as it was given
  std::string target_;  // as it really is
  bool inside_ = false;
  std::vector<std::string> made_;  // folders above the target that were missing, outermost first
  Unfinished staging_;             // empty path: nothing to remove
  UniqueFd lock_;
};

}  // namespace debrief

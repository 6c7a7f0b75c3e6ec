// Waits until something below some folders may have changed: the kernel tells (inotify), and where
// it cannot (network file systems, too many folders) the time limit is when one looks again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes/unique_fd.h"

namespace debrief::watch {

class WakeUp {
 public:
  WakeUp();

  // From now on these folders; those that are gone are forgotten.
  void Follow(const std::vector<std::string>& folders);

  // Returns after a change, after a signal, or after `most_ms`.
  void Wait(int most_ms);

 private:
  static constexpr size_t kMostFolders = 8192;

  UniqueFd events_;
  std::map<std::string, int> watches_;
};

}  // namespace debrief::watch

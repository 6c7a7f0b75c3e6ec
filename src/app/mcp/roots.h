// The folders that a client of `debrief mcp` may name paths in. What lies elsewhere is refused,
// also where a link leads there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace debrief {

class Roots {
 public:
  static Result<Roots> Open(const std::vector<std::string>& folders);

  // Where `path` really lies: a relative one below the first folder that has it. kDenied when that
  // is outside, whether there is something or not; kNotFound when there is nothing.
  Result<std::string> Resolve(const std::string& path) const;

  // kDenied when a link below `folder` (a real path) leads out: debrief follows links to files.
  Status CheckLinks(const std::string& folder) const;

  const std::vector<std::string>& folders() const { return folders_; }

 private:
  bool Contains(std::string_view real_path) const;
  Status Refused(std::string_view path) const;

  std::vector<std::string> folders_;  // real paths
};

}  // namespace debrief

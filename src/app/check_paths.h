// Paths of a command line, looked at before any work begins.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace debrief {

// kUsage when one of `paths` does not exist ("-" is stdin and exists), with the command or the file
// beside it that was probably meant. A path that may not be looked at is not missing: what is wrong
// with it is said when it is read.
Status CheckPaths(std::span<const std::string> paths, std::span<const std::string> commands = {});

}  // namespace debrief

// The files below the given paths, without opening them.
#pragma once

#include <string>
#include <vector>

#include "inputs/found_input.h"

namespace debrief {

// In order of path. What is not a readable file (fifo, dangling link, loop, unreadable folder) is
// in the list too, with a note and state kSkipped or kFailed. `output_folder` is left
// out, and so is the folder with the shards that become that output (kShardsSuffix).
// `stays_inside`: so are links to files outside of the paths, with a note.
std::vector<FoundInput> WalkFolders(const std::vector<std::string>& paths,
                                    const std::string& output_folder, bool stays_inside = false);

}  // namespace debrief

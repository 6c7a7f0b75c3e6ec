// Names of outputs that are not whole yet, and of the file that says that a folder is ours.
//
// What is being written lies beside its place as `.NAME.debrief-0123456789abcdef`. The digits are
// random: two runs never share a name, and nobody can put a link there beforehand. Who writes holds
// a lock on it (flock); one that nobody holds was left by a run that was killed.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// Stands in every folder that debrief wrote, with the names of what it put there, one a line. The
// trees of `debrief compile` have none: they are what tlparse writes, file by file.
inline constexpr std::string_view kOutputMarker = ".debrief";

// Shards of a job that becomes the report OUT lie beside it, in OUT_shards.
inline constexpr std::string_view kShardsSuffix = "_shards";

// A fresh name for what will become `path`, in the same folder.
std::string UnfinishedPath(std::string_view path);

// Whether a file or folder of this name is an output that is not whole; of `of` alone, when given.
bool IsUnfinishedName(std::string_view name, std::string_view of = {});

}  // namespace debrief

// Folders that debrief wrote: how they are known, and how one is taken away without taking anything
// else with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

// Whether debrief wrote it: it has the marker (output_names.h) or is a tree of `debrief compile`.
bool IsOutputFolder(const std::filesystem::path& folder);
// Whether its marker says that it is a report of `debrief PATH`, whole or one that was cut short.
bool IsReportFolder(const std::filesystem::path& folder);

// Marks a folder that is being written, all of which is ours, or one that is whole, in which ours
// is what lies there now. The descriptor holds the lock that says that we are alive.
Result<UniqueFd> MarkUnfinished(const std::filesystem::path& folder);
Result<UniqueFd> MarkWhole(const std::filesystem::path& folder);

// The names in it that are ours, the marker first.
std::vector<std::string> OwnEntries(const std::filesystem::path& folder);

// Removes a folder that debrief wrote. What somebody else put into it moves to `successor` where
// nothing has that name there, and stays where it is otherwise.
void RemoveOutputFolder(const std::filesystem::path& folder,
                        const std::filesystem::path& successor);

// Removes what runs that were killed left beside `target` or in it, while they wrote it.
void RemoveAbandoned(const std::filesystem::path& target);

}  // namespace debrief

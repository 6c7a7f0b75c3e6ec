// Which folders make one job: the folding rules of assign_jobs.h, on folders and ranks alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace debrief {

// What lies directly in one folder.
struct FolderContent {
  bool evidence = false;  // something other than notes: a known format, or a file with a rank
  bool unranked = false;  // evidence without a rank
  std::set<int32_t> ranks;
};

// For every folder the folder of its job: itself or one above it.
std::map<std::string, std::string> FoldFolders(const std::map<std::string, FolderContent>& folders);

}  // namespace debrief

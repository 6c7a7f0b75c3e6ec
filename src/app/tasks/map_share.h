// Reads a share of a job and writes it as a shard.
#pragma once

#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "base/status.h"
#include "inputs/shards/shard.h"

namespace debrief {

struct ShareToMap {
  std::vector<std::string> paths;
  std::string output_folder;  // never an input
  std::string shard;          // file to write
  shards::Share share;
};

Status MapShare(const ShareToMap& what, const GlobalOptions& global);

}  // namespace debrief

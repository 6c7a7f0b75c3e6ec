// debrief reduce SHARD...: the report of shards, or one shard of several.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/folders/output_guard.h"
#include "app/terminal.h"
#include "base/bytes/md5.h"
#include "inputs/shards/shard.h"

namespace debrief {

namespace {

// In a folder a name that follows from what is joined: doing it again replaces it.
std::string JoinedPath(const ReportOptions& options) {
  std::error_code error;
  const bool is_folder =
      options.output.ends_with('/') || std::filesystem::is_directory(options.output, error);
  if (!is_folder) return options.output;
  std::filesystem::create_directories(options.output, error);
  std::string names;
  for (const std::string& file : shards::ShardFiles(options.paths)) names += file + '\n';
  const std::string name = "shard-joined-" + Md5Hex(names).substr(0, 16);
  return (std::filesystem::path(options.output) / name).string();
}

}  // namespace

int RunReduce(const ReportOptions& options, const GlobalOptions& global) {
  if (!options.shard_only) return RunReport(options, global);
  if (Status status = CheckPaths(options.paths); !status.ok()) return Fail(status);
  Result<std::string> path = GuardFile(JoinedPath(options), options.paths);
  if (!path.ok()) return Fail(path.status());
  std::vector<Status> troubles;
  Status status = shards::JoinShards(options.paths, path.value(), troubles);
  if (!status.ok()) return Fail(status);
  for (const Status& trouble : troubles) PrintError(trouble);
  if (!global.quiet) PrintNote(fmt::format("wrote {}", path.value()));
  return 0;
}

}  // namespace debrief

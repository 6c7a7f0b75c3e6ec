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
#include "base/json/writer.h"
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

void PrintJoined(const std::string& path, size_t count, const GlobalOptions& global) {
  std::string text = fmt::format("{}: {} shards as one\n", path, count);
  if (global.json) {
    text.clear();
    JsonWriter json(&text);
    json.BeginObject().Field("shard", path).Field("of", count).EndObject();
    text += '\n';
  }
  StdoutSink().Write(text);
}

}  // namespace

int RunReduce(const ReportOptions& options, const GlobalOptions& global) {
  if (!options.shard_only) return RunReport(options, global);
  if (Status status = CheckPaths(options.paths); !status.ok()) return Fail(status);
  Result<std::string> path = GuardFile(JoinedPath(options), options.paths);
  if (!path.ok()) return Fail(path.status());
  const std::vector<std::string> files = shards::ShardFiles(options.paths);
  std::vector<Status> troubles;
  Status status = shards::JoinShards(options.paths, path.value(), troubles);
  if (!status.ok()) return Fail(status);
  for (const Status& trouble : troubles) PrintError(trouble);
  PrintJoined(path.value(), files.size(), global);
  return 0;
}

}  // namespace debrief

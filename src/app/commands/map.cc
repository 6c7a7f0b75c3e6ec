// debrief map PATH... -o SHARD: reads a share of the inputs and writes what it read.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/tasks/map_share.h"
#include "app/tasks/task.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "base/text/strings.h"
#include "inputs/shards/shard.h"

namespace debrief {

namespace {

Result<shards::Share> ShareOf(const MapOptions& options) {
  if (options.local) {
    shards::Share share = ShareFromEnvironment().value_or(shards::Share{});
    share.is_local = true;
    share.host = MachineName();
    return share;
  }
  if (options.shard.empty()) {
    if (const auto share = ShareFromEnvironment()) return *share;
    return Status(Code::kUsage, "which share to read is not known")
        .Remedy(
            "Give --shard I/N, or --local to read all; under Slurm, MPI and Kubernetes it is "
            "found out (docs/scale.md).");
  }
  const size_t slash = options.shard.find('/');
  const std::string_view text = options.shard;
  const auto number = ParseNumber<uint32_t>(text.substr(0, slash));
  const auto count = slash == std::string_view::npos
                         ? std::nullopt
                         : ParseNumber<uint32_t>(text.substr(slash + 1));
  if (number && count && *number >= 1 && *number <= *count && *count <= shards::kMostShares)
    return shards::Share{.number = *number - 1, .of = *count};
  return Status(Code::kUsage, fmt::format("--shard {}: not I/N with I from 1 to N", options.shard))
      .Remedy("Write for example --shard 3/8.");
}

// A name of its own for every share, in a folder.
Result<std::string> ShardPath(const MapOptions& options, const shards::Share& share) {
  std::error_code error;
  const bool is_folder =
      options.output.ends_with('/') || std::filesystem::is_directory(options.output, error);
  if (!is_folder) return options.output;
  std::filesystem::create_directories(options.output, error);
  if (error)
    return Status(Code::kDenied, "cannot make the folder: " + error.message())
        .At({.file = options.output});
  std::string name = fmt::format("shard-{}-of-{}", share.number + 1, share.of);
  if (share.is_local) name = fmt::format("shard-{}-{}", share.host, share.number);
  return (std::filesystem::path(options.output) / name).string();
}

void PrintShard(const std::string& path, const shards::Share& share, const GlobalOptions& global) {
  std::string text = fmt::format("{}: share {} of {}\n", path, share.number + 1, share.of);
  if (share.is_local) text = fmt::format("{}: all that {} has\n", path, share.host);
  if (global.json) {
    text.clear();
    JsonWriter json(&text);
    json.BeginObject().Field("shard", path).Field("share", share.number + 1);
    json.Field("of", share.of).EndObject();
    text += '\n';
  }
  StdoutSink().Write(text);
}

}  // namespace

int RunMap(const MapOptions& options, const GlobalOptions& global) {
  if (Status status = CheckPaths(options.paths, {}); !status.ok()) return Fail(status);
  Result<shards::Share> share = ShareOf(options);
  if (!share.ok()) return Fail(share.status());
  Result<std::string> path = ShardPath(options, share.value());
  if (!path.ok()) return Fail(path.status());
  Status status = MapShare({.paths = options.paths,
                            .output_folder = options.output,
                            .shard = path.value(),
                            .share = share.value()},
                           global);
  if (!status.ok()) return Fail(status);
  PrintShard(path.value(), share.value(), global);
  return 0;
}

}  // namespace debrief

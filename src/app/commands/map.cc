// debrief map PATH... -o SHARD: reads a share of the inputs and writes what it read.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "inputs/shards/shard.h"

namespace debrief {

namespace {

std::optional<uint32_t> WholeNumber(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

// How schedulers number the tasks of one program: its number and how many there are. Where a number
// does not begin with 0, `first` tells with what.
struct Numbering {
  const char* number;
  const char* count;
  const char* first = nullptr;
};
constexpr std::array<Numbering, 6> kNumberings = {
    {{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
     {"PMI_RANK", "PMI_SIZE"},
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
     {"SLURM_PROCID", "SLURM_NTASKS"},
     {"JOB_COMPLETION_INDEX", "DEBRIEF_SHARDS"}}};

// Nothing when no scheduler started us as one of several.
std::optional<shards::Share> ShareFromEnvironment() {
  for (const Numbering& numbering : kNumberings) {
    const auto number = WholeNumber(Environment(numbering.number));
    const auto count = WholeNumber(Environment(numbering.count));
    const auto first =
        numbering.first == nullptr ? 0 : WholeNumber(Environment(numbering.first)).value_or(0);
    if (number && count && *number >= first && *number - first < *count)
      return shards::Share{*number - first, *count};
  }
  return std::nullopt;
}

Result<shards::Share> ShareOf(const MapOptions& options) {
  if (options.local) return shards::Share{};
  if (options.shard.empty()) {
    if (const auto share = ShareFromEnvironment()) return *share;
    return Status(Code::kUsage, "which share to read is not known")
        .Remedy(
            "Give --shard I/N, or --local to read all; under Slurm, MPI and Kubernetes it is "
            "found out (docs/scale.md).");
  }
  const size_t slash = options.shard.find('/');
  const std::string_view text = options.shard;
  const auto number = WholeNumber(text.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : WholeNumber(text.substr(slash + 1));
  if (number && count && *number >= 1 && *number <= *count)
    return shards::Share{*number - 1, *count};
  return Status(Code::kUsage, fmt::format("--shard {}: not I/N with I from 1 to N", options.shard))
      .Remedy("Write for example --shard 3/8.");
}

std::string HostName() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

// A name of its own for every share, in a folder.
Result<std::string> ShardPath(const MapOptions& options, shards::Share share) {
  std::error_code error;
  const bool is_folder =
      options.output.ends_with('/') || std::filesystem::is_directory(options.output, error);
  if (!is_folder) return options.output;
  std::filesystem::create_directories(options.output, error);
  if (error)
    return Status(Code::kDenied, "cannot make the folder: " + error.message())
        .At({.file = options.output});
  std::string name = fmt::format("shard-{}-of-{}", share.number + 1, share.of);
  if (options.local) {
    const auto task = ShareFromEnvironment();
    name = fmt::format("shard-{}-{}", HostName(), task ? task->number : 0);
  }
  return (std::filesystem::path(options.output) / name).string();
}

void PrintShard(const std::string& path, shards::Share share, const GlobalOptions& global) {
  std::string text = fmt::format("{}: share {} of {}\n", path, share.number + 1, share.of);
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
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  const int64_t now_ns = SystemClock().NowNs();
  std::string found;
  Model model;  // what jobs there are; reduce finds that out again
  const BuildOptions build{
      .paths = options.paths,
      .output_folder = options.output,
      .select = [&](std::vector<FoundInput>& inputs) { found = shards::FoundBytes(inputs); }};
  std::vector<FoundInput> inputs = FindAndAssign(build, global, now_ns, budget, model);
  ThreadPool pool(ThreadCount(global));
  Status status = shards::WriteShard(path.value(), found, inputs, share.value(),
                                     ImportOptionsFromEnvironment(now_ns), pool, budget);
  if (!status.ok()) return Fail(status);
  PrintShard(path.value(), share.value(), global);
  return 0;
}

}  // namespace debrief

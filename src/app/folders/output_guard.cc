#include "app/folders/output_guard.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/folders/output_folder.h"
#include "app/interrupts.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

Status Refusal(std::string sentence) {
  return Status(Code::kUsage, std::move(sentence)).Remedy("Choose another place with -o");
}

// As far as the path exists links are followed; the rest is taken as it is spelled.
Result<fs::path> FinalPath(const std::string& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) return Status(Code::kDenied, "cannot be used: " + error.message()).At({.file = path});
  if (!real.has_filename() && real.has_parent_path()) real = real.parent_path();
  return real;
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  auto [in_path, in_folder] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  return in_folder == folder.end();
}

// The first input for which `is_touched`, given its real path.
template <typename Test>
std::optional<std::string> FindInput(const std::vector<std::string>& inputs, Test is_touched) {
  for (const std::string& input : inputs) {
    if (input == "-") continue;
    Result<fs::path> real = FinalPath(input);
    if (real.ok() && is_touched(real.value())) return input;
  }
  return std::nullopt;
}

}  // namespace

bool IsWrittenThrough(const std::string& output) {
  struct stat info;
  const std::string spelled = fs::path(output).lexically_normal();
  if (spelled.starts_with("/dev/") || spelled.starts_with("/proc/")) return true;
  return stat(output.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Result<std::string> GuardFile(const std::string& output, const std::vector<std::string>& inputs) {
  RemoveOutputsOnInterrupt();
  if (IsWrittenThrough(output)) return output;
  ASSIGN_OR_RETURN(const fs::path path, FinalPath(output));
  std::error_code error;
  if (fs::is_directory(path, error)) return Refusal(fmt::format("{} is a folder", output));
  if (fs::exists(path, error)) {
    auto touched = FindInput(inputs, [&](const fs::path& input) { return IsBelow(path, input); });
    if (touched && FinalPath(*touched).value() == path)
      return Refusal(fmt::format("{} is an input", output));
    if (touched)
      return Refusal(
          fmt::format("{} is there already, and belongs to the input {}", output, *touched));
  }
  RemoveAbandoned(path);
  fs::create_directories(path.parent_path(), error);  // who cannot be made is named by who writes
  return path.string();
}

Result<std::string> GuardFolder(const std::string& output, const std::vector<std::string>& inputs) {
  RemoveOutputsOnInterrupt();
  ASSIGN_OR_RETURN(const fs::path path, FinalPath(output));
  std::error_code error;
  if (!fs::exists(path, error)) return path.string();
  auto touched = FindInput(inputs, [&](const fs::path& input) { return IsBelow(input, path); });
  if (touched) {
    return Refusal(
        FinalPath(*touched).value() == path
            ? fmt::format("{} is an input, which is not replaced", output)
            : fmt::format("{} holds the input {}, so it is not replaced", output, *touched));
  }
  if (!fs::is_directory(path, error)) return Refusal(fmt::format("{} is not a folder", output));
  return path.string();
}

}  // namespace debrief

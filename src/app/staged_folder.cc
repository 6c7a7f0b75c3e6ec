#include "app/staged_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace debrief {

namespace {

namespace fs = std::filesystem;

Status Failed(const std::string& path, const std::error_code& error) {
  return Status(Code::kDenied, "cannot make the folder: " + error.message())
      .At({.file = path})
      .Remedy("Choose another with -o");
}

}  // namespace

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

Status StagedFolder::Begin(const std::string& target, bool overwrite) {
  target_ = target;
  while (target_.size() > 1 && target_.back() == '/') target_.pop_back();
  std::error_code error;
  if (!overwrite && fs::exists(fs::symlink_status(target_, error))) {
    return Status(
        Code::kUsage,
        fmt::format("Directory {} already exists; pass --overwrite to replace it or use -o OUTDIR",
                    target));
  }
  std::string staging = fmt::format("{}.{}.tmp", target_, getpid());
  fs::create_directory(staging, error);
  if (error) return Failed(target, error);
  staging_ = staging;
  return {};
}

Status StagedFolder::Publish() {
  std::error_code error;
  std::string old = staging_ + ".old";
  bool replaces = fs::exists(fs::symlink_status(target_, error));
  error.clear();  // that it is not there is no error
  if (replaces) fs::rename(target_, old, error);
  if (!error) fs::rename(staging_, target_, error);
  if (error) return Failed(target_, error);
  staging_.clear();
  if (replaces) fs::remove_all(old, error);
  return {};
}

}  // namespace debrief

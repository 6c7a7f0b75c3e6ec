// Where the file system can, old and new folder are exchanged in one step (RENAME_EXCHANGE). Where
// it cannot, the old one is renamed first; a run that is killed just then has its old folder given
// back by the next one (RemoveAbandoned).
//
// A folder that cannot be renamed - a mount point, the working directory, one in a folder that we
// may not write to - is filled from a folder inside of it, entry by entry.
#include "app/folders/staged_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <system_error>

#include "app/folders/output_folder.h"
#include "app/folders/output_guard.h"
#include "base/bytes/output_names.h"
#include "base/paths.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

Status Failed(const std::string& path, const std::error_code& error) {
  const bool full = error == std::errc::no_space_on_device;
  return Status(full ? Code::kNoSpace : Code::kDenied, "cannot make the folder: " + error.message())
      .At({.file = path})
      .Remedy("Choose another with -o");
}

std::error_code LastError() { return {errno, std::generic_category()}; }

bool MustStay(const fs::path& folder) {
  struct stat own, working;
  struct statx more;
  if (stat(folder.c_str(), &own) != 0) return false;
  if (statx(AT_FDCWD, folder.c_str(), 0, 0, &more) == 0 &&
      (more.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    return true;
  if (stat(".", &working) == 0 && own.st_dev == working.st_dev && own.st_ino == working.st_ino)
    return true;
  return access(folder.parent_path().c_str(), W_OK) != 0;
}

// Nothing in it but what is being written into it.
bool IsEmptyFolder(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (!IsUnfinishedName(at->path().filename().string())) return false;
  }
  return !error;
}

}  // namespace

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (path().empty()) return;
  fs::remove_all(path(), ignored);
  // Only as far as they are still empty.
  for (const std::string& folder : made_ | std::views::reverse) fs::remove(folder, ignored);
}

Status StagedFolder::Begin(const std::string& target, Options options) {
  if (target == "-") {
    return Status(Code::kUsage, "-o -: what is written is a folder of files, not one stream")
        .Remedy("Name a folder; --json prints the answer on stdout");
  }
  shown_ = target;
  options_ = std::move(options);
  ASSIGN_OR_RETURN(target_, GuardFolder(target, options_.inputs));
  RemoveAbandoned(target_);
  TRY(CheckTarget());
  TRY(MakeParents());
  return MakeStaging();
}

// Asked again before it is replaced: another run may have been faster.
Status StagedFolder::CheckTarget() const {
  if (!IsThere(target_)) return {};
  const bool is_empty = IsEmptyFolder(target_);
  if (options_.is_tlparse_tree && !options_.overwrite) {
    return Status(
        Code::kUsage,
        fmt::format("Directory {} already exists; pass --overwrite to replace it or use -o OUTDIR",
                    shown_));
  }
  if (is_empty) return {};
  if (options_.is_report && IsReportFolder(target_)) return {};
  const bool is_ours = IsOutputFolder(target_);
  if (is_ours && options_.overwrite) return {};
  if (is_ours || !(options_.overwrite || options_.is_report)) {
    return Status(Code::kUsage, fmt::format("{} exists and is not empty", shown_))
        .Remedy("Add --overwrite, or choose another folder with -o");
  }
  return Status(Code::kUsage,
                fmt::format("{} is no folder that debrief wrote (it has no file {}), so it is not "
                            "replaced",
                            shown_, kOutputMarker))
      .Remedy("Remove it yourself, or choose another folder with -o");
}

Status StagedFolder::MakeParents() {
  std::error_code error;
  fs::path missing = fs::path(target_).parent_path();
  for (; !missing.empty() && !fs::exists(missing, error); missing = missing.parent_path())
    made_.insert(made_.begin(), missing.string());
  for (const std::string& folder : made_) {
    const bool is_there = mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST;
    if (!is_there) return Failed(shown_, LastError());
  }
  return {};
}

Status StagedFolder::MakeStaging() {
  const fs::path target = target_;
  inside_ = MustStay(target);
  const fs::path beside = inside_ ? target / target.filename() : target;
  Unfinished staging(UnfinishedPath(beside.string()));
  // Fails where something has that name: nothing of others is ever used.
  if (mkdir(staging.path().c_str(), 0777) != 0) return Failed(shown_, LastError());
  staging_ = std::move(staging);
  ASSIGN_OR_RETURN(lock_, MarkUnfinished(path()));
  return {};
}

Status StagedFolder::Publish() {
  const Publishing publishing;  // who is interrupted here ends behind it
  TRY(CheckTarget());
  ASSIGN_OR_RETURN(lock_, MarkWhole(path()));
  TRY(inside_ ? MoveInside() : Swap());
  if (options_.is_tlparse_tree) unlink((target_ + "/" + std::string(kOutputMarker)).c_str());
  staging_.Forget();
  return {};
}

Status StagedFolder::Swap() const {
  std::error_code error;
  if (!IsThere(target_) || IsEmptyFolder(target_)) {
    fs::rename(path(), target_, error);
    return error ? Failed(shown_, error) : Status();
  }
  fs::permissions(path(), fs::status(target_, error).permissions(), error);
  std::string old = path();
  if (renameat2(AT_FDCWD, path().c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    old = UnfinishedPath(target_);
    fs::rename(target_, old, error);
    if (error) return Failed(shown_, error);
    fs::rename(path(), target_, error);
    if (error) {
      std::error_code ignored;
      fs::rename(old, target_, ignored);
      return Failed(shown_, error);
    }
  }
  RemoveOutputFolder(old, target_);
  return {};
}

// Ours go out first and what is new comes in; the marker comes last.
Status StagedFolder::MoveInside() const {
  const fs::path target = target_, staging = path();
  const fs::path old = UnfinishedPath((target / target.filename()).string());
  std::error_code error;
  fs::create_directory(old, error);
  for (const std::string& name : OwnEntries(target)) {
    if (!error) fs::rename(target / name, old / name, error);
  }
  std::vector<std::string> fresh = OwnEntries(staging);
  std::reverse(fresh.begin(), fresh.end());
  for (const std::string& name : fresh) {
    if (!error && IsThere(target / name)) error = std::make_error_code(std::errc::file_exists);
    if (!error) fs::rename(staging / name, target / name, error);
  }
  if (error) {
    for (const std::string& name : OwnEntries(old)) {
      std::error_code ignored;
      fs::rename(old / name, target / name, ignored);
    }
    return Failed(shown_, error);
  }
  fs::remove_all(old, error);
  fs::remove_all(staging, error);
  return {};
}

}  // namespace debrief

#include "base/bytes/unfinished.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace debrief {

namespace {

struct Registry {
  std::recursive_mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: outputs of other threads may end after the statics of main.
Registry& All() {
  static Registry* registry = new Registry;
  return *registry;
}

// A folder is renamed first: who still writes into it by its name finds it gone, and cannot make a
// file between the removal of the others and that of the folder. The other name is one of the same
// output (output_names.h), should this be killed as well.
void Remove(const std::string& path) {
  constexpr int kTries = 5;
  constexpr std::string_view kDead = "dead";
  std::error_code error;
  const std::string gone = path.substr(0, path.size() - kDead.size()).append(kDead);
  std::filesystem::rename(path, gone, error);
  for (int i = 0; i < kTries && std::filesystem::exists(gone, error); ++i)
    std::filesystem::remove_all(gone, error);
}

}  // namespace

Unfinished::Unfinished(std::string path) : path_(std::move(path)) {
  const std::lock_guard lock(All().mutex);
  All().paths.insert(path_);
}

Unfinished::Unfinished(Unfinished&& other) noexcept : path_(std::exchange(other.path_, {})) {}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

void Unfinished::Forget() {
  if (path_.empty()) return;
  const std::lock_guard lock(All().mutex);
  All().paths.erase(path_);
  path_.clear();
}

Publishing::Publishing() : lock_(All().mutex) {}

void RemoveUnfinished() {
  All().mutex.lock();
  for (const std::string& path : All().paths) Remove(path);
}

}  // namespace debrief

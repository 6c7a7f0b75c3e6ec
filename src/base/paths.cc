#include "base/paths.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

namespace debrief {

namespace fs = std::filesystem;

std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? real.get() : "";
}

std::string PlaceOf(const std::string& path) {
  std::string real = RealPath(path);
  return real.empty() ? path : real;
}

bool IsThere(const std::string& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

ScratchFolder::ScratchFolder(const std::string& begin) : path_(begin + "XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) path_.clear();
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace debrief

// Paths: where they lead, what is there, and folders that go with their object.
#pragma once

#include <string>

namespace debrief {

// Without links and "..": empty when it leads nowhere.
std::string RealPath(const std::string& path);
// Likewise; the path as it is when it leads nowhere.
std::string PlaceOf(const std::string& path);

// Something has this name, be it a link that leads nowhere.
bool IsThere(const std::string& path);

// A folder that nobody else has, removed with all that is in it.
class ScratchFolder {
 public:
  // `begin` is the path without its last letters, which are chosen. An empty path() says that it
  // could not be made.
  explicit ScratchFolder(const std::string& begin);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace debrief

// A file that grows, read line by line from where the last look ended.
//
// Rotation by renaming is a file of the same inode under another name, and goes on; one that became
// shorter was truncated, and is read from its beginning. Read with read(), never mapped: a file may
// shrink at any time. Memory: one line of at most 64 KiB; what is longer is cut.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "app/watch/folder_scan.h"

namespace debrief::watch {

class FollowedFile {
 public:
  using LineSink = std::function<void(std::string_view line)>;

  struct Growth {
    uint64_t bytes = 0;
    bool was_truncated = false;
    bool has_more = false;  // it was not read to its end: others have their turn
  };

  // Calls `line` for every line that became whole; '\r' ends one, too, as progress bars write it.
  Growth Read(const SeenFile& seen, const LineSink& line);
  // The last line, which nothing will end any more.
  void Finish(const LineSink& line);

 private:
  void Take(std::string_view bytes, const LineSink& line);

  uint64_t offset_ = 0;
  std::string partial_;
};

// The first bytes of a file, at most `most`.
std::string ReadFirstBytes(const std::string& path, size_t most);

}  // namespace debrief::watch

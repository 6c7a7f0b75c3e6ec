// The descriptors of input files. A job leaves thousands of files and a process may have only 64
// open: a file is open while it is read, and the one that was not read for the longest time is
// closed for another.
//
//   ASSIGN_OR_RETURN(OpenFiles::Use use, OpenFiles::Shared().Take(number, open));
//   pread(use.fd(), ...);
#pragma once

#include <sys/stat.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

class OpenFiles {
  struct Slot;

 public:
  // A descriptor that stays open as long as this lives. A thread has one at a time: with several,
  // two threads could wait for each other.
  class Use {
   public:
    Use(OpenFiles& files, size_t slot) : files_(&files), slot_(slot) {}
    Use(Use&& other) noexcept : files_(std::exchange(other.files_, nullptr)), slot_(other.slot_) {}
    ~Use();
    int fd() const { return files_->slots_[slot_].fd.get(); }

   private:
    OpenFiles* files_;
    size_t slot_;
  };

  static OpenFiles& Shared();
  explicit OpenFiles(size_t most) : slots_(most) {}

  // A number for a file that will be opened.
  uint64_t NewNumber();

  // The file of that number, opened by `open` where it is not open. Waits while as many as may be
  // open are being read. Any thread.
  Result<Use> Take(uint64_t number, const std::function<Result<UniqueFd>()>& open);

  // Closes it, unless somebody reads it, and does not open it again.
  void Forget(uint64_t number);

  // Files that were opened as inputs are remembered: no output may replace one. The path is there
  // to see that it still is that file: numbers of files that are gone are used again.
  void RememberInput(const struct stat& info, const std::string& path);
  bool IsInput(const struct stat& info) const;

 private:
  struct Slot {
    uint64_t number = 0;  // 0: free
    UniqueFd fd;
    int users = 0;
    uint64_t last_used = 0;
    bool opening = false;
  };

  Slot* Find(uint64_t number);
  Slot* FindIdle();
  Use Borrow(Slot& slot);
  void CloseIdle();

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // a slot became idle, or its file was opened
  std::vector<Slot> slots_;
  uint64_t last_number_ = 0;
  uint64_t uses_ = 0;
  std::map<std::pair<dev_t, ino_t>, std::string> inputs_;  // their paths
};

}  // namespace debrief

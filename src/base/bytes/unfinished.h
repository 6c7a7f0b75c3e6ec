// What lies on disk and is not whole yet, so that a run which is interrupted takes it away.
//
//   Unfinished unfinished(path);   // before anything is written there
//   ...
//   unfinished.Forget();           // it has its own name now, or was removed
//
// A signal must not come between giving an output its name and clearing up behind it: that is done
// while a Publishing lives, for which the end of the process waits.
#pragma once

#include <mutex>
#include <string>

namespace debrief {

class Unfinished {
 public:
  Unfinished() = default;
  explicit Unfinished(std::string path);
  Unfinished(Unfinished&& other) noexcept;
  Unfinished& operator=(Unfinished&& other) noexcept;
  ~Unfinished() { Forget(); }

  const std::string& path() const { return path_; }
  void Forget();

 private:
  std::string path_;
};

class Publishing {
 public:
  Publishing();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

// Removes everything unfinished. For who ends the process right after: all other threads that begin
// or finish an output wait from now on.
void RemoveUnfinished();

}  // namespace debrief

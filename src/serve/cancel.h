// A request that may be given up while it is answered: its reader left, or it took too long.
//
// Whoever answers says how to stop (StopWith) and looks at the flag between steps; whoever gives up
// calls Cancel(), from another thread and as often as it likes. DuckDB forgets an interrupt that
// comes between two statements, so the server repeats it until the work has ended.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace debrief::serve {

class CancelToken {
 public:
  void Cancel() {
    cancelled_ = true;
    std::lock_guard lock(mutex_);
    if (stop_) stop_();
  }
  bool cancelled() const { return cancelled_; }

  // nullptr: there is nothing to stop any more. After the call the old one does not run.
  void StopWith(std::function<void()> stop) {
    std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
  }

 private:
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::function<void()> stop_;
};

}  // namespace debrief::serve

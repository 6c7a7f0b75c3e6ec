// Threads, and the one way we use them: an ordered parallel map.
//
//   pool.MapInOrder<Part>(ranges.size(),
//       [&](size_t i) { return ReadRange(ranges[i]); },         // any thread, any order
//       [&](size_t i, Part&& part) { whole.Append(std::move(part)); });    // this thread, 0, 1, 2,
//       ...
//
// Results are consumed in order, so output does not depend on the number of threads; at most a few
// results per thread wait for their turn, so memory does not depend on the number of items. The
// calling thread works, too: a map may be started from inside a map (ranges of a file inside files
// of a run) without deadlock, because a waiting caller runs items of its own map.
//
// An item that throws (memory ran out) ends its map: no more items are taken, those that run are
// waited for, and the caller of the map gets the exception. Where no more threads can be started,
// the pool has fewer.
//
// The context of a thread goes with its work: what a thread has set when it starts a map is what
// the items of the map see, whichever thread they run on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace debrief {

// On behalf of what this thread works; null when nobody has said so.
const void* WorkContext();

// Sets the context of this thread, until the end of the block.
class ScopedWorkContext {
 public:
  explicit ScopedWorkContext(const void* context);
  ~ScopedWorkContext();
  ScopedWorkContext(const ScopedWorkContext&) = delete;
  ScopedWorkContext& operator=(const ScopedWorkContext&) = delete;

 private:
  const void* before_;
};

class ThreadPool {
 public:
  // `threads` workers in all, the calling one included; 1 runs everything in the calling thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  template <typename T>
  void MapInOrder(size_t count, const std::function<T(size_t)>& map,
                  const std::function<void(size_t, T&&)>& consume) {
    std::vector<std::optional<T>> results(count);
    RunInOrder(
        count, [&](size_t i) { results[i].emplace(map(i)); },
        [&](size_t i) {
          consume(i, std::move(*results[i]));
          results[i].reset();
        });
  }

 private:
  struct Job;  // one running map

  void RunItem(Job& job, size_t item, std::unique_lock<std::mutex>& lock);
  void RunInOrder(size_t count, const std::function<void(size_t)>& map,
                  const std::function<void(size_t)>& consume);
  void WorkLoop();

  std::mutex mutex_;
  std::condition_variable wake_;  // new items, finished items, or the end
  std::deque<Job*> jobs_;         // maps that have items nobody has taken
  bool stopping_ = false;
  std::vector<std::jthread> workers_;
};

}  // namespace debrief

#include "base/threads/thread_pool.h"

#include <algorithm>

namespace debrief {

// Guarded by ThreadPool::mutex_, except `map`, which runs outside of it.
struct ThreadPool::Job {
  size_t count;
  size_t window;  // items that may be ahead of the consumer
  const std::function<void(size_t)>* map;
  size_t next = 0;      // first item nobody has taken
  size_t consumed = 0;  // items the caller is done with
  std::vector<bool> done;

  bool HasWork() const { return next < count && next < consumed + window; }
};

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { WorkLoop(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

void ThreadPool::WorkLoop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    auto found = std::find_if(jobs_.begin(), jobs_.end(), [](Job* job) { return job->HasWork(); });
    if (found == jobs_.end()) {
      wake_.wait(lock);
      continue;
    }
    Job& job = **found;
    size_t item = job.next++;
    lock.unlock();
    (*job.map)(item);
    lock.lock();
    job.done[item] = true;
    wake_.notify_all();
  }
}

void ThreadPool::RunInOrder(size_t count, const std::function<void(size_t)>& map,
                            const std::function<void(size_t)>& consume) {
  Job job{count, static_cast<size_t>(threads()) * 2, &map, 0, 0, std::vector<bool>(count)};
  std::unique_lock lock(mutex_);
  jobs_.push_back(&job);
  wake_.notify_all();
  while (job.consumed < count) {
    if (job.done[job.consumed]) {
      lock.unlock();
      consume(job.consumed);
      lock.lock();
      ++job.consumed;
      wake_.notify_all();  // the window moved
    } else if (job.HasWork()) {
      size_t item = job.next++;
      lock.unlock();
      map(item);
      lock.lock();
      job.done[item] = true;
    } else {
      wake_.wait(lock);
    }
  }
  std::erase(jobs_, &job);
}

}  // namespace debrief

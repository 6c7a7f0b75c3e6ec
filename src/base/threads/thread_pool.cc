#include "base/threads/thread_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace debrief {

namespace {
thread_local const void* work_context = nullptr;
}  // namespace

const void* WorkContext() { return work_context; }

ScopedWorkContext::ScopedWorkContext(const void* context)
    : before_(std::exchange(work_context, context)) {}

ScopedWorkContext::~ScopedWorkContext() { work_context = before_; }

// Guarded by ThreadPool::mutex_, except `map`, which runs outside of it.
struct ThreadPool::Job {
  size_t count;
  size_t window;  // items that may be ahead of the consumer
  const std::function<void(size_t)>* map;
  const void* context;  // of the thread that started the map
  size_t next = 0;      // first item nobody has taken
  size_t consumed = 0;  // items the caller is done with
  size_t running = 0;   // items that somebody has taken and not finished
  std::vector<bool> done;
  std::exception_ptr failure;  // the first

  bool HasWork() const { return !failure && next < count && next < consumed + window; }
};

ThreadPool::ThreadPool(int threads) {
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { WorkLoop(); });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Those that were started, and the calling thread, do the work.
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

// Holds the lock before and after.
void ThreadPool::RunItem(Job& job, size_t item, std::unique_lock<std::mutex>& lock) {
  ++job.running;
  lock.unlock();
  std::exception_ptr failure;
  try {
    ScopedWorkContext context(job.context);
    (*job.map)(item);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  --job.running;
  job.done[item] = true;
  if (failure && !job.failure) job.failure = failure;
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
    RunItem(job, job.next++, lock);
    wake_.notify_all();
  }
}

void ThreadPool::RunInOrder(size_t count, const std::function<void(size_t)>& map,
                            const std::function<void(size_t)>& consume) {
  Job job{.count = count,
          .window = static_cast<size_t>(threads()) * 2,
          .map = &map,
          .context = work_context,
          .done = std::vector<bool>(count),
          .failure = {}};
  std::unique_lock lock(mutex_);
  jobs_.push_back(&job);
  wake_.notify_all();
  while (job.consumed < count && !job.failure) {
    if (job.done[job.consumed]) {
      lock.unlock();
      std::exception_ptr failure;
      try {
        consume(job.consumed);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) job.failure = failure;
      ++job.consumed;
      wake_.notify_all();  // the window moved
    } else if (job.HasWork()) {
      RunItem(job, job.next++, lock);
    } else {
      wake_.wait(lock);
    }
  }
  std::erase(jobs_, &job);
  wake_.wait(lock, [&] { return job.running == 0; });
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace debrief

// Threads that take tasks from a queue, in order.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace debrief::serve {

class Workers {
 public:
  explicit Workers(int threads);
  // Waits for the tasks that have begun; the others are dropped.
  ~Workers() { Drop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void Add(std::function<void()> task);
  // No task begins any more.
  void Drop();

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace debrief::serve

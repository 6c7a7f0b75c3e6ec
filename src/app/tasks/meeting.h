// The folder in which the tasks of one launch meet.
//
//   task-3-of-8     task 3 has started; the file has the name of its host
//   failed-3-of-8   it has ended and will leave no shard
//   shard-3-of-8    what it read
//
// Nothing but the file system is needed: who waits looks into the folder, at most once a second.
// The folder's name comes from launch, paths and number of tasks, so what another launch left is
// not taken for ours. A launcher may not tell one launch from the next: then shards that are older
// than our own start by minutes are those of an earlier one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/tasks/task.h"
#include "base/status.h"

namespace debrief {

class Meeting {
 public:
  Meeting(std::filesystem::path folder, const Task& task)
      : folder_(std::move(folder)), task_(task) {}

  // Makes the folder and says that this task has started.
  Status Join();
  std::string ShardPath() const { return PathOf("shard", task_.share.number); }
  // This task leaves no shard: nobody needs to wait for it.
  void Fail() const;
  bool IsThere() const;
  // Removes the folder and what tasks put there.
  void Clear() const;

  struct Arrivals {
    std::vector<std::string> shards;
    std::vector<std::string> absent;  // "task 3 of 8 (started on n3)"
    bool is_alone = false;            // no other task has ever started
  };
  // Until all tasks have left a shard or failed, or `seconds` are over. Where no other task starts
  // at all, this process only inherited the environment of a task, and waits for seconds alone.
  // Who looks on hears of it, unless `is_quiet`.
  Arrivals Wait(double seconds, bool is_quiet) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  enum class State : uint8_t { kUnknown, kStarted, kFailed, kDone };

  std::string PathOf(const char* kind, uint32_t number) const;
  std::vector<State> Look() const;
  bool IsOfThisLaunch(const std::string& shard) const;
  std::string InWords(uint32_t number, State state) const;

  std::filesystem::path folder_;
  Task task_;
};

}  // namespace debrief

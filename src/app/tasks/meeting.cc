#include "app/tasks/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "app/terminal.h"
#include "base/bytes/growing_file.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kFirstDelay = std::chrono::milliseconds(10);
constexpr auto kLongestDelay = std::chrono::milliseconds(1000);
constexpr std::chrono::seconds kSayAfter(5);
// Tasks of one launch start within it, where there are several at all.
constexpr std::chrono::seconds kAloneAfter(15);
// The tasks of one launch do not start at the same time.
constexpr std::chrono::minutes kEarlierLaunch(5);

}  // namespace

std::string Meeting::PathOf(const char* kind, uint32_t number) const {
  return (folder_ / fmt::format("{}-{}-of-{}", kind, number + 1, task_.share.of)).string();
}

Status Meeting::Join() {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    return Status(Code::kDenied, "cannot make the folder for shards: " + error.message())
        .At({.file = folder_.string()})
        .Remedy("Choose another output folder with -o");
  }
  fs::remove(PathOf("failed", task_.share.number), error);
  return WriteFileAtomically(PathOf("task", task_.share.number), MachineName() + "\n");
}

// By rename, which a full disk allows.
void Meeting::Fail() const {
  std::error_code ignored;
  fs::rename(PathOf("task", task_.share.number), PathOf("failed", task_.share.number), ignored);
}

bool Meeting::IsThere() const {
  std::error_code ignored;
  return fs::is_directory(folder_, ignored);
}

void Meeting::Clear() const {
  std::error_code ignored;
  for (uint32_t number = 0; number < task_.share.of; ++number) {
    for (const char* kind : {"task", "failed", "shard"}) fs::remove(PathOf(kind, number), ignored);
  }
  // Both only when they are empty.
  fs::remove(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored);
}

bool Meeting::IsOfThisLaunch(const std::string& shard) const {
  if (!task_.run.empty()) return true;
  std::error_code shard_error, own_error;
  const auto written = fs::last_write_time(shard, shard_error);
  const auto started = fs::last_write_time(PathOf("task", task_.share.number), own_error);
  return !shard_error && (own_error || written >= started - kEarlierLaunch);
}

// One look at the folder, however many tasks there are: metadata is what shared file systems are
// slow at.
std::vector<Meeting::State> Meeting::Look() const {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error))
    names.insert(at->path().string());
  std::vector<State> states(task_.share.of, State::kUnknown);
  for (uint32_t number = 0; number < task_.share.of; ++number) {
    const std::string shard = PathOf("shard", number);
    if (names.contains(shard) && IsOfThisLaunch(shard)) {
      states[number] = State::kDone;
    } else if (names.contains(PathOf("failed", number))) {
      states[number] = State::kFailed;
    } else if (names.contains(PathOf("task", number))) {
      states[number] = State::kStarted;
    }
  }
  return states;
}

std::string Meeting::InWords(uint32_t number, State state) const {
  std::string host;
  std::ifstream file(PathOf(state == State::kFailed ? "failed" : "task", number));
  std::getline(file, host);
  std::string what = "not started";
  if (state == State::kFailed) what = "failed on " + host;
  if (state == State::kStarted) what = "started on " + host;
  return fmt::format("task {} of {} ({})", number + 1, task_.share.of, what);
}

Meeting::Arrivals Meeting::Wait(double seconds, bool is_quiet) const {
  const auto begin = SteadyClock::now();
  const std::chrono::duration<double> limit(seconds);
  const auto is_pending = [](State state) {
    return state == State::kUnknown || state == State::kStarted;
  };
  auto delay = kFirstDelay;
  bool is_said = is_quiet;
  std::vector<State> states;
  Arrivals arrivals;
  for (;;) {
    states = Look();
    arrivals.is_alone = std::ranges::count(states, State::kUnknown) + 1 == std::ssize(states);
    const auto waited = SteadyClock::now() - begin;
    const auto pending = std::ranges::count_if(states, is_pending);
    const bool is_over = waited >= limit || (arrivals.is_alone && waited >= kAloneAfter);
    if (is_over || pending == 0) break;
    if (!is_said && waited >= kSayAfter) {
      PrintNote(fmt::format("debrief: waiting for {} of {} tasks, {} s at most", pending,
                            task_.share.of, seconds));
      is_said = true;
    }
    std::this_thread::sleep_for(delay);
    delay = std::min(2 * delay, kLongestDelay);
  }
  for (uint32_t number = 0; number < task_.share.of; ++number) {
    if (states[number] == State::kDone) {
      arrivals.shards.push_back(PathOf("shard", number));
    } else {
      arrivals.absent.push_back(InWords(number, states[number]));
    }
  }
  return arrivals;
}

}  // namespace debrief

#include "app/watch/wake_up.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

namespace debrief::watch {

WakeUp::WakeUp() : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

void WakeUp::Follow(const std::vector<std::string>& folders) {
  if (!events_.valid()) return;
  const std::set<std::string> wanted(folders.begin(), folders.end());
  std::erase_if(watches_, [&](const auto& watch) {
    if (wanted.contains(watch.first)) return false;
    inotify_rm_watch(events_.get(), watch.second);
    return true;
  });
  constexpr uint32_t kChanges = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE |
                                IN_MOVED_FROM | IN_ONLYDIR | IN_DONT_FOLLOW;
  for (const std::string& folder : wanted) {
    if (watches_.size() >= kMostFolders) return;
    if (watches_.contains(folder)) continue;
    const int watch = inotify_add_watch(events_.get(), folder.c_str(), kChanges);
    if (watch >= 0) watches_.emplace(folder, watch);
  }
}

void WakeUp::Wait(int most_ms) {
  pollfd events = {.fd = events_.get(), .events = POLLIN, .revents = 0};
  if (poll(&events, events_.valid() ? 1 : 0, most_ms) <= 0) return;
  // The scan of the folder finds what changed; events are only read here, to clear them.
  std::array<char, 64 << 10> taken;
  while (read(events_.get(), taken.data(), taken.size()) > 0) {
  }
}

}  // namespace debrief::watch

// Logs that a process writes once are put on one axis by their start. Where a rank comes up for the
// second time, a new attempt must have begun somewhere since its first log, and the longest silence
// in between is where:
//
//   start      0.0  0.1  0.2  0.4  ........................  7.0  7.1  7.3  7.3
//   rank        0    2    1    3                              1    0    3    2
//                                            cut ^            ^ rank 1 again
//
// Every other input with a time belongs to the last attempt that had begun by then.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "inputs/assign_jobs.h"

namespace debrief {

namespace {

// Dumps carry the time of their first entry, profiles of their first event; a process may start
// these a little before its compile log.
constexpr int64_t kGraceNs = 60'000'000'000;
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max() - kGraceNs;

struct Start {
  int64_t time;
  int32_t rank;
  bool operator<(const Start& other) const {
    return std::tie(time, rank) < std::tie(other.time, other.rank);
  }
};

std::vector<Start> SortedStarts(const std::vector<AttemptClue>& clues) {
  std::vector<Start> starts;
  for (const AttemptClue& clue : clues) {
    if (clue.one_per_process && clue.start_ns != kNone64)
      starts.push_back({clue.start_ns, clue.rank});
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

// Where in (first, last] the longest silence ends; `first` when all start at the same time (copies
// of one log).
size_t LongestSilence(const std::vector<Start>& starts, size_t first, size_t last) {
  size_t best = first;
  uint64_t longest = 0;
  for (size_t i = first + 1; i <= last; ++i) {
    // Sorted, so the difference is positive; it may not fit int64 when dumps are damaged.
    uint64_t silence =
        static_cast<uint64_t>(starts[i].time) - static_cast<uint64_t>(starts[i - 1].time);
    if (silence > longest) {
      longest = silence;
      best = i;
    }
  }
  return best;
}

// The start of every attempt.
std::vector<int64_t> AttemptStarts(const std::vector<Start>& starts) {
  std::vector<int64_t> begins;
  std::map<int32_t, size_t> seen;  // rank -> position, in the current attempt
  size_t attempt_begin = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (i == 0) begins.push_back(starts[0].time);
    auto found = seen.find(starts[i].rank);
    if (found != seen.end() && found->second >= attempt_begin) {
      size_t cut = LongestSilence(starts, found->second, i);
      if (cut > found->second) {
        attempt_begin = cut;
        begins.push_back(starts[cut].time);
      }
    }
    seen[starts[i].rank] = i;
  }
  return begins;
}

std::vector<int32_t> ByTime(const std::vector<AttemptClue>& clues) {
  std::vector<int64_t> begins = AttemptStarts(SortedStarts(clues));
  std::vector<int32_t> attempts;
  for (const AttemptClue& clue : clues) {
    int64_t grace = clue.one_per_process ? 0 : kGraceNs;
    bool is_last = clue.start_ns == kNone64 || clue.start_ns > kLatest;
    auto after = is_last ? begins.end()
                         : std::upper_bound(begins.begin(), begins.end(), clue.start_ns + grace);
    attempts.push_back(std::max(0, static_cast<int32_t>(after - begins.begin()) - 1));
  }
  return attempts;
}

std::vector<int32_t> ByFolder(const std::vector<AttemptClue>& clues) {
  std::map<int32_t, int32_t> numbers;
  for (const AttemptClue& clue : clues) {
    if (clue.folder_attempt != kNone32) numbers.emplace(clue.folder_attempt, 0);
  }
  int32_t next = 0;
  for (auto& [folder, attempt] : numbers) attempt = next++;
  std::vector<int32_t> attempts;
  for (const AttemptClue& clue : clues) {
    attempts.push_back(clue.folder_attempt == kNone32 ? next - 1 : numbers[clue.folder_attempt]);
  }
  return attempts;
}

}  // namespace

std::vector<int32_t> TellAttemptsApart(const std::vector<AttemptClue>& clues) {
  bool folders = std::any_of(clues.begin(), clues.end(),
                             [](const AttemptClue& c) { return c.folder_attempt != kNone32; });
  return folders ? ByFolder(clues) : ByTime(clues);
}

}  // namespace debrief

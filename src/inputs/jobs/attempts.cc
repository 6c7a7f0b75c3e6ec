// Logs that a process writes once are put on one axis by their start. Where a rank comes up for the
// second time, a new attempt must have begun somewhere since its first log, and the longest silence
// in between is where:
//
//   start      0.0  0.1  0.2  0.4  ........................  7.0  7.1  7.3  7.3
//   rank        0    2    1    3                              1    0    3    2
//                                            cut ^            ^ rank 1 again
//
// Every other input with a time belongs to the last attempt that had begun by then. A launcher that
// tells when an attempt failed gives the cuts directly. Where folders or names number the attempts,
// an input without a number belongs to the first attempt that had not ended when it began.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "inputs/jobs/assign_jobs.h"

namespace debrief {

namespace {

// Dumps carry the time of their first entry, profiles of their first event; a process may start
// these a little before its compile log.
constexpr int64_t kGraceNs = 60'000'000'000;
// After a failure the launcher stops the other processes, which takes a while and makes them talk.
constexpr int64_t kShutdownNs = 5'000'000'000;
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max() - kGraceNs;

struct Start {
  int64_t time;
  int32_t rank;
  int32_t log;  // or kNone32
  bool operator<(const Start& other) const {
    return std::tie(time, rank) < std::tie(other.time, other.rank);
  }
};

std::vector<Start> SortedStarts(const std::vector<AttemptClue>& clues) {
  std::vector<Start> starts;
  for (const AttemptClue& clue : clues) {
    if (clue.one_per_process && clue.start_ns != kNone64)
      starts.push_back({clue.start_ns, clue.rank, clue.log});
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
    const bool goes_on = found != seen.end() && starts[i].log != kNone32 &&
                         starts[i].log == starts[found->second].log;
    if (found != seen.end() && found->second >= attempt_begin && !goes_on) {
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

std::vector<int32_t> ByRestarts(const std::vector<AttemptClue>& clues,
                                const std::vector<int64_t>& restarts) {
  std::vector<int32_t> attempts;
  for (const AttemptClue& clue : clues) {
    // A text that goes on after a restart is of the attempt in which it ends.
    int64_t time = clue.end_ns == kNone64 ? clue.start_ns : clue.end_ns;
    auto after = time == kNone64 ? restarts.end()
                                 : std::lower_bound(restarts.begin(), restarts.end(),
                                                    std::min(time, kLatest) - kShutdownNs);
    attempts.push_back(static_cast<int32_t>(after - restarts.begin()));
  }
  return attempts;
}

// When each numbered attempt had ended, as far as its texts tell.
struct NumberedAttempts {
  std::map<int32_t, int32_t> numbers;  // as named -> from 0
  std::vector<int64_t> ends;
  int64_t first = kNone64;

  explicit NumberedAttempts(const std::vector<AttemptClue>& clues) {
    for (const AttemptClue& clue : clues)
      if (clue.named_attempt != kNone32) numbers.emplace(clue.named_attempt, 0);
    int32_t next = 0;
    for (auto& [named, attempt] : numbers) attempt = next++;
    ends.assign(numbers.size(), kNone64);
    for (const AttemptClue& clue : clues) {
      if (clue.named_attempt == kNone32) continue;
      int64_t& end = ends[static_cast<size_t>(numbers[clue.named_attempt])];
      end = std::max({end, clue.end_ns, clue.start_ns});
      if (clue.start_ns != kNone64)
        first = first == kNone64 ? clue.start_ns : std::min(first, clue.start_ns);
    }
  }

  int32_t Of(const AttemptClue& clue) const {
    auto last = static_cast<int32_t>(ends.size()) - 1;
    constexpr int64_t kHourNs = 3'600'000'000'000;
    // Dumps have the time of UTC and texts that of their host: only what is near can be compared.
    bool comparable = clue.start_ns != kNone64 && first != kNone64 &&
                      clue.start_ns > first - kHourNs && clue.end_ns == kNone64;
    if (!comparable) return last;
    for (int32_t attempt = 0; attempt < last; ++attempt) {
      int64_t end = ends[static_cast<size_t>(attempt)];
      if (end != kNone64 && clue.start_ns <= end) return attempt;
    }
    return last;
  }
};

std::vector<int32_t> ByNumber(const std::vector<AttemptClue>& clues) {
  NumberedAttempts known(clues);
  std::vector<int32_t> attempts;
  for (const AttemptClue& clue : clues) {
    bool named = clue.named_attempt != kNone32;
    attempts.push_back(named ? known.numbers[clue.named_attempt] : known.Of(clue));
  }
  return attempts;
}

}  // namespace

std::vector<int32_t> TellAttemptsApart(const std::vector<AttemptClue>& clues,
                                       const std::vector<int64_t>& restarts) {
  bool numbered = std::any_of(clues.begin(), clues.end(),
                              [](const AttemptClue& c) { return c.named_attempt != kNone32; });
  if (numbered) return ByNumber(clues);
  std::vector<int32_t> by_time = ByTime(clues);
  bool restarted = std::any_of(by_time.begin(), by_time.end(), [](int32_t a) { return a > 0; });
  return restarted || restarts.empty() ? by_time : ByRestarts(clues, restarts);
}

}  // namespace debrief

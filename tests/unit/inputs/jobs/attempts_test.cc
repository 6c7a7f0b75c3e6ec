#include <gtest/gtest.h>

#include <limits>

#include "inputs/jobs/assign_jobs.h"

namespace debrief {
namespace attempts_test {

constexpr int64_t kSecond = 1'000'000'000;

AttemptClue Log(double seconds, int32_t rank) {
  return {.start_ns = static_cast<int64_t>(seconds * 1e9), .rank = rank, .one_per_process = true};
}
AttemptClue Other(int64_t seconds) { return {.start_ns = seconds * kSecond}; }

using Numbers = std::vector<int32_t>;

TEST(Attempts, NoneAndOne) {
  EXPECT_TRUE(TellAttemptsApart({}).empty());
  EXPECT_EQ(TellAttemptsApart({Log(5, 0)}), Numbers{0});
  EXPECT_EQ(TellAttemptsApart({Other(5), Other(500)}), (Numbers{0, 0}));
}

TEST(Attempts, TwoInterleaved) {
  // The picture at the top of attempts.cc, in any order of files.
  EXPECT_EQ(TellAttemptsApart({Log(7.1, 0), Log(0.0, 0), Log(0.2, 1), Log(7.0, 1), Log(7.3, 2),
                               Log(0.1, 2), Log(0.4, 3), Log(7.3, 3)}),
            (Numbers{1, 0, 0, 1, 1, 0, 0, 1}));
}

TEST(Attempts, Three) {
  EXPECT_EQ(
      TellAttemptsApart({Log(0, 0), Log(1, 1), Log(100, 0), Log(101, 1), Log(200, 1), Log(201, 0)}),
      (Numbers{0, 0, 1, 1, 2, 2}));
}

TEST(Attempts, RankMissingFromAnAttempt) {
  EXPECT_EQ(TellAttemptsApart({Log(0, 0), Log(1, 1), Log(100, 1), Log(200, 0), Log(201, 1)}),
            (Numbers{0, 0, 1, 2, 2}));
}

TEST(Attempts, WithoutTimeBelongsToTheLast) {
  AttemptClue timeless;
  EXPECT_EQ(TellAttemptsApart({Log(0, 0), timeless, Log(100, 0)}), (Numbers{0, 1, 1}));
  AttemptClue log{.rank = 0, .one_per_process = true};
  EXPECT_EQ(TellAttemptsApart({log, log}), (Numbers{0, 0})) << "no time, nothing to tell apart";
}

TEST(Attempts, OthersHaveGrace) {
  EXPECT_EQ(TellAttemptsApart({Log(1000, 0), Log(2000, 0), Other(1939), Other(1940), Other(1999),
                               Other(10), Other(5000)}),
            (Numbers{0, 1, 0, 1, 1, 0, 1}));
}

TEST(Attempts, CopiesOfOneLogAreOneAttempt) {
  EXPECT_EQ(TellAttemptsApart({Log(5, 0), Log(5, 0)}), (Numbers{0, 0}));
  EXPECT_EQ(TellAttemptsApart({Log(5, 0), Log(5, 0), Log(5, 1), Log(90, 0), Log(90, 0)}),
            (Numbers{0, 0, 0, 1, 1}));
}

TEST(Attempts, EveryNumberIsUsed) {
  std::vector<AttemptClue> clues;
  uint32_t state = 7;
  for (int i = 0; i < 300; ++i) {
    state = state * 1664525 + 1013904223;
    clues.push_back(Log(static_cast<double>(state >> 24), static_cast<int32_t>(state >> 20 & 3)));
  }
  Numbers attempts = TellAttemptsApart(clues);
  int32_t last = *std::max_element(attempts.begin(), attempts.end());
  for (int32_t i = 0; i <= last; ++i) {
    EXPECT_NE(std::find(attempts.begin(), attempts.end(), i), attempts.end()) << i;
  }
}

TEST(Attempts, FoldersDecide) {
  auto in = [](int32_t folder, double seconds) {
    AttemptClue clue = Log(seconds, 0);
    clue.named_attempt = folder;
    return clue;
  };
  EXPECT_EQ(TellAttemptsApart({in(7, 0), in(3, 100), in(kNone32, 50), in(3, 0)}),
            (Numbers{1, 0, 0, 0}));
}

TEST(Attempts, UnnumberedGoesToTheAttemptThatHadNotEnded) {
  AttemptClue first{.start_ns = 100 * kSecond, .named_attempt = 0, .end_ns = 150 * kSecond};
  AttemptClue second{.start_ns = 200 * kSecond, .named_attempt = 1, .end_ns = 250 * kSecond};
  EXPECT_EQ(TellAttemptsApart({first, second, Other(90), Other(160), Other(400), {}}),
            (Numbers{0, 1, 0, 1, 1, 1}));
}

TEST(Attempts, LauncherTellsTheRestart) {
  AttemptClue before{.start_ns = 10 * kSecond, .end_ns = 51 * kSecond};
  AttemptClue after{.start_ns = 70 * kSecond, .end_ns = 90 * kSecond};
  AttemptClue launcher{.start_ns = 10 * kSecond, .end_ns = 95 * kSecond};
  EXPECT_EQ(TellAttemptsApart({before, after, launcher, {}}, {50 * kSecond}),
            (Numbers{0, 1, 1, 1}));
}

TEST(Attempts, AbsurdTimesAreHarmless) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  AttemptClue late{.start_ns = kLast};
  AttemptClue early{.start_ns = kNone64 + 1};
  EXPECT_EQ(TellAttemptsApart({Log(0, 0), Log(100, 0), late, early}), (Numbers{0, 1, 1, 0}));
  AttemptClue log_late{.start_ns = kLast, .rank = 0, .one_per_process = true};
  AttemptClue log_early{.start_ns = kNone64 + 1, .rank = 0, .one_per_process = true};
  EXPECT_EQ(TellAttemptsApart({log_late, log_early}), (Numbers{1, 0}));
}

}  // namespace attempts_test
}  // namespace debrief

// Recordings as the library reads them: clocks, nesting, what was open; and the formulas below.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "debrief/op_trace.hpp"
#include "debrief/recorder.h"
#include "op_trace/sums.h"
#include "op_trace/tick_clock.h"

namespace debrief::op_trace {
namespace recording_test {

recorder::ReadRecording Clocks(uint64_t rate, std::vector<recorder::ClockTriple> triples) {
  recorder::ReadRecording read;
  read.header.clock_kind = recorder::ClockKind::kTsc;
  read.header.ticks_per_second = rate;
  read.header.opened = triples.front();
  for (size_t i = 1; i < triples.size(); ++i) read.chunks.push_back({.clock = triples[i]});
  return read;
}

TEST(TickClock, FollowsTheTriplesBetweenThem) {
  const uint64_t wall = 1'700'000'000'000'000'000;
  // 3 GHz as measured; in truth a thousandth slower, then faster.
  const TickClock clock(
      Clocks(3'000'000'000, {{3000, 100, wall + 100},
                             {3'000'003'000, 1'001'000'100, wall + 1'001'000'100},
                             {6'000'003'000, 2'000'000'100, wall + 2'000'000'100}}));
  EXPECT_EQ(clock.WallNs(3000), static_cast<int64_t>(wall) + 100);
  EXPECT_EQ(clock.WallNs(1'500'003'000), static_cast<int64_t>(wall) + 500'500'100);
  EXPECT_EQ(clock.WallNs(4'500'003'000), static_cast<int64_t>(wall) + 1'500'500'100);
  EXPECT_EQ(clock.WallNs(9'000'003'000), static_cast<int64_t>(wall) + 3'000'000'100)
      << "behind the last point at the measured rate";
  EXPECT_EQ(clock.WallNs(0), static_cast<int64_t>(wall) + 100 - 1000);
  EXPECT_EQ(clock.wall_step_ns(), 0);
  EXPECT_EQ(clock.contradictions(), 0u);
}

TEST(TickClock, AWallClockThatIsSetBackTurnsNothingAround) {
  const uint64_t wall = 1'700'000'000'000'000'000;
  const TickClock clock(Clocks(1'000'000'000, {{0, 0, wall},
                                               {1'000, 1'000, wall - 3'600'000'000'000 + 1'000},
                                               {2'000, 2'000, wall - 3'600'000'000'000 + 2'000}}));
  EXPECT_LT(clock.WallNs(500), clock.WallNs(1'500));
  EXPECT_EQ(clock.WallNs(2'000) - clock.WallNs(0), 2'000);
  EXPECT_EQ(clock.wall_step_ns(), 3'600'000'000'000);
}

TEST(TickClock, WildPointsAreNotBelieved) {
  const TickClock clock(Clocks(1'000'000'000, {{1'000, 1'000, 5'000},
                                               {UINT64_MAX, 7, 9},
                                               {2'000, UINT64_MAX, 0},
                                               {0, UINT64_MAX / 2, UINT64_MAX}}));
  EXPECT_EQ(clock.contradictions(), 3u);
  EXPECT_EQ(clock.WallNs(3'000), 7'000);
  const int64_t far = int64_t{1} << 61;
  EXPECT_LE(clock.WallNs(UINT64_MAX), far);
  EXPECT_GE(clock.WallNs(0), -far);
}

TEST(TickClock, WithoutARateTicksAreNanoseconds) {
  EXPECT_EQ(TickClock(Clocks(0, {{10, 10, 100}})).WallNs(20), 110);
}

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/op_trace_test_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    path_ = folder_ + "/run.dbr";
    ASSERT_EQ(dbr_open(path_.c_str(), nullptr, &handle_), DBR_OK);
  }
  void TearDown() override {
    dbr_close(handle_);
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  Loaded Load(Behaviour behaviour) const {
    std::ifstream file(path_, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    return LoadRecording(std::as_bytes(std::span(bytes)), behaviour);
  }
  static dbr_id Name(std::string_view text) { return dbr_name(text.data(), text.size()); }

  std::string folder_, path_;
  dbr_recording* handle_ = nullptr;
};

TEST_F(Recorded, OpsNestAndWhatIsOpenIsSeen) {
  dbr_meta("model", "tiny");
  const uint64_t dims[] = {4, 8};
  const dbr_shape shape = {dims, 2};
  const dbr_op_info info = {&shape, 1, DBR_BF16, &shape, 0};
  dbr_begin(Name("outer"));
  dbr_set_device(Name("cuda:0"));
  dbr_begin(Name("inner"));
  dbr_end_op(&info);
  dbr_begin(Name("open"));
  const Loaded loaded = Load(Behaviour::kCorrect);
  ASSERT_TRUE(loaded.trace.has_value()) << loaded.problem;
  const auto entries = loaded.trace->entries();
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].operation, "outer");
  EXPECT_TRUE(entries[0].open);
  EXPECT_EQ(entries[1].operation, "inner");
  EXPECT_EQ(entries[1].memory_bytes, 64u);
  EXPECT_EQ(entries[1].device, "cuda:0");
  EXPECT_FALSE(entries[1].open);
  EXPECT_EQ(loaded.trace->metadata().at("model"), "tiny");
  EXPECT_EQ(loaded.trace->TotalDurationNs(), entries[0].duration_ns);
  const Loaded compat = Load(Behaviour::kReference);
  EXPECT_EQ(compat.trace->entries()[1].memory_bytes, 256u);
  EXPECT_EQ(compat.trace->entries()[0].output_elements, 1u);
  EXPECT_EQ(*compat.trace->entries()[0].start_ns + *compat.trace->entries()[0].duration_ns,
            *compat.trace->entries()[1].start_ns);
  const Loaded again = FromJson(loaded.trace->ToJson());
  ASSERT_TRUE(again.trace.has_value()) << again.problem;
  EXPECT_EQ(again.trace->ToJson(), loaded.trace->ToJson());
}

TEST_F(Recorded, OtherBytesAreNoRecording) {
  EXPECT_FALSE(LoadRecording({}).trace.has_value());
  const std::vector<std::byte> zeros(100'000);
  EXPECT_FALSE(LoadRecording(zeros).problem.empty());
}

TEST(OpTraceSums, PercentilesAreDurationsThatOccurred) {
  std::vector<int64_t> values;
  EXPECT_EQ(Percentile(values, 50), 0);
  for (int64_t i = 1; i <= 100; ++i) values.push_back(i);
  EXPECT_EQ(Percentile(values, 50), 50);
  EXPECT_EQ(Percentile(values, 99), 99);
  EXPECT_EQ(Percentile(values, 100), 100);
  values = {7};
  EXPECT_EQ(Percentile(values, 99), 7);
}

TEST(OpTraceSums, UnionCountsEachMomentOnce) {
  std::vector<Interval> intervals = {{10, 20}, {0, 5}, {15, 30}, {16, 17}, {30, 31}};
  EXPECT_EQ(UnionOf(intervals), 26);
  intervals.clear();
  EXPECT_EQ(UnionOf(intervals), 0);
}

}  // namespace recording_test
}  // namespace debrief::op_trace

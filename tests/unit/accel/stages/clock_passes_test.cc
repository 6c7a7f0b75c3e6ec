// Stamps to wall clock: normalize_phase1 and 2, cycle_count_to_wallclock,
// tighten_hts_by_instr_type.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "accel/stages/stages.h"
#include "unit/accel/fixture.h"

namespace debrief::accel {
namespace clock_passes_test {

constexpr double kMhz = 560;
constexpr int64_t kSpan = int64_t{1} << 32;

Options At560(bool compat = false) {
  Options options;
  options.soc_mhz = kMhz;
  options.compat = compat;
  return options;
}

// A kernel that runs on the device in cycles [start, end); host time 0 is cycle `epoch`.
std::string Kernel(int64_t start, int64_t end, int64_t epoch = 0) {
  const int64_t stamps[5] = {start - 2000, start - 1000, start, end, end + 100};
  std::string attr;
  for (int i = 0; i < 5; ++i)
    attr += fmt::format("{}\"TS{}\": \"{:#x}\"", i == 0 ? "" : ", ", i + 1,
                        ((stamps[i] % kSpan) + kSpan) % kSpan);
  return fmt::format(
      R"({{"name": "k Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": {:.6f}, "dur": {:.6f}, "attr": {{{}}}}})",
      static_cast<double>(start - epoch) / kMhz, static_cast<double>(end - start) / kMhz, attr);
}

TEST(NormalizePasses, TextsBecomeDecimal) {
  Fixture fixture(At560());
  EventList events = fixture.Read(
      R"([{"name": "SenRDMAReceive", "ph": "X", "pid": 0, "tid": 1, "ts": 5000, "dur": 1,
           "args": {"Power": "0x10"}, "attr": {"TS1": "0x12345", "TS2": 74566, "TS3": "74567", "TS4": "74568", "TS5": "74569",
           "Bytes": "128"}}])");
  NormalizePhase1(events, fixture.run);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(fixture.Name(events[0]), "SenRdmaRecv");
  EXPECT_EQ(fixture.ArgText(events[0], key::kTS1), "74565");
  EXPECT_EQ(events[0].Find(key::kTS2)->kind, ValueKind::kDecimalText);
  EXPECT_EQ(fixture.ArgText(events[0], key::kPower), "16");
  EXPECT_EQ(fixture.ArgText(events[0], key::kBytes), "128");
  EXPECT_EQ(fixture.ArgText(events[0], key::kJobName), "a.json");
}

TEST(NormalizePasses, IncompleteStampsBecomeAHostEvent) {
  Fixture fixture(At560());
  EventList events = fixture.Read(
      R"([{"name": "k Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": 10.0, "dur": 5.0, "args": {"TS1": "1", "TS2": "2"}}])");
  NormalizePhase1(events, fixture.run);
  NormalizePhase2(events, fixture.run);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_FALSE(events[0].Has(key::kTS1));
  EXPECT_TRUE(fixture.console.Has("not all of TS1 to TS5"));
}

// Wraps at random places, straddling ones included: differences of unwrapped stamps must be those
// of the true cycles.
TEST(NormalizePasses, UnwrapsExactly) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    const auto epoch = static_cast<int64_t>(random() % kSpan);
    std::string json = "[";
    std::vector<int64_t> starts;
    int64_t at = epoch + 100000;
    for (int i = 0; i < 200; ++i) {
      at += 2000 + static_cast<int64_t>(random() % (kSpan / 3));
      if (i % 5 == 0) at = (at / kSpan + 1) * kSpan - 3000 + static_cast<int64_t>(random() % 6000);
      starts.push_back(at);
      json += (i == 0 ? "" : ",") + Kernel(at, at + 5000, epoch);
      at += 5000;
    }
    Fixture fixture(At560());
    EventList events = fixture.Read(json + "]");
    NormalizePhase1(events, fixture.run);
    NormalizePhase2(events, fixture.run);
    const int64_t shift = events[0].Find(key::kTS3)->integer - starts[0];
    for (size_t i = 0; i < events.size(); ++i) {
      EXPECT_EQ(events[i].Find(key::kTS3)->integer - starts[i], shift) << round << " " << i;
      EXPECT_EQ(events[i].Find(key::kTS4)->integer - events[i].Find(key::kTS3)->integer, 5000);
    }
    EXPECT_EQ(shift % kSpan, 0);
  }
}

TEST(NormalizePasses, RecommendsTheRightFrequency) {
  for (const double true_mhz : {557.05, 559.9, 561.3}) {
    std::string json = "[";
    for (int i = 0; i < 500; ++i) {
      const double ts = 1000 + 20000.0 * i + (i % 7) * 0.3;
      const auto start = static_cast<int64_t>(ts * true_mhz);
      const int64_t stamps[5] = {start - 900, start - 800, start,
                                 start + static_cast<int64_t>(50 * true_mhz),
                                 start + static_cast<int64_t>(51 * true_mhz)};
      std::string attr;
      for (int k = 0; k < 5; ++k)
        attr += fmt::format("{}\"TS{}\": \"{}\"", k == 0 ? "" : ", ", k + 1, stamps[k] % kSpan);
      json += fmt::format(
          R"({}{{"name": "k Cmpt Exec", "ph": "X", "pid": 0, "tid": 1, "ts": {:.3f}, "dur": 50.0, "attr": {{{}}}}})",
          i == 0 ? "" : ",", ts, attr);
    }
    Fixture fixture(At560());
    EventList events = fixture.Read(json + "]");
    NormalizePhase1(events, fixture.run);
    NormalizePhase2(events, fixture.run);
    double found = 0;
    for (const std::string& line : fixture.console.lines) {
      const size_t at = line.find("--freq=");
      if (at != std::string::npos) found = std::stod(line.substr(at + 7));
    }
    EXPECT_NEAR(found, true_mhz, true_mhz * 0.001);
  }
}

TEST(ClockPasses, SliceIsThePhaseOnTheDeviceAndEndsWhereItEnded) {
  Fixture fixture(At560());
  EventList events = fixture.Read("[" + Kernel(560000, 565600) + "]");
  events[0].ts -= 3;  // the host is late by three microseconds at the start
  events[0].dur += 3;
  NormalizePhase1(events, fixture.run);
  NormalizePhase2(events, fixture.run);
  CycleCountToWallclock(events, fixture.run);
  TightenHtsByInstrType(events, fixture.run);
  EXPECT_NEAR(events[0].end(), 1010, 1e-9);
  EXPECT_NEAR(events[0].dur, 10, 1e-9);
  const Stamps* stamps = fixture.run.StampsOf(events[0]);
  ASSERT_NE(stamps, nullptr);
  EXPECT_NEAR(stamps->all[3], 1010, 1e-9);
  EXPECT_NEAR(stamps->all[2], 1000, 1e-9);
}

TEST(Limits, MetadataIsNotCounted) {
  const std::string json =
      R"([{"name": "m", "ph": "M", "pid": 0, "ts": 0}, {"name": "a", "ph": "X", "pid": 0, "ts": 1, "dur": 1},
          {"name": "b", "ph": "X", "pid": 0, "ts": 2, "dur": 1}, {"name": "c", "ph": "X", "pid": 0, "ts": 3, "dur": 1}])";
  for (const bool compat : {false, true}) {
    Options options = At560(compat);
    options.limit.count = 2;
    Fixture fixture(options);
    EventList events = fixture.Read(json);
    NormalizePhase1(events, fixture.run);
    EXPECT_EQ(events.size(), compat ? 2u : 3u);
  }
}

TEST(EventFilterPass, LeavesOutWhatMatches) {
  Options options = At560();
  options.event_filter = R"(name:^a\d$,args.Type:Done,broken)";
  Fixture fixture(options);
  EventList events = fixture.Read(
      R"([{"name": "a1", "ph": "X", "pid": 0, "ts": 1, "dur": 1}, {"name": "ab", "ph": "X", "pid": 0, "ts": 1, "dur": 1},
          {"name": "x", "ph": "X", "pid": 0, "ts": 1, "dur": 1, "args": {"Type": "WDone Barrier"}}])");
  NormalizePhase1(events, fixture.run);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(fixture.Name(events[0]), "ab");
  EXPECT_TRUE(fixture.console.Has("'broken' is no attribute:pattern"));
}

}  // namespace clock_passes_test
}  // namespace debrief::accel

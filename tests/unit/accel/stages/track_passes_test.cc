// What passes do to threads: preps, lanes, order, ranks on one clock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "accel/stages/stages.h"
#include "compat/acelyzer/reference.h"
#include "unit/accel/fixture.h"

namespace debrief::accel {
namespace track_passes_test {

struct Slice {
  double ts, dur;
  int tid = 1;
  std::string name = "a";
  int pid = 0;
  std::string args = "{}";
};

std::string Json(const std::vector<Slice>& slices) {
  std::string json = "[";
  for (const Slice& s : slices)
    json += fmt::format(
        R"({}{{"name": "{}", "ph": "X", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {}}})",
        json.size() == 1 ? "" : ",", s.name, s.pid, s.tid, s.ts, s.dur, s.args);
  return json + "]";
}

// Pairs of slices of one thread that overlap in part.
int PartialOverlaps(const EventList& events) {
  int found = 0;
  for (const Event& a : events) {
    for (const Event& b : events) {
      if (a.phase != 'X' || b.phase != 'X' || !(a.tid == b.tid) || !(a.pid == b.pid)) continue;
      if (a.ts < b.ts && b.ts < a.end() && a.end() < b.end()) ++found;
    }
  }
  return found;
}

// The events and the run that owns their arguments.
struct Resolved {
  Resolved(const std::vector<Slice>& slices, Overlap how, bool compat = false)
      : fixture(Given(how, compat)), events(fixture.Read(Json(slices))) {
    SortEvents(events, fixture.run);
    if (compat) {
      if (how == Overlap::kTid) reference::DetectPartialOverlapTids(events, fixture.run);
      reference::DetectPartialOverlapEvents(events, fixture.run);
    } else {
      DetectPartialOverlapEvents(events, fixture.run);
    }
    AssertTsSequence(events, fixture.run);
  }

  static Options Given(Overlap how, bool compat) {
    Options options;
    options.overlap = how;
    options.compat = compat;
    return options;
  }

  Fixture fixture;
  EventList events;
};

TEST(Overlaps, AnyNumberOfLanes) {
  std::vector<Slice> slices;
  for (int i = 0; i < 40; ++i) slices.push_back({10.0 + i, 100});
  for (const bool compat : {false, true}) {
    const Resolved resolved(slices, Overlap::kTid, compat);
    EXPECT_EQ(resolved.events.size(), 40u);
    EXPECT_EQ(PartialOverlaps(resolved.events), 0) << compat;
  }
}

TEST(Overlaps, LanesAvoidRealThreads) {
  const Resolved resolved({{0, 10, 1}, {5, 10, 1}, {0, 100, 2}, {1, 5, 2}}, Overlap::kTid);
  for (const Event& event : resolved.events) {
    if (event.ts == 5) {
      EXPECT_EQ(event.tid, Value::Integer(3));
    }
  }
}

TEST(Overlaps, RandomSlicesNeverOverlapInPart) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    std::vector<Slice> slices;
    for (int i = 0; i < 80; ++i)
      slices.push_back({double(random() % 200), double(random() % 60), int(random() % 3)});
    for (const Overlap how : {Overlap::kTid, Overlap::kShift, Overlap::kDrop, Overlap::kAsync})
      EXPECT_EQ(PartialOverlaps(Resolved(slices, how).events), 0) << round;
  }
}

TEST(Overlaps, AsyncPairsAreValid) {
  const Resolved resolved({{0, 10}, {5, 10}, {7, 20}, {30, 1}}, Overlap::kAsync);
  std::map<int64_t, std::vector<char>> pairs;
  double last = 0;
  for (const Event& event : resolved.events) {
    EXPECT_GE(event.ts, last);
    last = event.ts;
    if (event.phase == 'X') continue;
    EXPECT_NE(event.cat, StringId::kNone);
    EXPECT_FALSE(event.has_dur);
    pairs[event.Find(key::kId, ArgPlace::kTop)->integer].push_back(event.phase);
  }
  ASSERT_EQ(pairs.size(), 2u);
  for (const auto& [id, phases] : pairs) EXPECT_EQ(phases, (std::vector{'b', 'e'})) << id;
}

TEST(Overlaps, TouchingAndNestedStay) {
  const Resolved resolved({{0, 10}, {10, 5}, {11, 1}, {0, 4}}, Overlap::kTid);
  for (const Event& event : resolved.events) EXPECT_EQ(event.tid, Value::Integer(1));
}

std::vector<std::pair<double, int64_t>> Preps(const std::vector<Slice>& slices, bool compat) {
  Options options;
  options.compat = compat;
  Fixture fixture(options);
  EventList events = fixture.Read(Json(slices));
  compat ? reference::QueueingCounter(events, fixture.run) : QueueingCounter(events, fixture.run);
  std::vector<std::pair<double, int64_t>> points;
  for (const Event& event : events) {
    EXPECT_EQ(event.phase, 'C');
    points.emplace_back(event.ts, event.Find(key::kConcurrency)->integer);
  }
  return points;
}

TEST(Preps, NestedOnesAreCounted) {
  const std::vector<Slice> nested = {
      {0, 100, 1, "k Cmpt Prep"}, {10, 10, 1, "k Cmpt Prep"}, {30, 10, 1, "k Cmpt Prep"}};
  using Points = std::vector<std::pair<double, int64_t>>;
  EXPECT_EQ(Preps(nested, false), (Points{{0, 1}, {10, 2}, {20, 1}, {30, 2}, {40, 1}, {100, 0}}));
  EXPECT_EQ(Preps(nested, true), (Points{{0, 1}, {10, 2}, {20, 0}, {30, 1}, {40, 0}, {100, 0}}));
}

TEST(Threads, RangeInOrderOfFirstSlice) {
  Fixture fixture;
  EventList events = fixture.Read(Json({{0, 1, 77}, {1, 1, 5}, {2, 1, 77}}));
  MapTidToRange(events, fixture.run);
  EXPECT_EQ(events[0].tid, Value::Integer(1000));
  EXPECT_EQ(events[1].tid, Value::Integer(1100));
  EXPECT_EQ(events[2].tid, Value::Integer(1000));
}

TEST(Names, NumbersOfRequests) {
  for (const bool compat : {false, true}) {
    Options options;
    options.compat = compat;
    Fixture fixture(options);
    EventList events =
        fixture.Read(Json({{0, 1, 1, "test_123_tset"}, {0, 1, 1, "Recv_5_x"}, {0, 1, 1, "a_9"}}));
    RemoveIdsFromName(events, fixture.run);
    EXPECT_EQ(fixture.Name(events[0]), compat ? "test tset" : "test_123_tset");
    EXPECT_EQ(fixture.ArgText(events[0], key::kReqId), "123");
    EXPECT_FALSE(events[1].Has(key::kReqId));
    EXPECT_FALSE(events[2].Has(key::kReqId));
  }
}

// Rank 1's clock is `offset` ahead; every collective ends together.
std::vector<Slice> TwoRanks(double offset) {
  std::vector<Slice> slices;
  for (int i = 0; i < 5; ++i) {
    const std::string group = fmt::format(R"({{"CollGroup": "AllReduce_{}"}})", i);
    slices.push_back({1000.0 * i + 10, 90, 1, "x", 0, group});
    slices.push_back({1000.0 * i + 40 + offset, 60.0 + i % 2, 1, "x", 1, group});
    slices.push_back({1000.0 * i + 200 + offset, 5, 9, "host", 1});
  }
  return slices;
}

TEST(RankClocks, ShiftsWholeRanks) {
  Fixture fixture;
  EventList events = fixture.Read(Json(TwoRanks(5000)));
  MpSyncTightV1(events, fixture.run);
  EXPECT_NEAR(events[1].end(), events[0].end(), 1.01);
  EXPECT_NEAR(events[2].ts, 200, 1.01) << "host events move with their rank";
}

TEST(RankClocks, LeavesClocksThatAgree) {
  Fixture fixture;
  EventList events = fixture.Read(Json(TwoRanks(3)));
  MpSyncTightV1(events, fixture.run);
  EXPECT_EQ(events[1].ts, 43);
  EXPECT_TRUE(fixture.console.Has("agree"));
}

TEST(RankClocks, ARankWithoutCollectivesStays) {
  Fixture fixture;
  std::vector<Slice> slices = TwoRanks(5000);
  slices.push_back({777, 1, 1, "alone", 2, R"({"CollGroup": "of nobody else"})"});
  EventList events = fixture.Read(Json(slices));
  MpSyncTightV1(events, fixture.run);
  const auto alone = std::find_if(events.begin(), events.end(), [&](const Event& event) {
    return fixture.Name(event) == "alone";
  });
  ASSERT_NE(alone, events.end());
  EXPECT_EQ(alone->ts, 777);
  EXPECT_TRUE(fixture.console.Has("1 of 3 ranks"));
}

}  // namespace track_passes_test
}  // namespace debrief::accel

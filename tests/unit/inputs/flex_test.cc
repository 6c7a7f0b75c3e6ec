// Flex traces made by hand: docs/formats/flex.md rule by rule, in ranges of every size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "inputs/import.h"
#include "tables/accel_rate.h"
#include "tables/accel_stamp.h"
#include "tables/timeline.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_process.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace flex_test {

constexpr int64_t kMhz = 500;  // cycles a microsecond of all traces here: 2 ns a cycle

// One event as Flex writes it: two edges, stamps as hexadecimal text.
struct FlexEvent {
  std::string name;
  double begin_us = 0, end_us = 0;
  std::array<int64_t, 5> stamps = {};
  std::string more = {};  // of attr, with a comma in front
  int pid = 0;
  int tid = 1;
};

std::string Text(const FlexEvent& event) {
  std::string attr;
  for (size_t i = 0; i < 5; ++i)
    attr += fmt::format("{}\"TS{}\":\"0x{:x}\"", i == 0 ? "" : ",", i + 1,
                        event.stamps[i] & 0xffffffff);
  std::string text;
  for (std::string_view phase : {"B", "E"}) {
    text += fmt::format(R"({}{{"attr":{{{}{}}},"name":"{}","ph":"{}","pid":{},"tid":{},"ts":{}}})",
                        text.empty() ? "" : ",", attr, event.more, event.name, phase, event.pid,
                        event.tid, phase == "B" ? event.begin_us : event.end_us);
  }
  return text;
}

std::string Document(const std::vector<FlexEvent>& events) {
  std::string text;
  for (const FlexEvent& event : events) text += (text.empty() ? "[" : ",\n") + Text(event);
  return text + "]";
}

class Flex : public ::testing::Test {
 protected:
  void Read(std::string_view text) {
    part_ = testing::ImportBytes("flex", text, 1 << 20);
    for (uint64_t chunk : {1U, 7U, 100U})
      EXPECT_EQ(Slices(testing::ImportBytes("flex", text, chunk)), Slices(part_)) << chunk;
  }
  void Read(const std::vector<FlexEvent>& events) { Read(Document(events)); }

  // "name start+duration kind;" of all slices.
  static std::string Slices(const Part& part) {
    const auto& table = part.tables.Get<TimelineSliceTable>();
    std::string text;
    for (size_t i = 0; i < table.size(); ++i)
      text += fmt::format("{} {}+{} {};", part.pools.Text(table.name[i]), table.start_ns[i],
                          table.duration_ns[i], part.pools.Text(table.kind[i]));
    return text;
  }
  std::string Slices() const { return Slices(part_); }

  std::string Trouble() const {
    std::string text;
    for (const Diagnostic& each : part_.diagnostics.all())
      text += fmt::format("{} {};", each.kind->name, each.count);
    return text;
  }

  const AccelStampTable& stamps() const { return part_.tables.Get<AccelStampTable>(); }
  const AccelRateTable& rates() const { return part_.tables.Get<AccelRateTable>(); }

  Part part_;
};

TEST_F(Flex, TheCounterTellsTheDurationAndTheHostTheEnd) {
  // Cycles 0, 10k, 20k, 45k, 50k: 20, 20, 50 and 10 us of the four phases.
  std::array<int64_t, 5> cycles = {1000, 11000, 21000, 46000, 51000};
  Read({{"a DmaI", 0, 20, cycles, "", 0, 1},
        {"a Cmpt Prep", 20, 40, cycles, "", 0, 2},
        {"a Cmpt Exec", 40, 90, cycles, "", 0, 3},
        {"a DmaO", 85, 100, cycles, "", 0, 4}});
  EXPECT_EQ(Slices(),
            "a DmaI 0+20000 memcpy;a Cmpt Prep 20000+20000 queue;"
            "a Cmpt Exec 40000+50000 kernel;a DmaO 90000+10000 memcpy;");
  ASSERT_EQ(rates().size(), 1u);
  EXPECT_NEAR(rates().mhz[0], kMhz, 0.5);
  // The file's last event is the last slice here.
  EXPECT_EQ(stamps().host_start_ns[3], 85000);
  EXPECT_EQ(stamps().host_duration_ns[3], 15000);
}

TEST_F(Flex, WhatHasNoStampsIsTheRuntime) {
  Read(R"([{"name":"Execute Graph","ph":"B","pid":0,"tid":9,"ts":1},
           {"name":"Execute Graph","ph":"E","pid":0,"tid":9,"ts":100},
           {"name":"PrepareDmas","ph":"B","pid":0,"tid":9,"ts":2},
           {"name":"PrepareDmas","ph":"E","pid":0,"tid":9,"ts":5},)" +
       Text({"k Cmpt Exec", 10, 20, {0, 0, 0, 5000, 5000}, "", 0, 9}) + "]");
  EXPECT_EQ(Slices(),
            "Execute Graph 1000+99000 runtime;PrepareDmas 2000+3000 runtime;"
            "k Cmpt Exec 10000+10000 kernel;");
}

TEST_F(Flex, EventsOfOneThreadMayOverlap) {
  Read({{"x Cmpt Exec", 0, 20, {0, 0, 0, 10000, 10000}},
        {"y Cmpt Exec", 10, 40, {0, 0, 5000, 20000, 20000}},
        {"z Cmpt Exec", 30, 35, {0, 0, 15000, 17500, 17500}}});
  EXPECT_EQ(Slices(),
            "x Cmpt Exec 0+20000 kernel;y Cmpt Exec 10000+30000 kernel;"
            "z Cmpt Exec 30000+5000 kernel;");
}

TEST_F(Flex, SeveralRanksInOneFileStayApart) {
  Read({{"k Cmpt Exec", 0, 20, {0, 0, 0, 10000, 10000}, "", 0},
        {"k Cmpt Exec", 0, 30, {0, 0, 7, 15007, 15007}, "", 3}});
  ASSERT_EQ(rates().size(), 2u);
  EXPECT_EQ(rates().device[0], 0);
  EXPECT_EQ(rates().device[1], 3);
  const auto& slices = part_.tables.Get<TimelineSliceTable>();
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices.rank[0], 0);
  EXPECT_EQ(slices.rank[1], 3);
  EXPECT_NE(slices.track[0], slices.track[1]);
}

TEST_F(Flex, CollectivesCommunicateAndKeepWhatTheySay) {
  Read({{"SenRdmaSend_1 [sync=AllReduce_all_reduce_4_s0] DmaO",
         0,
         20,
         {0, 0, 0, 0, 10000},
         R"(,"Bytes":"524288","CollGroup":"AllReduce_all_reduce_4","Peers":"0,1,2",)"
         R"("Type":"Set BCList","Power":"77")"}});
  EXPECT_EQ(Slices(), "SenRdmaSend_1 [sync=AllReduce_all_reduce_4_s0] DmaO 0+20000 kernel;");
  ASSERT_EQ(stamps().size(), 1u);
  EXPECT_EQ(stamps().bytes[0], 524288);
  EXPECT_EQ(stamps().power[0], 77);
  EXPECT_EQ(part_.pools.Text(stamps().coll_group[0]), "AllReduce_all_reduce_4");
  EXPECT_EQ(part_.pools.Text(stamps().transfer_type[0]), "Set BCList");
  std::span<const int64_t> peers = part_.pools.lists.Get(stamps().peers[0]);
  EXPECT_EQ(std::vector<int64_t>(peers.begin(), peers.end()), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(part_.tables.Get<TimelineDeviceWorkTable>().bytes[0], 524288);
}

TEST_F(Flex, NumbersMayBeNumbers) {
  Read(R"([{"name":"k Cmpt Exec","ph":"X","pid":0,"tid":1,"ts":10,"dur":20,
            "args":{"TS1":0,"TS2":0,"TS3":0,"TS4":10000,"TS5":10000}}])");
  EXPECT_EQ(Slices(), "k Cmpt Exec 10000+20000 kernel;");
}

TEST_F(Flex, IncompleteStampsLeaveTheTimesOfTheHost) {
  Read(R"([{"name":"k Cmpt Exec","ph":"X","pid":0,"tid":1,"ts":10,"dur":20,"attr":{"TS1":"1"}},
           {"name":"l Cmpt Exec","ph":"X","pid":0,"tid":1,"ts":40,"dur":20,
            "attr":{"TS1":"a","TS2":"1","TS3":"1","TS4":"1","TS5":"1"}}])");
  EXPECT_EQ(Trouble(), "chrome_trace.bad_stamps 2;");
  EXPECT_EQ(stamps().size(), 0u);
  EXPECT_EQ(part_.tables.Get<TimelineSliceTable>().size(), 2u);
}

TEST_F(Flex, DisorderedStampsAreNoWrap) {
  Read({{"a Cmpt Exec", 0, 20, {0, 0, 0, 10000, 10000}},
        {"b Cmpt Exec", 20, 40, {0, 0, 10000, 20000, 20000}},
        {"c Cmpt Exec", 40, 60, {0, 0, 30000, 20000, 30000}}});
  EXPECT_EQ(Trouble(), "chrome_trace.stamps_disordered 1;");
  EXPECT_NE(Slices().find("c Cmpt Exec 40000+20000 kernel;"), std::string::npos);
}

TEST_F(Flex, AnEndBeforeItsBeginHasNoDuration) {
  Read({{"a Cmpt Exec", 20, 10, {0, 0, 0, 10000, 10000}}});
  EXPECT_EQ(Trouble(), "chrome_trace.bad_duration 1;");
}

// 400 s at 500 MHz: the counter wraps 46 times, and long events straddle wraps.
TEST_F(Flex, WrapsAreCountedExactly) {
  std::mt19937 random(7);
  std::vector<FlexEvent> events;
  std::vector<int64_t> truth;
  int64_t cycle = 4'000'000'000;
  for (int i = 0; i < 400; ++i) {
    int64_t begin = cycle, end = begin + 400'000'000 + static_cast<int64_t>(random() % 1000);
    auto host = [](int64_t at) { return static_cast<double>(at) / kMhz; };
    events.push_back(
        {"k Cmpt Exec", host(begin), host(end), {begin - 9, begin - 9, begin, end, end}});
    truth.push_back(begin);
    cycle = end + static_cast<int64_t>(random() % 200'000'000);
  }
  Read(events);
  ASSERT_EQ(stamps().size(), truth.size());
  // Counted from the first event on, whose own wraps nobody knows.
  int64_t base = truth[0] - stamps().ts3[0];
  EXPECT_EQ(base % (int64_t{1} << 32), 0);
  for (size_t i = 0; i < truth.size(); ++i) EXPECT_EQ(stamps().ts3[i] + base, truth[i]) << i;
}

TEST(FlexSniff, OnlyOnePidIsARank) {
  auto rank = [](const std::vector<FlexEvent>& events) {
    std::string text = Document(events);
    auto json = JsonOutline::Of(text);
    SniffInput input{
        .path = "x.json", .name = "x.json", .head = text, .whole = true, .json = &*json};
    return testing::FindImporter("flex")->sniff(input).rank;
  };
  EXPECT_EQ(rank({{"k", 0, 1, {}, "", 3}, {"k", 2, 3, {}, "", 3}}), 3);
  EXPECT_EQ(rank({{"k", 0, 1, {}, "", 0}, {"k", 2, 3, {}, "", 1}}), kNone32);
}

}  // namespace flex_test
}  // namespace debrief

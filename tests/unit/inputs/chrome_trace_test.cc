// The reader of Trace Event Format files on documents made by hand: docs/formats/chrome_trace.md
// row by row, in ranges of every size.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json/event_ranges.h"
#include "base/text/micros.h"
#include "base/text/strings.h"
#include "inputs/import.h"
#include "tables/timeline.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_device.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_group.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_process.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace chrome_trace_test {

class ChromeTrace : public ::testing::Test {
 protected:
  // Reads the document in small ranges and in one, which must give the same.
  void Read(std::string_view text) {
    part_ = Import(text, 1 << 20);
    for (uint64_t chunk : {1U, 7U, 100U}) {
      Part other = Import(text, chunk);
      EXPECT_EQ(Slices(other), Slices(part_)) << "ranges of " << chunk << ": " << text;
      EXPECT_EQ(Trouble(other), Trouble(part_)) << "ranges of " << chunk << ": " << text;
      EXPECT_EQ(Tracks(other), Tracks(part_)) << "ranges of " << chunk << ": " << text;
    }
  }
  void ReadEvents(std::string_view events) {
    Read(fmt::format("{{\"traceEvents\": [{}]}}", events));
  }

  static Part Import(std::string_view text, uint64_t chunk) {
    return testing::ImportBytes("chrome_trace", text, chunk);
  }

  // "name start+duration kind parent;" of all slices.
  static std::string Slices(const Part& part) {
    const auto& table = part.tables.Get<TimelineSliceTable>();
    std::string text;
    for (size_t i = 0; i < table.size(); ++i) {
      text += fmt::format("{} {}+{} {} {};", part.pools.Text(table.name[i]), table.start_ns[i],
                          table.duration_ns[i], part.pools.Text(table.kind[i]),
                          table.parent[i] == kNone32 ? -1 : table.parent[i]);
    }
    return text;
  }
  std::string Slices() const { return Slices(part_); }

  // "pid/tid kind name first+count;"
  static std::string Tracks(const Part& part) {
    const auto& table = part.tables.Get<TimelineTrackTable>();
    const auto& processes = part.tables.Get<TimelineProcessTable>();
    std::string text;
    for (size_t i = 0; i < table.size(); ++i) {
      auto process = static_cast<size_t>(table.process[i]);
      text += fmt::format("{}/{} {} {} {}+{};", part.pools.Text(processes.pid[process]),
                          part.pools.Text(table.tid[i]), part.pools.Text(table.kind[i]),
                          part.pools.Text(table.name[i]), table.first_slice[i], table.slices[i]);
    }
    return text;
  }

  static std::string Trouble(const Part& part) {
    return std::string(Trimmed(testing::TroubleOf(part), ";"));
  }
  std::string Trouble() const { return Trouble(part_); }
  std::string_view Text(StringId id) const { return part_.pools.Text(id); }
  template <typename T>
  const T& Get() const {
    return part_.tables.Get<T>();
  }

  Part part_;
};

TEST(Micros, AreExactNanoseconds) {
  EXPECT_EQ(MicrosToNs("3853805014190.827"), 3853805014190827);
  EXPECT_EQ(MicrosToNs("12"), 12000);
  EXPECT_EQ(MicrosToNs("\"12.5\""), 12500);
  EXPECT_EQ(MicrosToNs("-0.25"), -250);
  EXPECT_EQ(MicrosToNs("0.0005"), 1);
  EXPECT_EQ(MicrosToNs("0.00049999"), 0);
  EXPECT_EQ(MicrosToNs("1.5e3"), 1500000);
  EXPECT_EQ(MicrosToNs("1695835535924719 "), 1695835535924719000);
}

TEST(Micros, WhatIsNoTimeIsNone) {
  for (const char* text :
       {"", "NaN", "Infinity", "-", "1e300", "99999999999999999999", "x", "1.2.3"})
    EXPECT_EQ(MicrosToNs(text), std::nullopt) << text;
}

TEST(FindEvent, IsNotFooledByText) {
  std::string_view text = R"([{"name": "a {\"ph\": 1", "ph": "X"}, {"ph": "Y"}])";
  EXPECT_EQ(FindEvent(text, 0), 1U);
  EXPECT_EQ(text.substr(FindEvent(text, 2), 6), "{\"ph\":");
  EXPECT_EQ(FindEvent(R"("args": {"ph": 1}})", 0), std::string_view::npos);
  EXPECT_EQ(FindEvent(R"(, {"no": 1})", 0), std::string_view::npos);
}

TEST(FindEvent, WhatWasNeverClosedIsNone) {
  EXPECT_EQ(FindEvent(R"([{"ph": "X", "name": "open}, {"ph": "Y"}])", 0), 29U) << "a string";
  EXPECT_EQ(FindEvent(R"([{"ph": "X", {"ph": "Y"}])", 0), 13U) << "an object";
  std::string deep = "[";
  for (int i = 0; i < 100; ++i) deep += R"({"ph": "X", "a": [)";
  EXPECT_EQ(FindEvent(deep + R"({"ph": "Y"})", 0), deep.size());
}

TEST(TakeEvent, EndsWhereTheEventEnds) {
  std::string_view text = R"({"ph": "X"} {"ph": "Y"} garbage {"ph": "Z"}, {"ph": "A", {"ph": "B"})";
  std::string taken;
  while (!text.empty()) taken += std::string(TakeEvent(text)) + "|";
  EXPECT_EQ(taken, R"({"ph": "X"}|{"ph": "Y"}|garbage {"ph": "Z"}, {"ph": "A"|{"ph": "B"}|)");
}

TEST_F(ChromeTrace, SlicesAreSortedAndNested) {
  ReadEvents(
      R"({"ph": "X", "cat": "cpu_op", "name": "inner", "pid": 1, "tid": 2, "ts": 10.5, "dur": 2},
         {"ph": "X", "cat": "user_annotation", "name": "outer", "pid": 1, "tid": 2, "ts": 10, "dur": 5},
         {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12, "dur": 1},
         {"ph": "X", "cat": "cpu_op", "name": "later", "pid": 1, "tid": 2, "ts": 15, "dur": 1})");
  EXPECT_EQ(Slices(),
            "outer 10000+5000 annotation -1;inner 10500+2000 op 0;later 15000+1000 op -1;"
            "gemm 12000+1000 kernel -1;");
  EXPECT_EQ(Tracks(part_), "1/2 thread  0+3;0/7 stream  3+1;");
  EXPECT_EQ(Trouble(), "");
}

TEST_F(ChromeTrace, BaseIsAddedWhereverItStands) {
  Read(
      R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}],
           "baseTimeNanoseconds": 1700000000000000000})");
  EXPECT_EQ(Get<TimelineSliceTable>().start_ns.at(0), 1700000000000001000);
  EXPECT_EQ(Text(Get<TimelineTable>().producer.at(0)), "kineto");
  EXPECT_EQ(Get<TimelineTable>().start_ns.at(0), 1700000000000001000);
}

TEST_F(ChromeTrace, BeginsAndEndsPair) {
  ReadEvents(
      R"({"ph": "B", "name": "a", "pid": 1, "tid": 1, "ts": 1}, {"ph": "B", "name": "b", "pid": 1, "tid": 1, "ts": 2},
         {"ph": "E", "pid": 1, "tid": 1, "ts": 3}, {"ph": "E", "pid": 1, "tid": 1, "ts": 5},
         {"ph": "E", "pid": 1, "tid": 1, "ts": 6}, {"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 7},
         {"ph": "X", "name": "last", "pid": 1, "tid": 9, "ts": 8, "dur": 2})");
  EXPECT_EQ(
      Slices(),
      "a 1000+4000 other -1;b 2000+1000 other 0;open 7000+3000 other -1;last 8000+2000 other -1;");
  EXPECT_EQ(Trouble(), "chrome_trace.never_ended 1;chrome_trace.never_begun 1");
}

TEST_F(ChromeTrace, AsynchronousOnesPairById) {
  ReadEvents(
      R"({"ph": "b", "cat": "io", "name": "r", "id": "0x1", "pid": 1, "tid": 1, "ts": 1},
         {"ph": "b", "cat": "io", "name": "s", "id": 2, "pid": 1, "tid": 1, "ts": 2},
         {"ph": "e", "cat": "io", "name": "r", "id": "0x1", "pid": 1, "tid": 3, "ts": 4},
         {"ph": "e", "cat": "io", "name": "s", "id": 2, "pid": 1, "tid": 1, "ts": 3})");
  EXPECT_EQ(Slices(), "r 1000+3000 async -1;s 2000+1000 async -1;");
  EXPECT_EQ(Tracks(part_), "1/io async  0+2;");
}

TEST_F(ChromeTrace, NamesMayComeLast) {
  ReadEvents(
      R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1},
         {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7"}},
         {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "python"}},
         {"ph": "M", "name": "process_labels", "pid": 0, "args": {"labels": "GPU 0"}},
         {"ph": "M", "name": "process_sort_index", "pid": 0, "args": {"sort_index": 5000000}})");
  EXPECT_EQ(Tracks(part_), "0/7 stream stream 7 0+1;");
  EXPECT_EQ(Text(Get<TimelineProcessTable>().name.at(0)), "python");
  EXPECT_EQ(Text(Get<TimelineProcessTable>().labels.at(0)), "GPU 0");
  EXPECT_EQ(Get<TimelineProcessTable>().sort_index.at(0), 5000000);
}

TEST_F(ChromeTrace, DetailsOfWorkFollowTheirSlice) {
  ReadEvents(
      R"({"ph": "X", "cat": "kernel", "name": "second", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"device": 0,
          "stream": 7, "correlation": 12, "External id": 4, "grid": [8, 2, 1], "block": [32, 4, 1], "registers per thread": 40}},
         {"ph": "X", "cat": "gpu_memcpy", "name": "first", "pid": 0, "tid": 7, "ts": 2, "dur": 1, "args": {"bytes": 4096, "stream": 7}})");
  const auto& works = Get<TimelineDeviceWorkTable>();
  ASSERT_EQ(works.size(), 2U);
  EXPECT_EQ(works.slice, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(works.bytes[0], 4096);
  EXPECT_EQ(works.blocks[1], 16);
  EXPECT_EQ(works.threads[1], 128);
  EXPECT_EQ(works.registers[1], 40);
  EXPECT_EQ(Get<TimelineSliceTable>().correlation.at(1), 12);
  EXPECT_EQ(Get<TimelineSliceTable>().external_id.at(1), 4);
}

TEST_F(ChromeTrace, OpsAndCollectivesAreRead) {
  ReadEvents(
      R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {
          "Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"], "Sequence number": 17, "Fwd thread id": 1}},
         {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1, "ts": 9, "dur": 1, "args": {
          "Collective name": "allreduce", "Process Group Name": "12", "Process Group Ranks": "[7, 6]", "Group size": 2,
          "dtype": "Float", "In msg nelems": 8192, "Out msg nelems": 8192, "Seq": 31}})");
  EXPECT_EQ(Text(Get<TimelineOpTable>().shapes.at(0)), "[[2, 3], [3, 4]]");
  EXPECT_EQ(Get<TimelineOpTable>().sequence.at(0), 17);
  const auto& collectives = Get<TimelineCollectiveTable>();
  ASSERT_EQ(collectives.size(), 1U);
  EXPECT_EQ(Text(collectives.op[0]), "allreduce");
  EXPECT_EQ(Text(collectives.group_name[0]), "12");
  EXPECT_EQ(collectives.seq[0], 31);
  auto members = part_.pools.lists.Get(collectives.members[0]);
  EXPECT_EQ(std::vector<int64_t>(members.begin(), members.end()), (std::vector<int64_t>{6, 7}));
}

TEST_F(ChromeTrace, CutListOfRanksIsNotKnown) {
  ReadEvents(
      R"({"ph": "X", "cat": "kernel", "name": "nccl", "pid": 0, "tid": 1, "ts": 5, "dur": 1, "args": {
          "Collective name": "allreduce", "Process Group Ranks": "[0, 1, ..., 511]", "stream": 3}})");
  EXPECT_EQ(Get<TimelineCollectiveTable>().members.at(0), ListId::kNone);
}

TEST_F(ChromeTrace, FlowsBindToTheSliceAroundThem) {
  ReadEvents(
      R"({"ph": "X", "cat": "cpu_op", "name": "forward", "pid": 1, "tid": 1, "ts": 5, "dur": 4},
         {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 6, "cat": "fwdbwd", "name": "fwdbwd"},
         {"ph": "f", "id": 1, "pid": 1, "tid": 2, "ts": 9, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
         {"ph": "s", "id": 2, "pid": 1, "tid": 1, "ts": 6, "cat": "ac2g", "name": "ac2g"})");
  const auto& flows = Get<TimelineFlowTable>();
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows.slice[0], 0);
  EXPECT_EQ(flows.slice[1], kNone32);
  EXPECT_EQ(Get<TimelineTable>().repeated_flows.at(0), 1);
}

TEST_F(ChromeTrace, CountersAndMemory) {
  ReadEvents(
      R"({"args": {"used": 3, "free": 1.5}, "name": "mem", "ph": "C", "pid": 1, "tid": 1, "ts": 2},
         {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 3, "args": {
          "Total Reserved": 2262827008, "Total Allocated": 1846008320, "Bytes": -512, "Device Id": 0, "Device Type": 1, "Addr": 1404}},
         {"ph": "i", "s": "g", "name": "Iteration Start", "pid": "Traces", "tid": "x", "ts": 4})");
  const auto& counters = Get<TimelineCounterTable>();
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(Text(counters.series[1]), "free");
  EXPECT_EQ(counters.number[1], 1.5);
  EXPECT_EQ(Get<TimelineMemoryTable>().bytes.at(0), -512);
  EXPECT_EQ(Get<TimelineMemoryTable>().allocated_bytes.at(0), 1846008320);
  EXPECT_EQ(Slices(), "Iteration Start 4000+0 instant -1;");
}

TEST_F(ChromeTrace, FactsBecomeRows) {
  Read(
      R"({"deviceProperties": [{"id": 0, "name": "H200", "totalGlobalMem": 150109880320, "numSms": 132, "computeMajor": 9, "computeMinor": 0}],
           "distributedInfo": {"backend": "nccl", "rank": 6, "world_size": 8, "pg_config": [{"pg_name": "3", "pg_desc": "mesh_pp", "ranks": [6, 2]}]},
           "record_shapes": 1, "traceEvents": []})");
  EXPECT_EQ(Get<TimelineDeviceTable>().memory_bytes.at(0), 150109880320);
  EXPECT_EQ(Text(Get<TimelineDeviceTable>().compute_capability.at(0)), "9.0");
  EXPECT_EQ(Text(Get<TimelineGroupTable>().description.at(0)), "mesh_pp");
  EXPECT_EQ(Get<TimelineTable>().world_size.at(0), 8);
  EXPECT_EQ(Text(Get<TimelineTable>().backend.at(0)), "nccl");
  EXPECT_EQ(Get<TimelineTable>().has_shapes.at(0), 1);
  EXPECT_EQ(Trouble(), "");
}

TEST_F(ChromeTrace, BareArrayNeedsNoEnd) {
  Read(R"([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1},
          {"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 3, "dur": 1},)");
  EXPECT_EQ(Slices(), "a 1000+1000 other -1;b 3000+1000 other -1;");
  EXPECT_EQ(Trouble(), "");
  EXPECT_EQ(Text(Get<TimelineTable>().producer.at(0)), "chrome");
}

constexpr std::string_view kGood =
    R"({"ph": "X", "name": "good", "pid": 1, "tid": 1, "ts": 1, "dur": 1})";

TEST_F(ChromeTrace, CutTailKeepsWholeEvents) {
  Read(fmt::format(R"({{"traceEvents": [{}, {}, {{"ph": "X", "name": "cut)", kGood, kGood));
  EXPECT_EQ(Slices(), "good 1000+1000 other -1;good 1000+1000 other 0;");
  EXPECT_EQ(Trouble(), "chrome_trace.bad_event 1;chrome_trace.truncated 1");
}

TEST_F(ChromeTrace, BareQuoteLosesItsEventOnly) {
  ReadEvents(fmt::format(
      R"({}, {{"ph": "X", "name": "a "b" c", "pid": 1, "tid": 1, "ts": 1, "dur": 1}}, {})", kGood,
      kGood));
  EXPECT_EQ(Slices(), "good 1000+1000 other -1;good 1000+1000 other 0;");
  EXPECT_EQ(Trouble(), "chrome_trace.bad_event 1");
  EXPECT_EQ(Get<TimelineTable>().lost.at(0), 1);
}

TEST_F(ChromeTrace, OddBareQuoteLosesItsEventOnly) {
  ReadEvents(fmt::format(
      R"({}, {{"ph": "X", "name": "a "b c", "pid": 1, "tid": 1, "ts": 1, "dur": 1}}, {}, {})",
      kGood, kGood, kGood));
  EXPECT_EQ(Get<TimelineSliceTable>().size(), 3U);
  EXPECT_EQ(Trouble(), "chrome_trace.bad_event 1");
}

TEST_F(ChromeTrace, ControlCharactersAreReplaced) {
  ReadEvents(
      "{\"ph\": \"X\", \"name\": \"a\x01z\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1}");
  EXPECT_EQ(Get<TimelineSliceTable>().size(), 1U);
  EXPECT_EQ(Trouble(), "chrome_trace.repaired 1");
}

TEST_F(ChromeTrace, TimesThatAreNone) {
  ReadEvents(
      R"({"ph": "X", "name": "no time", "pid": 1, "tid": 1, "ts": NaN, "dur": 1},
         {"ph": "X", "name": "no duration", "pid": 1, "tid": 1, "ts": 2},
         {"ph": "X", "name": "negative", "pid": 1, "tid": 1, "ts": 3, "dur": -1},
         {"ph": "X", "name": "far", "pid": 1, "tid": 1, "ts": 1e40, "dur": 1})");
  EXPECT_EQ(Slices(), "no duration 2000+0 other -1;negative 3000+0 other -1;");
  EXPECT_EQ(Trouble(), "chrome_trace.no_time 2;chrome_trace.bad_duration 2");
}

TEST_F(ChromeTrace, NoEventsAtAll) {
  Read(R"({"traceEvents": 3})");
  EXPECT_EQ(Trouble(), "chrome_trace.no_events 1");
  ReadEvents("");
  EXPECT_EQ(Trouble(), "");
}

TEST_F(ChromeTrace, NestedObjectsOfArgsAreNoEvents) {
  ReadEvents(fmt::format(
      R"({{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {{"list": [{{"x": 1}}, {{"y": 2}}]}}}}, {})",
      kGood));
  EXPECT_EQ(Slices(), "a 1000+9000 other -1;good 1000+1000 other 0;");
}

// Every naming finds its rows at once: one that looked at all tracks would take minutes here.
TEST(TraceEventNames, TwoHundredThousandThreads) {
  constexpr int kThreads = 200'000;
  std::string text = "[";
  for (int i = 0; i < kThreads; ++i) {
    text += fmt::format(
        R"({{"ph":"X","name":"a","pid":1,"tid":{0},"ts":1,"dur":1}},)"
        R"({{"ph":"M","name":"thread_name","pid":1,"tid":{0},"args":{{"name":"t{0}"}}}},)",
        i);
  }
  text += R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"main"}}])";
  Part part = testing::ImportBytes("chrome_trace", text, 1 << 20);
  const auto& tracks = part.tables.Get<TimelineTrackTable>();
  ASSERT_EQ(tracks.size(), size_t{kThreads});
  for (size_t row = 0; row < tracks.size(); ++row)
    ASSERT_EQ(part.pools.Text(tracks.name[row]),
              fmt::format("t{}", part.pools.Text(tracks.tid[row])));
  const auto& processes = part.tables.Get<TimelineProcessTable>();
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(part.pools.Text(processes.name[0]), "main");
}

}  // namespace chrome_trace_test
}  // namespace debrief

// Timelines as Perfetto traces, Chrome JSON and collapsed stacks, and read back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "model/timeline/columns.h"
#include "model/timeline/lanes.h"
#include "outputs/exports/chrome/event_text.h"
#include "outputs/timeline_merge.h"
#include "tables/timeline_args.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_slice.h"
#include "unit/outputs/timeline_helpers.h"

namespace debrief {
namespace timeline_outputs_test {

using testing::ImportInto;
using testing::kTimelineJson;
using testing::TimelineText;
using testing::WriteWith;

TEST(PerfettoOutput, IsReadBackToTheSameTables) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kTimelineJson));
  const std::string before = TimelineText(model);
  for (std::string_view table :
       {"timeline ", "timeline_collective ", "timeline_counter ", "timeline_device ",
        "timeline_device_work ", "timeline_fact ", "timeline_flow ", "timeline_group ",
        "timeline_memory ", "timeline_op ", "timeline_process ", "timeline_slice ",
        "timeline_track "})
    EXPECT_NE(before.find(table), std::string_view::npos) << "the input has rows of " << table;
  Model again;
  ImportInto(again, "perfetto", WriteWith("perfetto", model));
  EXPECT_EQ(TimelineText(again), before);
  EXPECT_TRUE(again.diagnostics.all().empty());
}

// Arguments that debrief has no column for, of every type, on every kind of event.
constexpr std::string_view kArgumentsJson = R"({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 10, "dur": 5,
 "args": {"device": 0, "stream": 7, "correlation": 1, "graph id": 0, "grid": [8, 4, 1], "block": [32, 2, 1], "whole": 3, "real": 3.0,
          "text": "a \"quoted\" one", "flag": true, "nothing": null, "huge": 18446744073709551615, "list": [], "deep": {"a": [1, {"b": "c"}], "d": {}}}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 11, "tid": 12, "ts": 9, "dur": 1, "args": {"correlation": 1, "stream": 7, "cbid": 211}},
{"ph": "X", "cat": "kernel", "name": "recv", "pid": 0, "tid": 7, "ts": 20, "dur": 5,
 "args": {"stream": 7, "Collective name": "recv", "Src Rank": 3}},
{"ph": "i", "s": "t", "cat": "x", "name": "mark", "pid": 11, "tid": 12, "ts": 26, "args": {"why": "x"}},
{"ph": "B", "cat": "x", "name": "pair", "pid": 11, "tid": 12, "ts": 30, "args": {"External id": 4, "of": "begin"}},
{"ph": "E", "pid": 11, "tid": 12, "ts": 31},
{"ph": "b", "cat": "chain", "name": "request", "id": 1, "pid": 11, "tid": 12, "ts": 40, "args": {"user": 5}},
{"ph": "e", "cat": "chain", "name": "request", "id": 1, "pid": 11, "tid": 12, "ts": 41}
]})";

TEST(PerfettoOutput, KeepsArgumentsThatHaveNoColumn) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kArgumentsJson), 0, 1, /*keeps_args=*/true);
  const std::string before = TimelineText(model);
  EXPECT_EQ(model.tables.Get<TimelineArgsTable>().size(), 6U);
  Model again;
  ImportInto(again, "perfetto", WriteWith("perfetto", model), 0, 1, /*keeps_args=*/true);
  EXPECT_EQ(TimelineText(again), before);
}

TEST(ChromeOutput, KeepsArgumentsThatHaveNoColumn) {
  Model model, through_perfetto;
  ImportInto(model, "chrome_trace", std::string(kArgumentsJson), 0, 1, /*keeps_args=*/true);
  const std::string text = WriteWith("chrome", model);
  for (
      const std::string_view part :
      {R"("grid": [8, 4, 1], "block": [32, 2, 1], "whole": 3, "real": 3.0)", R"("graph id": 0)",
       R"("text": "a \"quoted\" one", "flag": true, "nothing": null, "huge": 18446744073709551615)",
       R"("list": [], "deep": {"a": [1, {"b": "c"}], "d": {}})", R"("Src Rank": 3)",
       R"("stream": 7, "cbid": 211)", R"({"why": "x"})", R"("External id": 4, "of": "begin")",
       R"({"user": 5})"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  for (const std::string_view part : {"[32, 1, 1]", "[64, 1, 1]", "Dst Rank"})
    EXPECT_EQ(text.find(part), std::string::npos) << part << " is told better";
  ImportInto(through_perfetto, "perfetto", WriteWith("perfetto", model), 0, 1, true);
  EXPECT_EQ(WriteWith("chrome", through_perfetto), text);
}

TEST(PerfettoOutput, SurvivesCutsAndFlips) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kTimelineJson));
  const std::string good = WriteWith("perfetto", model);
  for (size_t i = 0; i < good.size(); i += 7) {
    Model cut, flipped;
    ImportInto(cut, "perfetto", good.substr(0, i));
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
    ImportInto(flipped, "perfetto", bytes);
    EXPECT_LE(cut.tables.Get<TimelineSliceTable>().size(),
              model.tables.Get<TimelineSliceTable>().size());
  }
}

TEST(PerfettoOutput, SeveralRanksAreOneTraceOnOneClock) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kTimelineJson), 0, 0);
  ImportInto(model, "chrome_trace", std::string(kTimelineJson), 1, 1);
  auto& clocks = model.tables.Edit<TimelineClockTable>();
  TimelineClockRow clock;
  clock.input = 1;
  clock.offset_ns = 1000;
  clock.drift_ppb = 0;
  clocks.Add(clock);
  Model again;
  ImportInto(again, "perfetto", WriteWith("perfetto", model));
  EXPECT_EQ(again.tables.Get<TimelineTable>().size(), 1U);
  const auto& before = model.tables.Get<TimelineSliceTable>();
  const auto& after = again.tables.Get<TimelineSliceTable>();
  ASSERT_EQ(after.size(), before.size());
  std::set<int64_t> correlations;
  for (size_t i = 0; i < after.size(); ++i) {
    const bool is_second = i >= after.size() / 2;
    EXPECT_EQ(after.start_ns[i], before.start_ns[i] + (is_second ? 1000 : 0));
    if (after.correlation[i] != kNone64) correlations.insert(after.correlation[i]);
  }
  EXPECT_EQ(correlations.size(), 4U) << "two of each rank, told apart";
  const auto& processes = again.tables.Get<TimelineProcessTable>();
  EXPECT_EQ(again.pools.Text(processes.pid[0]), "0:11");
  EXPECT_EQ(again.pools.Text(processes.name[0]), "rank 0: python");
  EXPECT_EQ(processes.size(), model.tables.Get<TimelineProcessTable>().size());
}

TEST(PerfettoOutput, DriftIsAppliedFromTheMiddle) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kTimelineJson));
  MergedTimeline merged = MergeTimelines(model).front();
  merged.offset_ns = 10;
  merged.drift = 1e-3;
  EXPECT_EQ(merged.TimeOf(merged.middle_ns), merged.middle_ns + 10);
  EXPECT_EQ(merged.TimeOf(merged.middle_ns + 5000), merged.middle_ns + 5015);
  EXPECT_EQ(merged.TimeOf(merged.middle_ns - 5000), merged.middle_ns - 4995);
}

// A column that is added to a table must be added to columns.h, or traces lose it.
template <typename Table, typename Row>
void ExpectAllColumns(std::set<std::string_view> found_out) {
  size_t visited = 0;
  Row row;
  timeline::VisitColumns(row, [&](std::string_view, auto&) { ++visited; });
  found_out.insert({"job", "attempt", "rank", "input"});
  size_t wanted = 0;
  for (const ColumnInfo& column : Table::kInfo.columns) wanted += !found_out.contains(column.name);
  EXPECT_EQ(visited, wanted) << Table::kInfo.name;
}

TEST(TimelineColumns, AreAllVisited) {
  ExpectAllColumns<TimelineTable, TimelineRow>(
      {"start_ns", "end_ns", "events", "lost", "repeated_flows"});
  ExpectAllColumns<TimelineDeviceTable, TimelineDeviceRow>({});
  ExpectAllColumns<TimelineGroupTable, TimelineGroupRow>({});
  ExpectAllColumns<TimelineFactTable, TimelineFactRow>({});
  ExpectAllColumns<TimelineProcessTable, TimelineProcessRow>({});
  ExpectAllColumns<TimelineTrackTable, TimelineTrackRow>({"first_slice", "slices"});
  ExpectAllColumns<TimelineFlowTable, TimelineFlowRow>({"time_ns", "slice"});
  ExpectAllColumns<TimelineDeviceWorkTable, TimelineDeviceWorkRow>({"slice"});
  ExpectAllColumns<TimelineOpTable, TimelineOpRow>({"slice"});
  ExpectAllColumns<TimelineCollectiveTable, TimelineCollectiveRow>({"slice"});
  ExpectAllColumns<TimelineMemoryTable, TimelineMemoryRow>({"track", "time_ns"});
}

TEST(Lanes, OnlyPartialOverlapsNeedMoreThanOne) {
  timeline::Lanes<> lanes;
  std::string closed;
  auto close = [&](size_t lane, int64_t time) {
    closed += std::to_string(lane) + "@" + std::to_string(time) + " ";
  };
  EXPECT_EQ(lanes.Place(0, 10, close), 0U);
  EXPECT_EQ(lanes.Place(2, 4, close), 0U) << "nested";
  EXPECT_EQ(lanes.Place(5, 15, close), 1U) << "overlaps";
  EXPECT_EQ(lanes.Place(6, 14, close), 1U) << "nested there";
  EXPECT_EQ(lanes.Place(10, 12, close), 0U) << "begins where one ends";
  EXPECT_EQ(lanes.Place(11, 20, close), 2U) << "overlaps both";
  EXPECT_EQ(lanes.Place(15, 16, close), 0U);
  lanes.CloseAll(close);
  EXPECT_EQ(closed, "0@4 0@10 0@12 1@14 1@15 0@16 2@20 ");
}

TEST(ChromeOutput, IsReadBackToTheSameTablesButForFacts) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kTimelineJson));
  const std::string json = WriteWith("chrome", model);
  EXPECT_NE(json.find(R"("ts": 10.001, "dur": 20.500)"), std::string_view::npos);
  Model again;
  ImportInto(again, "chrome_trace", json);
  const auto& before = model.tables.Get<TimelineSliceTable>();
  const auto& after = again.tables.Get<TimelineSliceTable>();
  ASSERT_EQ(after.size(), before.size());
  for (const Diagnostic& each : again.diagnostics.all()) ADD_FAILURE() << each.kind->name;
  auto sum = [](const std::vector<int64_t>& column) {
    int64_t all = 0;
    for (int64_t each : column) all += each == kNone64 ? 1 : each % 1'000'000'007;
    return all;
  };
  EXPECT_EQ(sum(after.start_ns), sum(before.start_ns));
  EXPECT_EQ(sum(after.duration_ns), sum(before.duration_ns));
  EXPECT_EQ(sum(after.correlation), sum(before.correlation));
  EXPECT_EQ(sum(after.external_id), sum(before.external_id));
  EXPECT_EQ(again.tables.Get<TimelineOpTable>().size(), 1U);
  EXPECT_EQ(again.tables.Get<TimelineDeviceWorkTable>().blocks[0], 6);
  EXPECT_EQ(again.tables.Get<TimelineCollectiveTable>().size(), 1U);
  EXPECT_EQ(again.tables.Get<TimelineMemoryTable>().bytes[0], -512);
  EXPECT_EQ(again.tables.Get<TimelineCounterTable>().size(), 4U);
  EXPECT_EQ(again.tables.Get<TimelineFlowTable>().size(), 2U);
  EXPECT_EQ(again.tables.Get<TimelineTable>().repeated_flows[0], 3) << "a launch and its two works";
}

TEST(ChromeOutput, TimesAreExact) {
  auto micros = [](int64_t ns) {
    std::string text;
    outputs::chrome::AppendMicros(text, ns);
    return text;
  };
  EXPECT_EQ(micros(0), "0.000");
  EXPECT_EQ(micros(1'700'000'000'000'000'001), "1700000000000000.001");
  EXPECT_EQ(micros(-1), "-0.001");
}

TEST(ChromeOutput, OnlyPlainListsAreWrittenAsTheyAre) {
  using outputs::chrome::IsPlainList;
  for (std::string_view good : {"[]", "[1, -2]", "[[4,4], [], [\"a b\"]]", "[null, true]"})
    EXPECT_TRUE(IsPlainList(good)) << good;
  for (std::string_view bad : {"", "1", "[", "[1", "[1,]", "[,1]", "[1]]", "[\"a\\\"]", "[01]",
                               "[1] x", "[\"a]", "[[1]", "[x]", "]", "[1 2]"})
    EXPECT_FALSE(IsPlainList(bad)) << bad;
}

TEST(CollapsedOutput, IsTheTimeThatCallsTookThemselves) {
  Model model;
  ImportInto(model, "chrome_trace", std::string(kTimelineJson));
  const std::string host = WriteWith("collapsed", model, "host");
  EXPECT_EQ(host,
            "main, thread;train.py(3): step 19500\n"
            "main, thread;train.py(3): step;aten::mm 17500\n"
            "main, thread;train.py(3): step;aten::mm;cudaLaunchKernel 3000\n"
            "main, thread;overlaps 30000\n"
            "thread top;other program 1000\n");
  EXPECT_EQ(WriteWith("collapsed", model, "python"), "main, thread;train.py(3): step 40000\n");
  const std::string all = WriteWith("collapsed", model);
  EXPECT_NE(all.find("stream 7;gemm 20123\n"), std::string_view::npos);
}

}  // namespace timeline_outputs_test
}  // namespace debrief

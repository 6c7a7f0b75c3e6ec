#include <fmt/format.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "outputs/report/html/timeline/maker.h"
#include "outputs/report/html/timeline/timeline.h"
#include "tables/compilation.h"
#include "tables/compile_phase.h"
#include "tables/text_event.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_step.h"
#include "unit/outputs/comm_fixture.h"
#include "unit/outputs/timeline_helpers.h"

namespace debrief::outputs::html {

namespace timeline_data_test {

using simdjson::dom::element;

simdjson::dom::array ListOf(simdjson::simdjson_result<element> list) {
  simdjson::dom::array elements;
  EXPECT_EQ(list.get_array().get(elements), simdjson::SUCCESS);
  return elements;
}

// The bytes of an island, read back by what timeline_island.h says and by nothing of the writer.
struct ReadSlice {
  size_t row;
  int64_t start, duration;
  std::string name, note, kind;
  int64_t number;
};

struct ReadIsland {
  std::map<std::string, std::vector<ReadSlice>> lanes;
  std::map<std::string, std::map<std::string, std::vector<std::pair<int64_t, double>>>> counters;
  std::vector<std::tuple<int64_t, int64_t, std::string>> flows;  // to, from, kind
};

class IslandReader {
 public:
  explicit IslandReader(std::string_view bytes) : bytes_(bytes) {
    uint32_t length;
    std::memcpy(&length, bytes.data(), 4);
    EXPECT_EQ(parser_.parse(std::string(bytes.substr(4, length))).get(header_), simdjson::SUCCESS);
    size_t at = 4 + length;
    for (element size : ListOf(header_["bytes"])) {
      at_.push_back(at);
      at += size.get_uint64().value();
    }
    EXPECT_EQ(at_.size(), 10u);
    EXPECT_EQ(at, bytes.size()) << "blocks fill the island";
  }

  ReadIsland Read() {
    ReadIsland island;
    for (element lane : ListOf(header_["lanes"]))
      island.lanes[std::string(lane.at(0).get_string().value())] = ReadLane(lane.at(1));
    for (element lane : ListOf(header_["counters"]))
      for (element one : ListOf(lane.at(1)))
        island.counters[std::string(lane.at(0).get_string().value())]
                       [std::string(one.at(0).get_string().value())] = ReadSeries(one);
    int64_t to = 0, from = 0;
    for (int64_t i = 0; i < header_["flows"].get_int64().value(); ++i) {
      to += static_cast<int64_t>(Varint(7));
      from += Signed(8);
      island.flows.emplace_back(to, from, Text("flowKinds", Byte(9)));
    }
    return island;
  }

 private:
  uint8_t Byte(size_t block) { return static_cast<uint8_t>(bytes_[at_[block]++]); }

  uint64_t Varint(size_t block) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte(block);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
  }

  int64_t Signed(size_t block) {
    const uint64_t folded = Varint(block);
    return static_cast<int64_t>(folded >> 1) ^ -static_cast<int64_t>(folded & 1);
  }

  std::string Text(std::string_view list, uint64_t number) {
    return std::string(header_[list].at(number).get_string().value());
  }

  std::vector<ReadSlice> ReadLane(element row_sizes) {
    std::vector<ReadSlice> slices;
    size_t row = 0;
    int64_t number = 0;
    for (element size : ListOf(element(row_sizes))) {
      int64_t end = 0;
      for (uint64_t i = 0; i < size.get_uint64().value(); ++i) {
        const int64_t start = end + static_cast<int64_t>(Varint(0));
        const auto duration = static_cast<int64_t>(Varint(1));
        const std::string name = Text("texts", Varint(2));
        const std::string note = Text("texts", Varint(3));
        const std::string kind = Text("kinds", Byte(4));
        number += Signed(5);
        slices.push_back({row, start, duration, name, note, kind, number});
        end = start + duration;
      }
      ++row;
    }
    return slices;
  }

  std::vector<std::pair<int64_t, double>> ReadSeries(element series) {
    std::vector<std::pair<int64_t, double>> points(series.at(2).get_uint64().value());
    int64_t sum = 0;
    for (auto& [time, value] : points) time = sum += Signed(6);
    sum = 0;
    for (auto& [time, value] : points) {
      if (series.at(3).get_int64().value() == 1) {
        value = static_cast<double>(sum += Signed(6));
      } else {
        std::memcpy(&value, bytes_.data() + at_[6], 8);
        at_[6] += 8;
      }
    }
    return points;
  }

  std::string_view bytes_;
  simdjson::dom::parser parser_;
  element header_;
  std::vector<size_t> at_;  // of each block
};

class TimelineData : public ::testing::Test {
 protected:
  // All islands, by name.
  void Make(int threads = 1) {
    islands_.clear();
    std::mutex mutex;
    ThreadPool pool(threads);
    const Status status =
        MakeTimeline(model_, limits_, pool, [&](std::string_view name, std::string_view bytes) {
          const std::lock_guard lock(mutex);
          islands_[std::string(name)] = bytes;
          return Status();
        });
    EXPECT_TRUE(status.ok());
  }

  element Outline() {
    element document;
    EXPECT_EQ(parser_.parse(islands_.at("timeline")).get(document), simdjson::SUCCESS);
    return document;
  }

  ReadIsland Island(const std::string& name) { return IslandReader(islands_.at(name)).Read(); }

  // "id title: lane lane" of each process.
  std::vector<std::string> Processes() {
    std::vector<std::string> all;
    for (element process : ListOf(Outline()["processes"])) {
      std::string text(process["id"].get_string().value());
      text += " " + std::string(process["title"].get_string().value()) + ":";
      for (element lane : ListOf(process["lanes"]))
        text += " " + std::string(lane["name"].get_string().value()) + ",";
      all.push_back(text);
    }
    return all;
  }

  void AddPhase(int32_t depth, int64_t start, int64_t end, std::string_view name,
                std::string_view id = "0/0") {
    auto row = Part::RowOf<CompilePhaseRow>({.input = 4, .job = 0, .attempt = 0, .rank = 1});
    row.input = 4;
    row.life = 0;
    row.depth = depth;
    row.start_ns = start;
    row.end_ns = end;
    row.name = model_.pools.Intern(name);
    row.compile_id = model_.pools.Intern(id);
    row.area = model_.pools.Intern("inductor");
    model_.tables.Edit<CompilePhaseTable>().Add(row);
  }

  void AddLine(int32_t rank, int64_t time, std::string_view text) {
    TextEventRow row;
    row.job = row.attempt = 0;
    row.rank = rank;
    row.input = 10 + rank;
    row.time_ns = time;
    row.kind = model_.pools.Intern("watchdog_timeout");
    row.text = model_.pools.Intern(text);
    model_.tables.Edit<TextEventTable>().Add(row);
  }

  Model model_;
  TimelineLimits limits_;
  std::map<std::string, std::string> islands_;
  simdjson::dom::parser parser_;
};

TEST_F(TimelineData, NothingOfAnEmptyModel) {
  Make();
  EXPECT_TRUE(islands_.empty());
}

TEST_F(TimelineData, ProfileBecomesProcessesAndLanes) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  Make();
  EXPECT_EQ(Processes(), (std::vector<std::string>{
                             "0.0 rank 1 \u00b7 python: memory of GPU 0, main; thread, chain,",
                             "0.2 rank 1 \u00b7 process Spans: top,",
                             "0.1 rank 1 \u00b7 GPU 0: stream 7, stream 8, load,"}));
}

TEST_F(TimelineData, SlicesAreThoseOfTheTable) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  Make();
  const ReadIsland island = Island("timeline/0");
  const auto& table = model_.tables.Get<TimelineSliceTable>();
  std::vector<size_t> seen(table.size(), 0);
  const int64_t base = Outline()["base"].get_int64().value();
  EXPECT_EQ(base, 1'700'000'000'000'001'000) << "the earliest slice";
  for (const auto& [key, slices] : island.lanes) {
    for (const ReadSlice& slice : slices) {
      const auto row = static_cast<size_t>(slice.number);
      ASSERT_LT(row, table.size());
      ++seen[row];
      EXPECT_EQ(slice.start, table.start_ns[row] - base);
      EXPECT_EQ(slice.duration, table.duration_ns[row]);
      EXPECT_EQ(slice.name, model_.pools.Text(table.name[row]));
    }
  }
  EXPECT_EQ(seen, std::vector<size_t>(table.size(), 1)) << "each once";
  EXPECT_EQ(Outline()["slices"].get_uint64().value(), table.size());
  EXPECT_EQ(Outline()["leftOut"].get_uint64().value(), 0u);
}

TEST_F(TimelineData, NotesAndKinds) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  Make();
  std::map<std::string, std::string> by_name;  // "kind: note"
  for (const auto& [key, slices] : Island("timeline/0").lanes)
    for (const ReadSlice& slice : slices)
      if (!by_name.contains(slice.name)) by_name[slice.name] = slice.kind + ": " + slice.note;
  EXPECT_EQ(by_name["aten::mm"], "op: [[4, 4], [4, 4]]");
  EXPECT_EQ(by_name["cudaLaunchKernel"], "runtime: ");
  EXPECT_EQ(by_name["gemm"], "kernel: 6 blocks of 32 threads");
  EXPECT_EQ(by_name["Memcpy HtoD"], "memcpy: 4096 bytes");
  EXPECT_EQ(by_name["nccl"], "comm: allreduce, group 0, seq 4, 16 Float (64 bytes)");
  EXPECT_EQ(by_name["mark"], "instant: ");
}

TEST_F(TimelineData, RowsHoldWhatOverlaps) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  Make();
  ReadIsland island = Island("timeline/0");
  std::vector<std::pair<size_t, std::string>> rows;
  for (const auto& [key, slices] : island.lanes) {
    int64_t end = 0;
    size_t row = 0;
    for (const ReadSlice& slice : slices) {
      if (slice.row != row) end = 0;
      row = slice.row;
      EXPECT_LE(end, slice.start) << key << " " << slice.name;
      end = slice.start + slice.duration;
      if (key.starts_with("0.1/")) rows.emplace_back(slice.row, slice.name);
    }
  }
  EXPECT_EQ(rows, (std::vector<std::pair<size_t, std::string>>{
                      {0, "gemm"}, {1, "gemm"}, {2, "Memcpy HtoD"}, {0, "nccl"}}));
}

TEST_F(TimelineData, CountersAndMemory) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  Make();
  ReadIsland island = Island("timeline/0");
  using Points = std::vector<std::pair<int64_t, double>>;
  EXPECT_EQ(island.counters["0.0/memory0"]["allocated"], (Points{{12000, 1024}}));
  EXPECT_EQ(island.counters["0.0/memory0"]["reserved"], (Points{{12000, 2048}}));
  ASSERT_EQ(island.counters.size(), 2u);
  auto& load = island.counters.rbegin()->second;
  EXPECT_EQ(load["sm"], (Points{{4000, 0.1}, {5000, 0.25}}));
  EXPECT_EQ(load["memory"], (Points{{4000, 3}, {5000, 4}}));
}

TEST_F(TimelineData, ArrowsOfLaunchesAndOfTheFile) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  const auto& slices = model_.tables.Get<TimelineSliceTable>();
  const auto number = [&](std::string_view name) {
    size_t row = 0;
    while (model_.pools.Text(slices.name[row]) != name) ++row;
    return static_cast<int32_t>(row);
  };
  auto row = Part::RowOf<TimelineLaunchRow>({.input = 0, .job = 0, .attempt = 0, .rank = 1});
  row.input = 0;
  row.slice = number("gemm");
  row.launch = number("cudaLaunchKernel");
  model_.tables.Edit<TimelineLaunchTable>().Add(row);
  row.slice = number("nccl");
  row.launch = kNone32;
  model_.tables.Edit<TimelineLaunchTable>().Add(row);
  Make();
  EXPECT_EQ(Island("timeline/0").flows,
            (std::vector<std::tuple<int64_t, int64_t, std::string>>{
                {number("overlaps"), number("aten::mm"), "fwdbwd"},
                {number("gemm"), number("cudaLaunchKernel"), "launch"}}));
}

TEST_F(TimelineData, StepsAndClock) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  auto step = Part::RowOf<TimelineStepRow>({.input = 0, .job = 0, .attempt = 0, .rank = 1});
  step.input = 0;
  step.step = 0;
  step.label = 412;
  step.start_ns = 1'700'000'000'000'002'000;
  step.end_ns = 1'700'000'000'000'009'000;
  model_.tables.Edit<TimelineStepTable>().Add(step);
  auto clock = Part::RowOf<TimelineClockRow>({.input = 0, .job = 0, .attempt = 0, .rank = 1});
  clock.input = 0;
  clock.offset_ns = -700;
  clock.drift_ppb = 50;
  model_.tables.Edit<TimelineClockTable>().Add(clock);
  AddLine(1, 1'700'000'000'000'020'000, "late");
  Make();
  const auto steps = Island("timeline/0").lanes["0.0/steps"];
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].name, "step 412");
  EXPECT_EQ(steps[0].start, 1000);
  EXPECT_EQ(steps[0].duration, 7000);
  EXPECT_EQ(steps[0].kind, "step");
  std::map<std::string, std::pair<int64_t, double>> shifts;
  for (element process : ListOf(Outline()["processes"]))
    shifts[std::string(process["source"].get_string().value())] = {
        process["shift"]["offset"].get_int64().value(),
        process["shift"]["drift"].get_double().value()};
  EXPECT_EQ(shifts["profile"], std::pair(int64_t{-700}, 50 * 1e-9));
  EXPECT_EQ(shifts["text"], std::pair(int64_t{-700}, 0.0)) << "the rank's clock without its drift";
}

TEST_F(TimelineData, ATimelineWithoutABaseBeginsAtZero) {
  std::string json(testing::kTimelineJson);
  json.replace(json.find("\"baseTimeNanoseconds\": 1700000000000000000,"), 43, "");
  testing::ImportInto(model_, "chrome_trace", json);
  AddLine(1, 1'760'000'000'000'000'000, "a line");
  Make();
  EXPECT_EQ(Outline()["base"].get_int64().value(), 1'760'000'000'000'000'000);
  EXPECT_EQ(Outline()["first"].get_int64().value(), 0);
  EXPECT_LT(Outline()["last"].get_int64().value(), 100'000);
  EXPECT_EQ(Processes()[0].substr(0, 33), "0.0 rank 1 \u00b7 python, own clock: ");
}

TEST_F(TimelineData, PhasesNestAndSaySource) {
  constexpr int64_t kStart = CommJob::kStart;
  AddPhase(0, kStart, kStart + 9000, "dynamo");
  AddPhase(1, kStart + 2000, kStart + 8000, "inductor_compile", "0/0_1");
  AddPhase(0, kStart + 3000, kStart + 4000, "on another thread", "7/0");
  CompilationRow row;
  row.input = 4;
  row.life = 0;
  row.compile_id = model_.pools.Intern("0/0");
  row.function = model_.pools.Intern("step");
  row.file = model_.pools.Intern("train.py");
  row.line = 52;
  model_.tables.Edit<CompilationTable>().Add(row);
  Make();
  EXPECT_EQ(Processes(), std::vector<std::string>{"4 rank 1 \u00b7 compiler: phases,"});
  const auto slices = Island("timeline/0").lanes["4/phases"];
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[1].name, "inductor_compile");
  EXPECT_EQ(slices[1].note, "0/0_1, step at train.py:52");
  EXPECT_EQ(slices[1].kind, "inductor");
  EXPECT_EQ(slices[1].row, 1u);
  EXPECT_EQ(slices[2].row, 2u) << "it runs beside both";
  EXPECT_EQ(slices[2].note, "7/0");
}

TEST_F(TimelineData, CollectivesFromIssuedToCompleted) {
  CommJob job(model_);
  job.Op(3, "7", {1, 3}, 1, "completed");
  job.Op(3, "7", {1, 3}, 4, "completed");
  job.Op(3, "7", {1, 3}, 2, "started");
  Make();
  EXPECT_EQ(Processes(),
            std::vector<std::string>{"3 rank 3 \u00b7 collectives: mesh_dp (7), ranks 1 and 3,"});
  const auto slices = Island("timeline/0").lanes["3/group0"];
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[0].start, 0);
  EXPECT_EQ(slices[0].duration, 500'500);
  EXPECT_EQ(slices[0].kind, "comm");
  EXPECT_EQ(slices[0].note, "seq 1, [[4, 4]] Float, completed");
  EXPECT_EQ(slices[1].number, 2);
  EXPECT_EQ(slices[1].kind, "comm_open");
  EXPECT_EQ(slices[1].start + slices[1].duration, 3'500'500) << "to the newest time of the dump";
  EXPECT_EQ(slices[2].row, 1u);
}

TEST_F(TimelineData, ABatchEndsWithItsMarker) {
  CommJob job(model_);
  job.Op(3, "7", {1, 3}, 1, "scheduled");
  job.Op(3, "7", {1, 3}, 2, "scheduled");
  job.Op(3, "7", {1, 3}, 2, "completed");
  job.Op(3, "7", {1, 3}, 9, "completed");
  job.ops().op[2] = model_.pools.Intern("coalesced");
  Make();
  std::map<int64_t, ReadSlice> by_number;
  ReadIsland island = Island("timeline/0");
  for (const ReadSlice& slice : island.lanes["3/group0"]) by_number[slice.number] = slice;
  EXPECT_EQ(by_number[1].duration, 500'500);
  EXPECT_EQ(by_number[1].kind, "comm");
  EXPECT_EQ(by_number[0].kind, "comm_open") << "of another batch";
}

TEST_F(TimelineData, LogsShareAnIslandAndAreSortedByRank) {
  for (int32_t rank : {3, 1, 2}) AddLine(rank, 1'760'000'000'000'000'000 + rank, "a line");
  AddLine(2, kNone64, "without a time");
  Make();
  EXPECT_EQ(Processes(), (std::vector<std::string>{"11 rank 1 \u00b7 output: output,",
                                                   "12 rank 2 \u00b7 output: output,",
                                                   "13 rank 3 \u00b7 output: output,"}));
  ReadIsland island = Island("timeline/0");
  EXPECT_EQ(island.lanes.size(), 3u);
  ASSERT_EQ(island.lanes["12/output"].size(), 1u);
  EXPECT_EQ(island.lanes["12/output"][0].start, 1);
  EXPECT_EQ(island.lanes["12/output"][0].duration, 0);
  EXPECT_EQ(island.lanes["12/output"][0].name, "watchdog timeout");
  EXPECT_EQ(island.lanes["12/output"][0].note, "a line");
}

TEST_F(TimelineData, LongAndHostileTextsAreCut) {
  AddLine(1, 1, std::string(299, 'x') + "\xc3\xa4" + std::string(1'000'000, 'y'));
  AddLine(1, 2, "</script>\xff\"\\\n");
  Make();
  const auto lines = Island("timeline/0").lanes["11/output"];
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].note, std::string(299, 'x') + "...") << "cut before the character of 2 bytes";
  EXPECT_EQ(lines[1].note, "</script>\xEF\xBF\xBD\"\\\n");
}

TEST_F(TimelineData, TheLongestAreKept) {
  for (int64_t i = 0; i < 100; ++i) AddPhase(0, i * 1000, i * 1000 + (i * 37) % 101, "phase");
  limits_.slices = 10;
  Make();
  const auto slices = Island("timeline/0").lanes["4/phases"];
  EXPECT_EQ(slices.size(), 10u);
  for (const ReadSlice& slice : slices) EXPECT_GE(slice.duration, 90);
  EXPECT_EQ(Outline()["slices"].get_uint64().value(), 100u);
  EXPECT_EQ(Outline()["leftOut"].get_uint64().value(), 90u);
}

TEST_F(TimelineData, ArrowsToWhatIsLeftOutAreLeftOut) {
  testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson));
  limits_.slices = 1;
  Make();
  EXPECT_TRUE(Island("timeline/0").flows.empty());
  EXPECT_GT(Outline()["leftOut"].get_uint64().value(), 0u);
}

TEST_F(TimelineData, TextsHaveABound) {
  for (int64_t i = 0; i < 2000; ++i) AddLine(1, i, std::to_string(i) + " " + std::string(290, 'x'));
  limits_.text_bytes = 1000;
  Make();
  EXPECT_LT(islands_["timeline/0"].size(), 100'000u);
  EXPECT_EQ(Island("timeline/0").lanes["11/output"].back().note, "");
}

TEST_F(TimelineData, HostileTimes) {
  AddPhase(0, INT64_MAX - 1, INT64_MAX, "far");
  AddPhase(0, 5, 4, "ends before it begins");
  AddPhase(1'000'000'000, 6, 8, "deep");
  AddPhase(0, -7, 8, "before 1970");
  Make();
  const auto slices = Island("timeline/0").lanes["4/phases"];
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].duration, 0);
  EXPECT_EQ(slices[0].start, 0) << "no date: a clock of its own";
  EXPECT_EQ(Outline()["base"].get_int64().value(), 0);
  EXPECT_EQ(Processes()[0], "4 rank 1 \u00b7 compiler, own clock: phases,");
}

TEST_F(TimelineData, SameBytesForAnyNumberOfThreads) {
  for (int32_t input = 0; input < 6; ++input)
    testing::ImportInto(model_, "chrome_trace", std::string(testing::kTimelineJson), input, input);
  Make(1);
  const auto one = islands_;
  EXPECT_EQ(one.size(), 7u);
  Make(4);
  EXPECT_EQ(islands_, one);
}

TEST(TimelineNotes, AreMadeOnceAndNumberedByIsland) {
  const Pools pools;
  TimelineTexts texts(pools);
  OpNotes notes;
  int made = 0;
  const auto begin = [&] {
    texts.Begin(1000);
    notes.Begin();
  };
  const auto number = [&](uint32_t seq) {
    return notes.Number({seq}, texts, [&] {
      ++made;
      return fmt::format("seq {}", seq);
    });
  };
  begin();
  EXPECT_EQ(number(0), 1u) << "a key of zeros is one, too";
  EXPECT_EQ(number(7), 2u);
  EXPECT_EQ(number(0), 1u);
  EXPECT_EQ(number(9), 3u) << "another one than after it before";
  EXPECT_EQ(number(7), 2u);
  begin();
  EXPECT_EQ(number(9), 1u);
  EXPECT_EQ(number(7), 2u);
  EXPECT_EQ(texts.json(), R"("","seq 9","seq 7")");
  EXPECT_EQ(made, 3);
}

TEST(TimelineRows, FullRowsLeaveOut) {
  std::vector<Slice> slices(kMostRows + 500);
  for (Slice& slice : slices) slice.duration = 10;
  slices.emplace_back().start = 10;
  const PackedRows rows = PackRows(slices);
  EXPECT_EQ(rows.row_sizes.size(), kMostRows);
  EXPECT_EQ(rows.order.size(), kMostRows + 1);
  EXPECT_EQ(rows.row_sizes[0], 2u) << "the one that starts when the others end";
  EXPECT_EQ(rows.order[1], kMostRows + 500);
}

TEST(TimelineRows, LongestOfEqualOnesAreTheFirst) {
  const std::vector<int64_t> durations = {5, 1, 5, 9, 5};
  Longest longest(durations, 3);
  std::vector<bool> taken;
  for (int64_t duration : durations) taken.push_back(longest.Take(duration));
  EXPECT_EQ(taken, (std::vector<bool>{true, false, true, true, false}));
  Longest all(durations, 5);
  for (int64_t duration : durations) EXPECT_TRUE(all.Take(duration));
}

}  // namespace timeline_data_test

}  // namespace debrief::outputs::html

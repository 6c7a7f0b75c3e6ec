// The reader of recordings on files made by the recorder and on files made by hand.
#include "tables/recording.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "base/paths.h"
#include "debrief/recorder.h"
#include "inputs/jobs/assign_jobs.h"
#include "recorder/format.h"
#include "tables/recorded_op.h"
#include "tables/recorded_op_note.h"
#include "tables/recording_loss.h"
#include "tables/recording_note.h"
#include "tables/timeline.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_process.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace recording_test {

using recorder::FirstWord;
using recorder::RecordType;

// A recording put together word by word; chunk 0 is the dictionary.
class ByHand {
 public:
  ByHand() {
    header_.magic = recorder::kFileMagic;
    header_.version = recorder::kVersion;
    header_.byte_order = recorder::kByteOrder;
    header_.header_bytes = recorder::kFileHeaderBytes;
    header_.chunk_bytes = recorder::kChunkBytes;
    header_.pid = 100;
    header_.rank = 2;
    header_.world_size = 4;
    header_.clock_kind = recorder::ClockKind::kMonotonic;
    header_.ticks_per_second = 1'000'000'000;
    header_.opened = {0, 0, 1'000'000};
    header_.closed = 1;
    std::strcpy(header_.host, "node-a");
    AddChunk(recorder::ChunkKind::kDictionary, 0);
  }

  void AddChunk(recorder::ChunkKind kind, uint32_t tid) {
    recorder::ChunkHeader chunk = {};
    chunk.magic = recorder::kChunkMagic;
    chunk.kind = kind;
    chunk.tid = tid;
    chunk.sequence = chunks_.size() + 1;
    chunk.clock = header_.opened;
    chunks_.push_back({chunk, {}});
  }
  void Thread(uint32_t tid) { AddChunk(recorder::ChunkKind::kThread, tid); }

  uint32_t Name(std::string_view text) {
    const auto words = static_cast<unsigned>((text.size() + 7) / 8);
    auto& out = chunks_.front().second;
    out.push_back(FirstWord(RecordType::kText, 0, 2 + words, ++names_, 0));
    out.push_back(text.size());
    const size_t first = out.size();
    out.resize(first + words);
    std::memcpy(out.data() + first, text.data(), text.size());
    return names_;
  }

  void Add(RecordType type, uint32_t name, std::vector<uint64_t> values, unsigned flags = 0,
           uint32_t track = 0) {
    auto& out = chunks_.back().second;
    out.push_back(FirstWord(type, flags, static_cast<unsigned>(values.size()) + 1, name, track));
    out.insert(out.end(), values.begin(), values.end());
  }

  std::string Bytes() const {
    std::string bytes(recorder::kFileHeaderBytes, '\0');
    std::memcpy(bytes.data(), &header_, sizeof header_);
    for (auto [chunk, words] : chunks_) {
      const bool is_first = chunk.sequence == 2;
      chunk.head = recorder::HeadWord(is_first ? overwritten_ : 0, words.size() * 8);
      std::string body(recorder::kChunkBytes, '\0');
      std::memcpy(body.data(), &chunk, sizeof chunk);
      std::memcpy(body.data() + sizeof chunk, words.data(), words.size() * 8);
      bytes += body;
    }
    return bytes;
  }

  recorder::FileHeader header_ = {};
  uint64_t overwritten_ = 0;  // in the first chunk of a thread
  std::vector<std::pair<recorder::ChunkHeader, std::vector<uint64_t>>> chunks_;

 private:
  uint32_t names_ = 0;
};

Part Import(std::string_view bytes) {
  return testing::ImportBytes("recording", bytes, uint64_t{1} << 20);
}

// "name start duration depth;" of all slices.
std::string Slices(const Part& part) {
  const auto& slices = part.tables.Get<TimelineSliceTable>();
  std::string text;
  for (size_t i = 0; i < slices.size(); ++i) {
    text += fmt::format("{} {}+{} {} {};", part.pools.Text(slices.name[i]), slices.start_ns[i],
                        slices.duration_ns[i], part.pools.Text(slices.kind[i]), slices.depth[i]);
  }
  return text;
}

// Of a packed column.
template <typename Column>
auto Values(const Column& column) {
  return std::vector<typename Column::value_type>(column.begin(), column.end());
}

TEST(Recording, SpansPairAndNest) {
  ByHand file;
  const uint32_t step = file.Name("step"), mm = file.Name("mm"), leaf = file.Name("leaf");
  file.Thread(7);
  file.Add(RecordType::kBegin, step, {100});
  file.Add(RecordType::kBegin, mm, {110});
  file.Add(RecordType::kSpan, leaf, {120, 5});
  file.Add(RecordType::kOpEnd, 0, {150, 9 | 15 << 12});  // float32, no output
  file.Add(RecordType::kEnd, 0, {200});
  file.Add(RecordType::kInstant, leaf, {205});
  const Part part = Import(file.Bytes());
  EXPECT_EQ(testing::TroubleOf(part), "");
  EXPECT_EQ(Slices(part),
            "step 1000100+100 annotation 0;mm 1000110+40 op 1;leaf 1000120+5 annotation 2;"
            "leaf 1000205+0 instant 0;");
  const auto& ops = part.tables.Get<RecordedOpTable>();
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(Values(ops.self_ns), (std::vector<int64_t>{60, 35, 5}));
  EXPECT_EQ(Values(ops.slice), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(Values(ops.step), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(part.pools.Text(ops.dtype[1]), "float32");
  EXPECT_EQ(ops.memory_bytes[1], kNone64) << "no output was told";
  EXPECT_EQ(ops.thread[0], 7);
  EXPECT_EQ(part.tables.Get<TimelineOpTable>().size(), 1u);
}

TEST(Recording, WhatIsOpenLastsToTheEndAndIsMarked) {
  ByHand file;
  const uint32_t outer = file.Name("outer"), inner = file.Name("inner");
  file.header_.closed = 0;
  file.Thread(100);
  file.Add(RecordType::kBegin, outer, {100});
  file.Add(RecordType::kBegin, inner, {150});
  file.Thread(101);
  file.Add(RecordType::kInstant, inner, {400});
  const Part part = Import(file.Bytes());
  EXPECT_EQ(testing::TroubleOf(part), "recording.never_closed 1;");
  const auto& ops = part.tables.Get<RecordedOpTable>();
  EXPECT_EQ(Values(ops.open), (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(Values(ops.duration_ns), (std::vector<int64_t>{300, 250}));
  EXPECT_EQ(Values(ops.self_ns), (std::vector<int64_t>{50, 250}));
  EXPECT_NE(Slices(part).find("recording ends inside inner 1000400+0 instant"), std::string::npos);
  EXPECT_EQ(part.tables.Get<RecordingTable>().closed[0], 0);
}

TEST(Recording, AnEndWithoutABeginIsLeftOut) {
  ByHand file;
  const uint32_t a = file.Name("a");
  file.Thread(7);
  file.overwritten_ = 12;
  file.Add(RecordType::kLoss, 0, {12, 10, 90, 7});
  file.Add(RecordType::kEnd, 0, {100});
  file.Add(RecordType::kSpan, a, {110, 1});
  const Part part = Import(file.Bytes());
  EXPECT_EQ(testing::TroubleOf(part), "recording.overwritten 1;recording.never_begun 1;");
  EXPECT_EQ(part.tables.Get<RecordedOpTable>().size(), 1u);
  const auto& losses = part.tables.Get<RecordingLossTable>();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses.records[0], 12);
  EXPECT_EQ(losses.from_ns[0], 1'000'010);
  EXPECT_EQ(losses.to_ns[0], 1'000'090);
  EXPECT_EQ(part.diagnostics.all()[0].first[0].detail,
            "12 records, from 0.000 s to 0.000 s after the recording began");
}

TEST(Recording, CountersAndArrows) {
  ByHand file;
  const uint32_t loss = file.Name("loss"), arrow = file.Name("fwdbwd"), gpu = file.Name("cuda:0");
  file.Thread(7);
  file.Add(RecordType::kCounter, loss, {100, 0x3ff8000000000000});
  file.Add(RecordType::kCounter, loss, {110, 0x3ff0000000000000}, 0, gpu);
  file.Add(RecordType::kSpan, arrow, {90, 50});
  file.Add(RecordType::kFlow, arrow, {120, 77});
  file.Add(RecordType::kFlow, arrow, {130, 77}, 2);
  const Part part = Import(file.Bytes());
  const auto& counters = part.tables.Get<TimelineCounterTable>();
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters.number[0], 1.5);
  EXPECT_EQ(part.pools.Text(counters.series[0]), "value");
  EXPECT_EQ(part.pools.Text(counters.series[1]), "cuda:0");
  const auto& flows = part.tables.Get<TimelineFlowTable>();
  ASSERT_EQ(flows.size(), 2u);
  EXPECT_EQ(part.pools.Text(flows.phase[0]), "start");
  EXPECT_EQ(part.pools.Text(flows.phase[1]), "end");
  EXPECT_EQ(flows.slice[0], 0) << "bound to the span around it";
}

TEST(Recording, NotesStepsAndMemory) {
  ByHand file;
  const uint32_t a = file.Name("a"), b = file.Name("b"), key = file.Name("lr"),
                 value = file.Name("warm"), gpu = file.Name("cuda:1");
  file.Thread(7);
  file.Add(RecordType::kStep, 0, {50, 4});
  file.Add(RecordType::kBegin, a, {100});
  file.Add(RecordType::kNote, key, {110, static_cast<uint64_t>(-3)});
  file.Add(RecordType::kAlloc, 0, {120, 0xabc, 500}, 0, gpu);
  file.Add(RecordType::kAlloc, 0, {130, 0xdef, 300}, 0, gpu);
  file.Add(RecordType::kNote, key, {150, value}, recorder::kNoteText);
  file.Add(RecordType::kSpan, b, {140, 20});  // written after the note about it
  file.Add(RecordType::kFree, 0, {170, 0xabc, 500}, 0, gpu);
  file.Add(RecordType::kEnd, 0, {200});
  file.Add(RecordType::kStep, 0, {250, 5});
  file.Add(RecordType::kSpan, b, {260, 40});
  file.Add(RecordType::kNote, key, {400, 0x3fe0000000000000}, recorder::kNoteF64);
  const Part part = Import(file.Bytes());
  EXPECT_EQ(testing::TroubleOf(part), "");
  const auto& notes = part.tables.Get<RecordedOpNoteTable>();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(part.pools.Text(notes.value[0]), "-3");
  EXPECT_EQ(notes.slice[0], 0);
  EXPECT_EQ(part.pools.Text(notes.value[1]), "warm");
  EXPECT_EQ(notes.slice[1], 1) << "the innermost, although it was written later";
  EXPECT_EQ(part.pools.Text(notes.value[2]), "0.5");
  EXPECT_EQ(notes.slice[2], kNone32);
  EXPECT_EQ(Values(part.tables.Get<RecordedOpTable>().program_step),
            (std::vector<int64_t>{4, 4, 5}));
  EXPECT_NE(Slices(part).find("ProfilerStep#4 1000050+200 annotation"), std::string::npos);
  EXPECT_NE(Slices(part).find("ProfilerStep#5 1000250+150 annotation"), std::string::npos);
  const auto& memory = part.tables.Get<TimelineMemoryTable>();
  EXPECT_EQ(memory.bytes, (std::vector<int64_t>{500, 300, -500}));
  EXPECT_EQ(memory.allocated_bytes, (std::vector<int64_t>{500, 800, 300}));
  EXPECT_EQ(memory.device_type[0], 1);
  EXPECT_EQ(memory.device[0], 1);
  EXPECT_TRUE(part.tables.Get<TimelineTable>().has_memory[0]);
}

TEST(Recording, BadBytesCostNothingElse) {
  ByHand file;
  const uint32_t a = file.Name("a");
  file.Thread(7);
  file.Add(RecordType::kSpan, a, {100, 1});
  file.chunks_.back().second.push_back(0);  // no record
  file.Thread(8);
  file.Add(RecordType::kSpan, a, {200, 1});
  file.Add(RecordType::kSpan, 99, {300, 1});                         // a name that nobody spelt
  file.Add(RecordType::kSpan, a, {400, static_cast<uint64_t>(-5)});  // backwards
  std::string bytes = file.Bytes();
  const Part part = Import(bytes);
  EXPECT_EQ(testing::TroubleOf(part),
            "recording.bad_record 1;recording.unknown_name 1;recording.backwards 1;");
  EXPECT_EQ(part.diagnostics.all()[0].first[0].offset, 4096 + 65536 + 64 + 24);
  EXPECT_EQ(Slices(part),
            "a 1000100+1 annotation 0;a 1000200+1 annotation 0;name 99 1000300+1 annotation 0;"
            "a 1000400+0 annotation 0;");
  bytes.resize(bytes.size() - 65536 + 64 + 24);
  EXPECT_NE(testing::TroubleOf(Import(bytes)).find("recording.cut 1"), std::string::npos);
  EXPECT_EQ(Import(bytes).tables.Get<RecordedOpTable>().size(), 2u);
  EXPECT_EQ(testing::TroubleOf(Import(bytes.substr(0, 100))), "recording.no_header 1;");
  bytes[8] = 9;
  EXPECT_EQ(testing::TroubleOf(Import(bytes)), "recording.other_version 1;");
}

TEST(Recording, OddShapes) {
  ByHand file;
  const uint32_t a = file.Name("a");
  file.Thread(7);
  const auto op = [&](uint64_t descriptor, std::vector<uint64_t> dims, unsigned flags) {
    dims.insert(dims.begin(), {100, 1, descriptor});
    file.Add(RecordType::kOp, a, dims, flags);
  };
  op(9, {}, 0);             // a scalar
  op(9 | 1 << 12, {0}, 0);  // no elements
  op(9 | 1 << 12, {uint64_t{1} << 40}, recorder::kOpWideDims);
  op(9 | 2 << 12, {UINT64_MAX, 3}, recorder::kOpWideDims);  // too many
  op(0 | 1 << 12, {5}, 0);                                  // no type
  op(recorder::kShapesLeftOut | 15 << 12, {}, 0);
  op(9 | 1 << 12, {4096, 5}, recorder::kOpBytes);  // bytes told: they count
  const Part part = Import(file.Bytes());
  const auto& ops = part.tables.Get<RecordedOpTable>();
  EXPECT_EQ(Values(ops.output_elements),
            (std::vector<int64_t>{1, 0, int64_t{1} << 40, INT64_MAX, 5, kNone64, 5}));
  EXPECT_EQ(Values(ops.memory_bytes),
            (std::vector<int64_t>{4, 0, int64_t{4} << 40, INT64_MAX, 40, kNone64, 4096}));
  EXPECT_EQ(Values(ops.bytes_assumed), (std::vector<uint8_t>{0, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(testing::TroubleOf(part), "recording.too_large 2;recording.shapes_left_out 1;");
}

TEST(Recording, NamesOfAnyBytes) {
  ByHand file;
  const std::string names[] = {"a;b c", "say \"hi\"", std::string("nul\0in", 6), "\xff\xfe",
                               std::string(2000, 'x')};
  file.Thread(7);
  for (const std::string& name : names) {
    const uint32_t id = file.Name(name);
    file.Add(RecordType::kSpan, id, {100, 1});
  }
  file.Add(RecordType::kSpan, 0, {200, 1});
  const Part part = Import(file.Bytes());
  const auto& ops = part.tables.Get<RecordedOpTable>();
  ASSERT_EQ(ops.size(), 6u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(part.pools.Text(ops.operation[i]), names[i]);
  EXPECT_EQ(part.pools.Text(ops.operation[5]), "(no name)");
}

TEST(Recording, AWallClockThatIsSetIsTold) {
  ByHand file;
  const uint32_t a = file.Name("a");
  file.header_.opened = {0, 0, 10'000'000'000'000};
  file.Thread(7);
  file.chunks_.back().first.clock = {1'000, 1'000, 3'000'000'000'000};
  file.Add(RecordType::kSpan, a, {500, 1'000});
  const Part part = Import(file.Bytes());
  EXPECT_EQ(testing::TroubleOf(part), "recording.wall_clock_set 1;");
  EXPECT_EQ(part.tables.Get<RecordedOpTable>().duration_ns[0], 1'000);
}

// Of files that the recorder itself makes.
class RecordedFiles : public ::testing::Test {
 protected:
  // Runs `body` in a process of its own, which records as `rank`; `body` may end the process.
  void Record(const std::string& name, int rank, const std::function<void()>& body) const {
    const pid_t child = fork();
    if (child == 0) {
      dbr_options options;
      dbr_options_init(&options);
      options.rank = rank;
      options.world_size = 2;
      options.process_name = "trainer";
      dbr_recording* handle = nullptr;
      if (dbr_open((folder_ + "/" + name).c_str(), &options, &handle) != DBR_OK) _exit(1);
      body();
      dbr_close(handle);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  }

  static dbr_id Name(std::string_view text) { return dbr_name(text.data(), text.size()); }

  void Read() {
    ThreadPool pool(1);
    SpillBudget budget;
    NoProgress progress;
    inputs_ = FindInputs({.paths = {folder_}}, pool, budget, progress);
    AssignJobs(inputs_, model_);
  }

  const ScratchFolder scratch_{"/tmp/recording_test_"};
  const std::string& folder_ = scratch_.path();
  Model model_;
  std::vector<FoundInput> inputs_;
};

TEST_F(RecordedFiles, RanksAndForkedChildrenAreOneJob) {
  Record("a.dbr", 0, [] {
    dbr_begin(Name("parent"));
    if (const pid_t child = fork(); child == 0) {
      dbr_begin(Name("child"));
      dbr_end();
      _exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
    dbr_end();
  });
  Record("b.dbr", 1, [] { dbr_instant(Name("x")); });
  Read();
  ASSERT_EQ(inputs_.size(), 3u);
  int ranks[] = {0, 0};
  for (const FoundInput& input : inputs_) {
    EXPECT_EQ(input.importer->info.name, "recording") << input.path;
    EXPECT_EQ(input.who.job, 0);
    EXPECT_EQ(input.who.attempt, 0);
    EXPECT_EQ(input.recognition.world_size, 2);
    EXPECT_FALSE(input.host.empty());
    ASSERT_TRUE(input.who.rank == 0 || input.who.rank == 1);
    ++ranks[input.who.rank];
  }
  EXPECT_EQ(ranks[0], 2) << "the child's file is of its parent's rank";
}

TEST_F(RecordedFiles, AKilledProcessIsReadToItsLastRecord) {
  Record("a.dbr", 1, [] {
    dbr_thread_name(Name("main"));
    dbr_meta("model", "tiny");
    dbr_begin(Name("step"));
    dbr_begin(Name("stuck"));
    kill(getpid(), SIGKILL);
  });
  std::ifstream file(folder_ + "/a.dbr", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const Part part = Import(bytes);
  const auto& ops = part.tables.Get<RecordedOpTable>();
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(part.pools.Text(ops.operation[1]), "stuck");
  EXPECT_TRUE(ops.open[1]);
  EXPECT_EQ(testing::TroubleOf(part), "recording.never_closed 1;");
  EXPECT_EQ(part.pools.Text(part.tables.Get<TimelineTrackTable>().name[0]), "main");
  EXPECT_EQ(part.pools.Text(part.tables.Get<TimelineProcessTable>().name[0]), "trainer");
  EXPECT_EQ(part.pools.Text(part.tables.Get<RecordingNoteTable>().value[0]), "tiny");
  EXPECT_EQ(part.tables.Get<TimelineTable>().world_size[0], 2);
}

}  // namespace recording_test
}  // namespace debrief

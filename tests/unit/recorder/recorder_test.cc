// What is recorded is what is read back.
#include "debrief/recorder.h"

#include <bit>
#include <map>
#include <random>
#include <thread>

#include "debrief/recorder.hpp"
#include "unit/recorder/recording_fixture.h"

namespace debrief::recorder {
namespace recorder_test {

TEST_F(RecorderTest, EveryKindOfRecordComesBack) {
  Open();
  const dbr_id mm = Name("aten::mm"), gpu = Name("cuda:0");
  dbr_thread_name(Name("main"));
  dbr_meta("model", "tiny");
  dbr_span(mm, 100, 150);
  dbr_set_device(gpu);
  const uint64_t a[] = {64, 128}, b[] = {128, 10}, c[] = {64, 10};
  const dbr_shape inputs[] = {{a, 2}, {b, 2}}, output = {c, 2};
  const dbr_op_info info = {inputs, 2, DBR_F32, &output, 0};
  dbr_op(mm, 200, 260, &info);
  dbr_begin(mm);
  const dbr_op_info with_bytes = {inputs, 1, DBR_BF16, nullptr, 4096};
  dbr_end_op(&with_bytes);
  dbr_begin(mm);
  dbr_end();
  dbr_instant(mm);
  dbr_counter(mm, -1.5);
  dbr_flow(mm, DBR_FLOW_END, 77);
  ASSERT_EQ(dbr_close(handle_), DBR_OK);

  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  ASSERT_TRUE(read.ok);
  EXPECT_TRUE(read.problems.empty());
  EXPECT_EQ(read.header.rank, 3);
  EXPECT_EQ(read.header.world_size, 8);
  EXPECT_EQ(read.header.closed, 1u);
  EXPECT_GT(read.header.ticks_per_second, 1000u);
  ASSERT_EQ(read.chunks.size(), 1u);
  EXPECT_GE(read.chunks[0].clock.monotonic_ns, read.header.opened.monotonic_ns);
  ASSERT_EQ(keeper.kept.size(), 9u);
  EXPECT_EQ(*read.Text(keeper.kept[0].name), "aten::mm");
  EXPECT_EQ(keeper.kept[0].track, 0u);
  EXPECT_EQ(keeper.kept[0].values, (std::vector<uint64_t>{100, 50}));
  EXPECT_EQ(*read.Text(keeper.kept[1].track), "cuda:0");
  EXPECT_EQ(keeper.kept[1].values.size(), 5u) << "an op with six dims is 48 bytes";
  ASSERT_EQ(keeper.ops.size(), 2u);
  EXPECT_EQ(keeper.ops[0].inputs, (std::vector<std::vector<uint64_t>>{{64, 128}, {128, 10}}));
  EXPECT_EQ(keeper.ops[0].output, (std::vector<uint64_t>{64, 10}));
  EXPECT_EQ(keeper.ops[0].dtype, static_cast<unsigned>(DBR_F32));
  EXPECT_EQ(keeper.ops[1].bytes, 4096u);
  EXPECT_FALSE(keeper.ops[1].has_output);
  EXPECT_EQ(keeper.kept[5].type, RecordType::kEnd);
  EXPECT_EQ(keeper.kept[6].type, RecordType::kInstant);
  EXPECT_EQ(std::bit_cast<double>(keeper.kept[7].values[1]), -1.5);
  EXPECT_EQ(keeper.kept[8].flags, static_cast<unsigned>(DBR_FLOW_END));
  EXPECT_EQ(keeper.kept[8].values[1], 77u);
  ASSERT_EQ(read.metadata.size(), 1u);
  EXPECT_EQ(*read.Text(read.metadata[0].first) + "=" + *read.Text(read.metadata[0].second),
            "model=tiny");
  ASSERT_EQ(read.thread_names.size(), 1u);
  EXPECT_EQ(*read.Text(read.thread_names[0].second), "main");
  ASSERT_EQ(read.process_names.size(), 1u);
  EXPECT_EQ(*read.Text(read.process_names[0].second), "trainer");
}

TEST_F(RecorderTest, ARingKeepsTheLastAndCountsTheRest) {
  Open(DBR_RING, 1 << 20);
  const dbr_id name = Name("step");
  constexpr uint64_t kCount = 400'000;  // ten times what fits
  for (uint64_t i = 0; i < kCount; ++i) dbr_span(name, i, i);
  const dbr_losses losses = dbr_get_losses(handle_);
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  EXPECT_TRUE(read.problems.empty());
  uint64_t spans = 0, last = 0, noted = 0;
  for (const Kept& kept : keeper.kept) {
    if (kept.type == RecordType::kLoss) {
      noted += kept.values[0];
      continue;
    }
    if (spans++ != 0) {
      EXPECT_EQ(kept.values[0], last + 1);
    }
    last = kept.values[0];
  }
  EXPECT_EQ(last, kCount - 1);
  EXPECT_EQ(spans + losses.overwritten, kCount);
  EXPECT_GT(noted, 0u);
  EXPECT_EQ(losses.dropped, 0u);
}

TEST_F(RecorderTest, StopKeepsTheFirstAndCountsTheRest) {
  Open(DBR_STOP, 1 << 20);
  for (uint64_t i = 0; i < 100'000; ++i) dbr_span(0, i, i);
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  ASSERT_FALSE(keeper.kept.empty());
  EXPECT_EQ(keeper.kept.back().values[0], keeper.kept.size() - 1);
  EXPECT_EQ(keeper.kept.size() + read.dropped, 100'000u);
}

class RecorderThreadsTest : public RecorderTest, public testing::WithParamInterface<unsigned> {};

TEST_P(RecorderThreadsTest, NothingIsLostOrMixed) {
  Open(DBR_STOP, 32 << 20);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < GetParam(); ++t) {
    threads.emplace_back([t] {
      for (uint64_t i = 0; i < 5000; ++i) dbr_span(Name("thread " + std::to_string(t)), i, i + t);
    });
  }
  EXPECT_EQ(dbr_snapshot(handle_, (path_ + ".copy").c_str()), DBR_OK);
  for (std::thread& thread : threads) thread.join();
  Keeper keeper, copied;
  EXPECT_TRUE(Read(path_, keeper).problems.empty());
  EXPECT_TRUE(Read(path_ + ".copy", copied).problems.empty());
  std::map<uint32_t, uint64_t> next;
  for (const Kept& kept : keeper.kept) EXPECT_EQ(kept.values[0], next[kept.name]++);
  EXPECT_EQ(keeper.kept.size(), 5000u * GetParam());
  EXPECT_EQ(next.size(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Threads, RecorderThreadsTest, ::testing::Values(8u, 64u));

TEST_F(RecorderTest, StringsOfEverySize) {
  Open(DBR_RING, 16 << 20);
  std::map<dbr_id, std::string> texts;
  for (const std::string& text :
       {std::string(), std::string("a;b \"c\"\0d", 9), std::string("\xff\xfe"),
        std::string(kTextPart, 'x'), std::string(kTextPart + 1, 'y'), std::string(kMaxText, 'z')}) {
    texts[Name(text)] = text;
  }
  for (int i = 0; i < 20'000; ++i)
    texts[Name("name " + std::to_string(i))] = "name " + std::to_string(i);
  EXPECT_EQ(texts.size(), 20'006u);
  EXPECT_EQ(Name("name 77"), Name("name 77"));
  const dbr_id cut = Name(std::string(kMaxText + 9, 'c'));
  for (int i = 0; i < 1'000'000; ++i) dbr_span(cut, 1, 2);  // the ring goes round; names stay
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  EXPECT_TRUE(read.problems.empty());
  for (const auto& [id, text] : texts) {
    ASSERT_NE(read.Text(id), nullptr);
    EXPECT_EQ(*read.Text(id), text);
  }
  EXPECT_EQ(read.Text(cut)->size(), kMaxText);
}

TEST_F(RecorderTest, ScopesRecordOnlyWhileOn) {
  const auto scope = [] { DEBRIEF_SCOPE("scope"); };
  const uint64_t dims[] = {7};
  const dbr_shape shape = {dims, 1};
  scope();
  Open();
  scope();
  {
    DEBRIEF_OP("op", [&] { return dbr_op_info{nullptr, 0, DBR_F32, &shape, 0}; });
  }
  dbr_enable(handle_, 0);
  scope();
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  ASSERT_EQ(keeper.kept.size(), 2u);
  EXPECT_EQ(*read.Text(keeper.kept[0].name), "scope");
  EXPECT_EQ(*read.Text(keeper.kept[1].name), "op");
  EXPECT_EQ(keeper.ops[0].output, std::vector<uint64_t>{7});
}

TEST_F(RecorderTest, WhatMakesNoSenseIsRefused) {
  Open();
  dbr_recording* second = nullptr;
  EXPECT_EQ(dbr_open((path_ + ".copy").c_str(), nullptr, &second), DBR_BUSY);
  EXPECT_EQ(dbr_close(handle_), DBR_OK);
  EXPECT_EQ(dbr_close(handle_), DBR_CLOSED);
  EXPECT_EQ(dbr_open(nullptr, nullptr, &second), DBR_INVALID);
  EXPECT_EQ(dbr_open((folder_ + "/none/run.dbr").c_str(), nullptr, &second), DBR_IO);
  dbr_span(1, 2, 3);
  EXPECT_EQ(dbr_name("x", 1), 0u);
}

TEST_F(RecorderTest, DamagedFilesGiveProblemsAndNeverMore) {
  Open();
  const uint64_t dims[] = {1, 2, 3};
  const dbr_shape shape = {dims, 3};
  const dbr_op_info info = {&shape, 1, DBR_F32, &shape, 9};
  for (int i = 0; i < 300; ++i) dbr_op(Name("op " + std::to_string(i)), 1, 2, &info);
  dbr_close(handle_);
  const std::vector<char> whole = Bytes(path_);
  std::mt19937_64 random(5);
  uint64_t damaged = 0;
  for (int trial = 0; trial < 600; ++trial) {
    std::vector<char> bytes = whole;
    if (trial % 4 == 0) bytes.resize(random() % bytes.size());
    for (uint64_t flips = random() % 8; flips > 0 && !bytes.empty(); --flips) {
      // The bytes that are used: file header, and the beginning of each chunk.
      const uint64_t at = random() % 3 == 0 ? random() % 256
                                            : 4096 + random() % 2 * kChunkBytes + random() % 16'000;
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
    }
    Keeper keeper;
    const ReadRecording read = ReadDbr(std::as_bytes(std::span(bytes)), keeper);
    EXPECT_LE(keeper.kept.size(), bytes.size() / 8);
    damaged += read.problems.empty() ? 0 : 1;
  }
  EXPECT_GT(damaged, 150u);
}

}  // namespace recorder_test
}  // namespace debrief::recorder

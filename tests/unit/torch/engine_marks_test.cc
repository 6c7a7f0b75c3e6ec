// Marks of serving engines: who speaks, when, and which rank a worker's place is.
#include "torch/engine_marks.h"

#include <gtest/gtest.h>

namespace debrief::engine_marks_test {

TEST(EngineMarks, NamesOfProcesses) {
  const EnginePlace worker = ParseEngineProcess("Worker_DP1_TP3_EP7");
  EXPECT_EQ(worker.role, EngineRole::kWorker);
  EXPECT_EQ(worker.data, 1);
  EXPECT_EQ(worker.tensor, 3);
  EXPECT_EQ(worker.pipeline, kNone32);
  EXPECT_EQ(ParseEngineProcess("EngineCore_DP2").data, 2);
  EXPECT_EQ(ParseEngineProcess("APIServer").role, EngineRole::kFrontEnd);
  EXPECT_EQ(ParseEngineProcess("RayTrainWorker").role, EngineRole::kNone);
  EXPECT_EQ(ParseEngineProcess("VllmWorkerProcess").role, EngineRole::kNone);
  EXPECT_EQ(ParseEngineProcess("Worker_TP99999999999").tensor, kNone32);
}

TEST(EngineMarks, PackedPlacesAreTheSame) {
  const EnginePlace place{EngineRole::kWorker, 1022, kNone32, 0};
  const EnginePlace again = EnginePlace::Unpack(place.Pack());
  EXPECT_EQ(again.role, place.role);
  EXPECT_EQ(again.data, 1022);
  EXPECT_EQ(again.pipeline, kNone32);
  EXPECT_EQ(again.tensor, 0);
  EXPECT_EQ(EnginePlace().Pack(), 0U);
}

TEST(EngineMarks, TagsOfRecords) {
  const auto tag = ParseEngineTag("[2026-07-05 19:49:44.257 DP1 TP1 EP1] text");
  ASSERT_TRUE(tag);
  EXPECT_EQ(tag->place.tensor, 1);
  EXPECT_EQ(tag->size, 38U);
  EXPECT_NE(tag->time_ns, kNone64);
  EXPECT_FALSE(ParseEngineTag("[2026-07-05 19:49:44] text"));
  EXPECT_FALSE(ParseEngineTag("[2026-07-05 19:49:44,120] [INFO] text"));
  EXPECT_FALSE(ParseEngineTag("[2026-07-05 19:49:44 rank 3] text"));
}

TEST(EngineMarks, HeadsOfLines) {
  const auto head = ParseEngineHead("ERROR 11-10 12:30:57 [core.py:710]   File \"a.py\"");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->time.month, 11);
  EXPECT_EQ(head->time.day, 10);
  EXPECT_EQ(head->size, 35U);
  EXPECT_TRUE(ParseEngineHead("INFO 05-12 12:11:25 metrics.py:334] Avg prompt throughput"));
  EXPECT_FALSE(ParseEngineHead("INFO:     Application startup complete."));
  EXPECT_FALSE(ParseEngineHead("INFO 05-12 12:11:25 no place"));
  EXPECT_FALSE(ParseEngineHead("step 1"));
}

TEST(EngineMarks, RanksOfWorkers) {
  WorkerRanks nested;  // TP inside of DP
  for (int32_t data : {0, 1}) {
    for (int32_t tensor : {0, 1}) nested.Add({EngineRole::kWorker, data, kNone32, tensor});
  }
  EXPECT_EQ(nested.RankOf({EngineRole::kWorker, 1, kNone32, 0}), 2);
  EXPECT_EQ(nested.RankOfIndex(1, 1), 3);
  WorkerRanks attention;  // TP counts all
  for (int32_t rank : {0, 1, 2, 3}) attention.Add({EngineRole::kWorker, rank / 2, kNone32, rank});
  EXPECT_EQ(attention.RankOf({EngineRole::kWorker, 1, kNone32, 3}), 3);
  WorkerRanks stages;
  for (int32_t stage : {0, 1}) stages.Add({EngineRole::kWorker, kNone32, stage, 1});
  EXPECT_EQ(stages.RankOf({EngineRole::kWorker, kNone32, 1, 1}), 3);
}

}  // namespace debrief::engine_marks_test

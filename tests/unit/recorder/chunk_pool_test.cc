// Which chunk comes next.
#include "recorder/chunk_pool.h"

#include "unit/recorder/recording_fixture.h"

namespace debrief::recorder {
namespace chunk_pool_test {

constexpr uint32_t kFull = kChunkPayload / 8;

class ChunkPoolTest : public RecorderTest {
 protected:
  void OpenPool(Policy policy) {
    ASSERT_EQ(file_.Open(path_.c_str(), 4, true), 0);
    ASSERT_TRUE(pool_.Open(&file_, 4, policy));
  }
  void TearDown() override {
    pool_.Close();
    file_.Close(4);
    file_.Unmap();
    RecorderTest::TearDown();
  }
  ChunkHeader* Take() { return pool_.TakeForThread(1, &lost_); }
  FileSink file_;
  ChunkPool pool_;
  Overwritten lost_ = {};
};

TEST_F(ChunkPoolTest, ARingGivesTheOldestBackAndCountsItInTheSameWord) {
  OpenPool(Policy::kRing);
  ChunkHeader* first = Take();
  for (int i = 0; i < 3; ++i) Take();
  EXPECT_EQ(Take(), nullptr) << "all have a writer";
  EXPECT_TRUE(pool_.exhausted());
  first->head = HeadWord(0, 240);
  pool_.SealFull({first, 30, 10});
  EXPECT_FALSE(pool_.exhausted());
  EXPECT_EQ(Take(), first);
  EXPECT_EQ(lost_.count, 10u);
  EXPECT_EQ(first->head, HeadWord(10, 0));
  EXPECT_EQ(first->sequence, 5u);
}

TEST_F(ChunkPoolTest, OnlyAChunkOfAThreadThatEndedIsResumed) {
  OpenPool(Policy::kRing);
  ChunkHeader* changed = Take();
  ChunkHeader* ended = Take();
  ChunkHeader* full = Take();
  Filling filling;
  pool_.SealFull({changed, 100, 7});
  EXPECT_FALSE(pool_.Resume(10, &filling));
  pool_.SealLast({ended, 100, 8});
  pool_.SealLast({full, kFull - 10, 9});
  EXPECT_TRUE(pool_.resumable());
  EXPECT_FALSE(pool_.Resume(kFull, &filling)) << "none has so much room";
  ASSERT_TRUE(pool_.Resume(10, &filling));
  EXPECT_EQ(filling.chunk, ended);
  EXPECT_EQ(filling.records, 8u);
  EXPECT_FALSE(pool_.resumable());
  Take();  // the last fresh one
  EXPECT_EQ(Take(), changed);
  EXPECT_EQ(Take(), full) << "what was between them is in use";
}

TEST_F(ChunkPoolTest, StopGivesNothingBack) {
  OpenPool(Policy::kStop);
  ChunkHeader* first = Take();
  for (int i = 0; i < 3; ++i) Take();
  pool_.SealFull({first, kFull, 10});
  EXPECT_EQ(Take(), nullptr);
  Filling filling;
  EXPECT_FALSE(pool_.Resume(1, &filling));
  pool_.SealLast({first, 10, 3});
  EXPECT_EQ(Take(), nullptr) << "only a thread without a chunk may resume one";
  EXPECT_TRUE(pool_.Resume(1, &filling));
}

TEST_F(ChunkPoolTest, NamesTakeHalfAtMost) {
  OpenPool(Policy::kRing);
  EXPECT_NE(pool_.TakeForDictionary(), nullptr);
  EXPECT_NE(pool_.TakeForDictionary(), nullptr);
  EXPECT_EQ(pool_.TakeForDictionary(), nullptr);
}

}  // namespace chunk_pool_test
}  // namespace debrief::recorder

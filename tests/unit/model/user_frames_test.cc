#include "torch/stacks/user_frames.h"

#include <gtest/gtest.h>

namespace debrief {
namespace user_frames_test {

StackId StackOf(Pools& pools, std::initializer_list<std::string_view> files) {
  std::vector<FrameId> frames;
  for (std::string_view file : files)
    frames.push_back(pools.AddFrame({.file = pools.Intern(file), .line = 1}));
  return pools.AddStack(frames);
}

std::string_view First(std::initializer_list<std::string_view> files) {
  Pools pools;
  auto frames = UserFrames(pools, StackOf(pools, files));
  static std::string first;
  first = frames.empty() ? "" : pools.Text(pools.GetFrame(frames.front()).file);
  return first;
}

TEST(UserFrames, AreNeitherInstalledNorNative) {
  EXPECT_EQ(First({"/x/site-packages/torch/nn.py", "train.py", "main.py"}), "train.py");
  EXPECT_EQ(First({"??", "Allocator.cpp", "", "/x/site-packages/torch/nn.py", "??", "train.py"}),
            "train.py");
  EXPECT_EQ(First({"kernel.cu", "ops.h", "notebook"}), "notebook");
}

TEST(UserFrames, AreNotThoseOfTrainersAndWrappers) {
  EXPECT_EQ(First({"distributed_c10d.py", "c10d_logger.py", "contextlib.py", "train.py"}),
            "train.py");
  EXPECT_EQ(First({"/opt/lightning/pytorch/trainer/trainer.py", "<frozen runpy>", "fit.py"}),
            "fit.py");
  EXPECT_EQ(First({"/tmp/torchinductor_me/ab/cab.py", "/src/deepspeed/runtime/engine.py", "a.py"}),
            "a.py");
  EXPECT_EQ(First({"/home/me/lightning/train.py"}), "/home/me/lightning/train.py");
  EXPECT_TRUE(IsUserFile("/home/me/lightning/train.py"));
}

TEST(UserFrames, AreNotWhatInductorWrote) {
  EXPECT_FALSE(
      IsUserFile("/scratch/cache/hg/chgpcqhig4qee6l2uvdsiy3rdr64bftctgo5q75gou4j27c4b6nz.py"));
  EXPECT_TRUE(IsUserFile("/home/me/checkpoint_of_the_best_model_that_we_have_had_so_far.py"));
}

TEST(UserFrames, AreTheWholeStackWhenNoneIsTheUsers) {
  EXPECT_EQ(First({"??", "engine.cpp"}), "??");
  EXPECT_EQ(First({"/x/torch/nn.py", "engine.cpp"}), "/x/torch/nn.py");
}

}  // namespace user_frames_test
}  // namespace debrief

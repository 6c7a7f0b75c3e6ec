#include "torch/remedies.h"

#include <gtest/gtest.h>

#include <string>

namespace debrief::remedies_test {

namespace {

std::string OutOfMemory(std::string_view wanted, std::string_view free) {
  return "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate " + std::string(wanted) +
         ". GPU 0 has a total capacity of 139.81 GiB of which " + std::string(free) + " is free.";
}

}  // namespace

TEST(Remedies, AFullGpuAndALimitAreTwoThings) {
  const std::string_view full = RemedyOf(OutOfMemory("8.00 GiB", "2.98 GiB"));
  EXPECT_NE(full.find("Use less GPU memory"), std::string_view::npos);
  EXPECT_EQ(RemedyOf(OutOfMemory("1024.00 MiB", "1.50 GiB")), full) << "pieces may be in the way";
  const std::string_view limited = RemedyOf(OutOfMemory("1024.00 MiB", "109.83 GiB"));
  EXPECT_NE(limited.find("a limit of this process"), std::string_view::npos);
  EXPECT_EQ(RemedyOf("CUDA out of memory. Tried to allocate "), full);
}

TEST(Remedies, FitTheWordsOfTheError) {
  auto has = [](std::string_view error, std::string_view words) {
    return RemedyOf(error).find(words) != std::string_view::npos;
  };
  EXPECT_TRUE(has("Indexing.cu:1290: block: [12,0,0], thread: [5,0,0] Assertion `x` failed.",
                  "CUDA_LAUNCH_BLOCKING"));
  EXPECT_TRUE(has("free(): invalid pointer", "PYTHONFAULTHANDLER"));
  EXPECT_TRUE(has("OSError: [Errno 116] Stale file handle: '/nfs/a.tar'", "Mount"));
  EXPECT_TRUE(has("PytorchStreamReader failed reading zip archive", "file is whole"));
  EXPECT_TRUE(has("Call to ibv_reg_mr failed with error Cannot allocate memory", "ulimit -l"));
  EXPECT_TRUE(has("torch.OutOfMemoryError: HIP out of memory.", "rocm-smi"));
  EXPECT_TRUE(RemedyOf("ValueError: shard 7 is empty").empty());
}

}  // namespace debrief::remedies_test

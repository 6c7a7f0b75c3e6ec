// Lines of serving engines: phases of the start, ends, waiting.
#include "inputs/job_text/lines/engine_lines.h"

#include <gtest/gtest.h>

#include <cmath>

namespace debrief::inputs::job_text::engine_lines_test {

TEST(EngineLines, PhasesHaveTheirSeconds) {
  struct Case {
    std::string_view text, phase;
    double seconds;
  };
  for (const Case& each :
       {Case{"Loading weights took 12.34 seconds", "weights", 12.34},
        Case{"Model loading took 55.22 GiB memory and 20.3s", "model load", 20.3},
        Case{"torch.compile takes 8.69 s in total", "compile", 8.69},
        Case{"Graph capturing finished in 31 secs, took 0.45 GiB", "graph capture", 31},
        Case{"Capture cuda graph end. Time elapsed: 54.61 s. mem usage=1.93 GB", "graph capture",
             54.61},
        Case{"Load weight end. elapsed=312.45 s, type=G", "weights", 312.45}}) {
    const auto line = ParseEngineLine(each.text);
    ASSERT_TRUE(line) << each.text;
    EXPECT_EQ(line->what, EngineWhat::kPhaseEnd);
    EXPECT_EQ(line->phase, each.phase);
    EXPECT_DOUBLE_EQ(line->seconds, each.seconds);
  }
  const auto begin = ParseEngineLine("Load weight begin. avail mem=78.4 GB");
  ASSERT_TRUE(begin);
  EXPECT_EQ(begin->what, EngineWhat::kPhaseBegin);
  EXPECT_TRUE(std::isnan(ParseEngineLine("Model loading took 14.9 GiB")->seconds));
}

TEST(EngineLines, EndsAndWaiting) {
  const auto lost =
      ParseEngineLine("Worker proc VllmWorker-3 died unexpectedly, shutting down executor.");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->what, EngineWhat::kLost);
  EXPECT_EQ(lost->worker, 3);
  EXPECT_EQ(
      ParseEngineLine("RayWorkerProc rank=[2] died unexpectedly, shutting down executor.")->worker,
      2);
  const auto waits =
      ParseEngineLine("No available shared memory broadcast block found in 60 seconds. This");
  ASSERT_TRUE(waits);
  EXPECT_DOUBLE_EQ(waits->seconds, 60);
  EXPECT_FALSE(
      ParseEngineLine("Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=True)"));
  EXPECT_EQ(ParseEngineLine("INFO:     Shutting down")->what, EngineWhat::kShutdown);
  EXPECT_FALSE(ParseEngineLine("Shutting down the data loader"));
  EXPECT_FALSE(ParseEngineLine("step 1 loss 2.0"));
}

}  // namespace debrief::inputs::job_text::engine_lines_test

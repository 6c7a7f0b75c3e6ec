// Pods that failed or do not start, in kubectl's tables and events.
#include "inputs/job_text/lines/pod_lines.h"

#include <gtest/gtest.h>

namespace debrief::inputs::job_text {
namespace pod_lines_test {

TEST(PodLines, RowsOfTheTable) {
  EXPECT_EQ(TroubleOfPod("bert-0   0/1     CrashLoopBackOff   8          2m"),
            "pod bert-0: CrashLoopBackOff");
  EXPECT_EQ(TroubleOfPod("bert-0   0/2     Init:Error         0          2m"),
            "pod bert-0: Init:Error");
  EXPECT_EQ(TroubleOfPod("bert-0   1/1     Running            1 (3h ago) 2m"), "");
  EXPECT_EQ(TroubleOfPod("loss  0.5  Error  0.1  of  4"), "");
}

TEST(PodLines, EventsThatKeepAPodFromStarting) {
  constexpr std::string_view kWaits =
      "12s   Warning   FailedScheduling   pod/bert-0   0/9 nodes are available: 1 node(s) had a "
      "taint, 8 Insufficient nvidia.com/gpu. preemption: none";
  EXPECT_EQ(PodEventOf(kWaits), PodEvent::kDoesNotStart);
  EXPECT_EQ(WordsOfPodEvent(kWaits, ""),
            "pod bert-0 is not scheduled: 8 Insufficient nvidia.com/gpu");
  constexpr std::string_view kPull =
      "  Warning  Failed  3m (x4 over 5m)  kubelet  Failed to pull image \"reg/a:9\": rpc error";
  EXPECT_EQ(WordsOfPodEvent(kPull, "bert-1"), "pod bert-1: Failed to pull image \"reg/a:9\"");
  EXPECT_EQ(PodEventOf("  Normal  Scheduled  5m  default-scheduler  Successfully assigned a to b"),
            PodEvent::kGoesOn);
  EXPECT_EQ(PodEventOf("we saw FailedScheduling once"), PodEvent::kNone);
}

}  // namespace pod_lines_test
}  // namespace debrief::inputs::job_text

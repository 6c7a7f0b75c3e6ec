// Pods that failed or do not start, as the tables of kubectl show them:
//
//   trainer-worker-1     0/1     CrashLoopBackOff   8          2m32s         kubectl get pods
//   12s   Warning   FailedScheduling   pod/trainer-0   0/9 nodes are available: ...    get events
//     Warning  Failed   3m (x4 over 5m)   kubelet   Failed to pull image "reg/train:9": ...
//                                                                                  kubectl describe
#pragma once

#include <string>
#include <string_view>

namespace debrief::inputs::job_text {

// "pod trainer-worker-1: CrashLoopBackOff" of a row of `kubectl get pods` whose status is a
// failure; empty for every other line.
std::string TroubleOfPod(std::string_view text);

// What an event says of a pod.
enum class PodEvent { kNone, kGoesOn, kDoesNotStart };
PodEvent PodEventOf(std::string_view text);

// "pod trainer-0 is not scheduled: 8 Insufficient nvidia.com/gpu" of an event with kDoesNotStart;
// `pod` is the one that a description is about.
std::string WordsOfPodEvent(std::string_view text, std::string_view pod);

}  // namespace debrief::inputs::job_text

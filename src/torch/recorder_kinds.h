// The kinds of Flight Recorder, by what their entries are called.
//
//   nccl:all_reduce  of group (0, default_pg)     ProcessGroupNCCL: events of the device tell
//   states gloo:all_reduce, c10d:allreduce               the recorder of the host (PyTorch 2.12:
//   hooks) ncclx:all_reduce of group (world, ncclx)      torchcomms: the description is the backend
#pragma once

#include <string_view>

namespace debrief {

// torchcomms describes a communicator by its backend and names operations by the description.
inline bool IsTorchcomms(std::string_view backend, std::string_view group_desc) {
  return !backend.empty() && backend == group_desc;
}

// The recorder of the host is one of its own beside that of the device, with its own sequence
// numbers: a group of two backends (cpu:gloo,cuda:nccl) is in both.
inline bool IsHostRecorder(std::string_view backend) {
  return backend == "gloo" || backend == "c10d";
}

// Recorders without events of a device see no states: an entry stays "scheduled" for ever, and is
// done when it is retired.
inline bool RetiresWhenDone(std::string_view backend, std::string_view group_desc) {
  return IsHostRecorder(backend) || IsTorchcomms(backend, group_desc);
}

}  // namespace debrief

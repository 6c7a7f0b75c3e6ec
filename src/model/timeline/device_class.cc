#include "model/timeline/device_class.h"

#include <algorithm>
#include <string>

namespace debrief::timeline {

namespace {

constexpr uint8_t kUnknown = 2;

// In lower case.
constexpr std::string_view kCommunicationWords[] = {
    "nccl",       "rccl",      "hccl",       "oneccl",    "msccl",          "cross_device_reduce",
    "all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "all_to_all",
    "alltoall",   "nvshmem",   "rocshmem",   "deep_ep",   "reducescatter",  "rdma",
    "hcoll",
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view DeviceClassName(DeviceClass device_class) {
  switch (device_class) {
    case DeviceClass::kCompute:
      return "compute";
    case DeviceClass::kCommunication:
      return "communication";
    case DeviceClass::kMemcpy:
      return "memcpy";
    case DeviceClass::kMemset:
      return "memset";
    case DeviceClass::kSync:
      return "sync";
    case DeviceClass::kNone:
      break;
  }
  return "none";
}

bool IsCommunicationName(std::string_view kernel) {
  std::string lower(kernel);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return std::any_of(std::begin(kCommunicationWords), std::end(kCommunicationWords),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

DeviceClasses::DeviceClasses(const Model& model)
    : pools_(model.pools),
      kinds_(model.pools),
      is_communication_(model.pools.strings.size(), kUnknown) {}

DeviceClass DeviceClasses::Of(StringId kind, StringId name) const {
  if (kind == StringId::kNone) return DeviceClass::kNone;
  if (kind == kinds_.memcpy) return DeviceClass::kMemcpy;
  if (kind == kinds_.memset) return DeviceClass::kMemset;
  if (kind == kinds_.sync) return DeviceClass::kSync;
  if (kind != kinds_.kernel) return DeviceClass::kNone;
  uint8_t& known = is_communication_[static_cast<size_t>(name)];
  if (known == kUnknown) known = IsCommunicationName(pools_.Text(name)) ? 1 : 0;
  return known == 1 ? DeviceClass::kCommunication : DeviceClass::kCompute;
}

}  // namespace debrief::timeline

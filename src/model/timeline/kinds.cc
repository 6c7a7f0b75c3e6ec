#include "model/timeline/kinds.h"

#include <utility>

namespace debrief::timeline {

namespace {

using Entry = std::pair<std::string_view, std::string_view>;

constexpr Entry kCategories[] = {
    {"cpu_op", kOp},
    {"Operator", kOp},
    {"cuda_runtime", kRuntime},
    {"cuda_driver", kRuntime},
    {"Runtime", kRuntime},
    {"mtia_runtime", kRuntime},
    {"xpu_runtime", kRuntime},
    {"xpu_driver", kRuntime},
    {"glow_runtime", kRuntime},
    {"privateuse1_runtime", kRuntime},
    {"privateuse1_driver", kRuntime},
    {"python_function", kPython},
    {"user_annotation", kAnnotation},
    {"kernel", kKernel},
    {"Kernel", kKernel},
    {"concurrent_kernel", kKernel},
    {"hpu_op", kKernel},
    {"mtia_ccp_events", kKernel},
    {"mtia_insight", kKernel},
    {"gpu_memcpy", kMemcpy},
    {"Memcpy", kMemcpy},
    {"gpu_memset", kMemset},
    {"Memset", kMemset},
    {"cuda_sync", kSync},
    {"queue", kQueue},
    {"gpu_user_annotation", kDeviceAnnotation},
    {"cuda_profiler_range", kCounterRange},
    {"overhead", kOverhead},
    {"Trace", kSpan},
    {"cpu_instant_event", kInstant},
};

}  // namespace

std::string_view KindOfCategory(std::string_view category) {
  for (const auto& [name, kind] : kCategories) {
    if (name == category) return kind;
  }
  return kOther;
}

std::string_view CategoryOfKind(std::string_view kind) {
  for (const auto& [name, kind_of_name] : kCategories) {
    if (kind_of_name == kind) return name;
  }
  return {};
}

bool IsDeviceKind(std::string_view kind) {
  return kind == kKernel || kind == kMemcpy || kind == kMemset || kind == kSync || kind == kQueue ||
         kind == kDeviceAnnotation || kind == kCounterRange;
}

}  // namespace debrief::timeline

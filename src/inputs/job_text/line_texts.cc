#include "inputs/job_text/line_texts.h"

#include <utility>

#include "base/text/strings.h"

namespace debrief::inputs::job_text {

std::string_view KindOf(LineClass what) {
  static constexpr std::pair<LineClass, std::string_view> kKinds[] = {
      {LineClass::kWatchdogTimeout, "watchdog_timeout"},
      {LineClass::kWatchdogStatus, "watchdog_status"},
      {LineClass::kHeartbeatLost, "heartbeat_lost"},
      {LineClass::kDumpSignal, "dump_signal"},
      {LineClass::kNcclError, "nccl_error"},
      {LineClass::kOutOfMemory, "out_of_memory"},
      {LineClass::kSignal, "signal"},
      {LineClass::kExit, "exit"},
      {LineClass::kTerminate, "terminate"},
      {LineClass::kStopping, "stopping"},
      {LineClass::kScheduler, "scheduler"},
      {LineClass::kXid, "xid"},
      {LineClass::kDriver, "driver"},
      {LineClass::kBlocked, "blocked"},
      {LineClass::kCudaError, "cuda_error"},
      {LineClass::kDeviceAssert, "device_assert"},
      {LineClass::kStoreError, "store_error"},
      {LineClass::kGil, "gil_hang"},
      {LineClass::kDesync, "desync"},
      {LineClass::kLeft, "left"},
      {LineClass::kStuck, "stuck"},
      {LineClass::kNoStart, "no_start"},
      {LineClass::kNormalEnd, "normal_end"}};
  for (const auto& [known, kind] : kKinds) {
    if (known == what) return kind;
  }
  return "teardown";
}

std::string_view DropHalf(std::string_view text) {
  size_t size = text.size();
  while (size > 0 && text.size() - size < 3 && (text[size - 1] & 0xC0) == 0x80) --size;
  bool leads = size > 0 && (text[size - 1] & 0xC0) == 0xC0;
  return text.substr(0, leads ? size - 1 : text.size());
}

bool IsTeardown(std::string_view text) {
  return Contains(text, "DistBackendError") || Contains(text, "DistNetworkError") ||
         Contains(text, "watchdog thread terminated") || Contains(text, "NCCL error");
}

bool IsContinuation(const Line& line) {
  return (line.what == LineClass::kTerminate && line.text.starts_with("terminate called")) ||
         line.what == LineClass::kReason ||
         (line.what == LineClass::kNcclError &&
          (line.text.starts_with("nccl") || line.text.starts_with("NET/")));
}

std::string_view CutText(std::string_view text) {
  return text.size() < kMaxText ? text : DropHalf(text.substr(0, kMaxText));
}

}  // namespace debrief::inputs::job_text

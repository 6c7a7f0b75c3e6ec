// The class of an event: what the runtime was doing (args.class).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

enum class EventClass : uint8_t {
  kComputePrep,
  kComputeExec,
  kDataIn,
  kDataOut,
  kOther,
  kDataConvert,
  kWireup,
  kBarrier,
  kRoundtripFlex,
  kRoundtripAiu,
  kHdmaWaitData,
  kHdmaWaitAck,
  kHdmaSignalAck,
  kHdmaSignalData,
  kHdmaMonitorNotice,
  kHdmaSendData,
  kHdmaRecvData,
  kP2pSendData,
  kP2pRecvData,
  kProtocolSerial,
  kProtocolSendData,
  kProtocolRecvData,
  kProtocolSignalData,
  kProtocolSignalAck,
};
inline constexpr size_t kEventClasses = 24;
std::string_view ClassName(EventClass event_class);

// When the kernels of a job (torch: of a correlation) began and ended.
struct KernelTime {
  double first = 0, last = 0;
};

struct EventClasses {
  std::map<std::pair<uint32_t, int64_t>, KernelTime> kernels;
  std::vector<StringId> names;  // by EventClass
  size_t flex_events = 0;
  size_t ranks_with_kernels = 0;

  void Intern(Run& run);
  std::optional<EventClass> ClassOf(const Event& event) const;
};

std::pair<uint32_t, int64_t> KernelContext(const Event& event, const Run& run);

}  // namespace debrief::accel

#include "torch/gpu_faults.h"

#include <algorithm>
#include <iterator>

#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr GpuFault kGpuFaults[] = {{13, "graphics engine exception", false},
                                   {31, "illegal memory access (MMU fault)", false},
                                   {48, "double-bit ECC error", true},
                                   {61, "GPU firmware halt", true},
                                   {62, "GPU firmware halt", true},
                                   {64, "row remapping failed", true},
                                   {74, "NVLink error", true},
                                   {79, "GPU has fallen off the bus", true},
                                   {94, "contained memory error", true},
                                   {95, "uncontained memory error", true},
                                   {137, "NVLink error", true},
                                   {144, "NVLink error", true},
                                   {145, "NVLink error", true},
                                   {146, "NVLink error", true},
                                   {147, "NVLink error", true},
                                   {148, "NVLink error", true},
                                   {149, "NVLink error", true},
                                   {150, "NVLink error", true},
                                   {155, "NVLink error", true},
                                   {158, "GPU fatal timeout", true},
                                   {167, "PCIe fatal timeout", true},
                                   {109, "context switch timeout", true},
                                   {110, "security fault", true},
                                   {119, "GPU firmware (GSP) timeout", true},
                                   {120, "GPU firmware (GSP) error", true},
                                   {140, "ECC error", true},
                                   {171, "uncorrectable DRAM error", true},
                                   {172, "uncorrectable SRAM error", true}};

// The digit in lower case; 0 for what is none.
char HexDigit(char c) {
  if (IsDigit(c) || (c >= 'a' && c <= 'f')) return c;
  return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : '\0';
}

}  // namespace

const GpuFault* GpuFaultOf(int64_t xid) {
  const auto* fault = std::find_if(std::begin(kGpuFaults), std::end(kGpuFaults),
                                   [&](const GpuFault& each) { return each.code == xid; });
  return fault == std::end(kGpuFaults) ? nullptr : fault;
}

std::string BusIdOf(std::string_view address) {
  std::string bus;
  size_t colons = 0;
  bool has_function = false;
  for (char c : address) {
    colons += c == ':' ? 1 : 0;
    has_function |= c == '.';
    if (c == ':' || c == '.') continue;
    const char digit = HexDigit(c);
    if (digit == '\0') break;
    if (!bus.empty() || digit != '0') bus += digit;
  }
  if (colons == 0 || bus.empty()) return {};
  return has_function ? bus : bus + "0";
}

}  // namespace debrief

#include "torch/driver_faults.h"

#include <algorithm>
#include <iterator>

#include "base/text/strings.h"

namespace debrief {

namespace {

struct Sign {
  std::string_view device;
  std::string_view driver;  // whose address stands behind it; empty: the kernel itself says so
  std::string_view sign;
  std::string_view words;
  bool hardware;
};

constexpr std::string_view kGpu = "GPU", kCard = "network card", kDisk = "disk", kHost = "host";

// Of one driver the first that fits counts.
constexpr Sign kSigns[] = {
    {kGpu, "amdgpu", " timeout, signaled seq=", "its work did not end (ring timeout)", true},
    {kGpu, "amdgpu", "page fault (src_id:", "access to memory that is not mapped (page fault)",
     false},
    {kGpu, "amdgpu", "uncorrectable hardware error", "uncorrectable memory error", true},
    {kGpu, "amdgpu", "failed to respond to msg", "its firmware does not answer", true},
    {kGpu, "amdgpu", "GPU reset begin", "GPU reset", true},
    {kGpu, "xe", "Engine reset: engine_class", "its work did not end (engine reset)", true},
    {kGpu, "xe", "Xe has declared device", "the driver gave it up (wedged)", true},
    {kCard, "mlx5_core", "health compromised", "its firmware does not answer", true},
    {kCard, "mlx5_core", "firmware internal error", "firmware internal error", true},
    {kCard, "mlx5_core", "Cable error", "cable error", true},
    {kCard, "mlx5_core", ": Link down", "link down", true},
    {kCard, "mlx5_core", ": Link up", "", true},
    {kHost, "", ": Machine Check: ", "machine check", true},
    {kHost, "", "Kernel panic - not syncing", "kernel panic", true},
    {kDisk, "", "I/O error, dev ", "input or output failed", true},
    {kDisk, "", "EXT4-fs error", "file system error", true}};

bool IsOfAddress(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

// "0000:c5:00.0" behind the name of the driver; "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring"
// names no address.
std::string_view AddressBehind(std::string_view text, size_t at) {
  text = text.substr(std::min(at, text.size()));
  size_t size = 0;
  while (size < text.size() && IsOfAddress(text[size])) ++size;
  while (size > 0 && text[size - 1] == ':') --size;
  const std::string_view address = text.substr(0, size);
  return Contains(address, ":") && Contains(address, ".") ? address : std::string_view();
}

// Where the name of the driver ends, as a word of its own; npos when the line is not of it.
size_t EndOfDriver(std::string_view text, std::string_view driver) {
  for (size_t at = text.find(driver); at != std::string_view::npos;
       at = text.find(driver, at + 1)) {
    const size_t end = at + driver.size();
    const bool opens = at == 0 || text[at - 1] == ' ' || text[at - 1] == ':' || text[at - 1] == '[';
    if (opens && end < text.size() && Contains(" _]", text.substr(end, 1))) return end;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<DriverFault> DriverFaultOf(std::string_view text) {
  for (const Sign& sign : kSigns) {
    if (!Contains(text, sign.sign)) continue;
    if (sign.driver.empty())
      return DriverFault{sign.device, "kernel", {}, sign.words, sign.hardware};
    const size_t end = EndOfDriver(text, sign.driver);
    if (end == std::string_view::npos) continue;
    const std::string_view address = AddressBehind(text, end + 1);
    const bool named = !address.empty() || Contains(text, "*ERROR*");
    if (!named) continue;
    return DriverFault{sign.device, sign.driver, address, sign.words, sign.hardware};
  }
  return std::nullopt;
}

}  // namespace debrief

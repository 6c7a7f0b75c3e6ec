#include "analyses/profile/peaks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "base/text/strings.h"

namespace debrief::analyses::profile {

namespace {

struct DevicePeaks {
  std::string_view word;
  double least_gb, most_gb;
  int32_t units;
  Peaks peaks;
};

constexpr auto kDevices = std::to_array<DevicePeaks>({
#define PEAK(word, least, most, units, fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4, memory, link, \
             status)                                                                               \
  {word,                                                                                           \
   least,                                                                                          \
   most,                                                                                           \
   units,                                                                                          \
   {fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4, memory, (link) / 2.0, 0}},
#define DEVICE(capability, units, word)
#include "analyses/profile/peaks.def"
#undef DEVICE
#undef PEAK
});

// Devices by what they are made of.
struct UnnamedDevice {
  std::string_view capability;
  int32_t units;
  std::string_view word;
};

constexpr auto kUnnamed = std::to_array<UnnamedDevice>({
#define PEAK(...)
#define DEVICE(capability, units, word) {capability, units, word},
#include "analyses/profile/peaks.def"
#undef DEVICE
#undef PEAK
});

std::string Lower(std::string_view text) {
  std::string lower;
  for (char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

const DevicePeaks* FindByName(std::string_view name, int64_t memory_bytes) {
  const double gb = std::max(0.0, static_cast<double>(memory_bytes) / 1e9);
  for (const DevicePeaks& each : kDevices) {
    if (Contains(name, each.word) && gb >= each.least_gb && gb < each.most_gb) return &each;
  }
  return nullptr;
}

// Drivers leave the name out, or say "AMD Radeon Graphics".
const DevicePeaks* FindByUnits(const DeviceFacts& device, std::string_view name) {
  if (!name.empty() && !Contains(name, "radeon graphics")) return nullptr;
  for (const UnnamedDevice& each : kUnnamed) {
    if (each.capability != device.capability || each.units != device.units) continue;
    const bool is_h200 = each.word == "h100" && device.memory_bytes > 100'000'000'000;
    return FindByName(is_h200 ? "h200" : each.word, device.memory_bytes);
  }
  return nullptr;
}

// A part of a device computes by its units; of a MIG slice the memory is a slice, too.
void TakePart(const DeviceFacts& device, std::string_view name, int32_t units, Peaks& peaks) {
  if (device.units <= 0 || device.units >= units) return;
  const double share = static_cast<double>(device.units) / static_cast<double>(units);
  for (double* figure : {&peaks.fp64, &peaks.fp32, &peaks.tf32, &peaks.bf16, &peaks.fp16,
                         &peaks.fp8, &peaks.int8, &peaks.fp4})
    *figure *= share;
  if (Contains(name, " mig ")) peaks.memory *= share;
}

double* FigureOf(Peaks& peaks, std::string_view kind) {
  if (kind == "fp64") return &peaks.fp64;
  if (kind == "fp32") return &peaks.fp32;
  if (kind == "tf32") return &peaks.tf32;
  if (kind == "bf16") return &peaks.bf16;
  if (kind == "fp16") return &peaks.fp16;
  if (kind == "fp8") return &peaks.fp8;
  if (kind == "int8") return &peaks.int8;
  if (kind == "fp4") return &peaks.fp4;
  if (kind == "memory") return &peaks.memory;
  if (kind == "link") return &peaks.link;
  return kind == "network" ? &peaks.network : nullptr;
}

// What the user says, put over what is known of the device.
std::optional<Peaks> Overridden(const Model& model, std::optional<Peaks> peaks) {
  const auto& told = model.tables.Get<RooflinePeakTable>();
  for (size_t row = 0; row < told.size(); ++row) {
    const std::string_view kind = model.pools.Text(told.kind[row]);
    if (kind == "gpu") peaks = PeaksOf({.name = model.pools.Text(told.figure[row])});
  }
  for (size_t row = 0; row < told.size(); ++row) {
    Peaks changed = peaks.value_or(Peaks());
    double* figure = FigureOf(changed, model.pools.Text(told.kind[row]));
    const auto number = ParseNumber<double>(model.pools.Text(told.figure[row]));
    if (figure == nullptr || !number || !(*number > 0) || !std::isfinite(*number)) continue;
    *figure = *number;
    peaks = changed;
  }
  return peaks;
}

}  // namespace

std::optional<Peaks> PeaksOf(const DeviceFacts& device) {
  const std::string name = Lower(device.name);
  const DevicePeaks* found = FindByName(name, device.memory_bytes);
  if (found == nullptr) found = FindByUnits(device, name);
  if (found == nullptr) return std::nullopt;
  Peaks peaks = found->peaks;
  TakePart(device, name, found->units, peaks);
  return peaks;
}

std::optional<Peaks> PeaksOf(const Model& model, size_t device_row) {
  const auto& devices = model.tables.Get<TimelineDeviceTable>();
  return Overridden(
      model, PeaksOf({.name = model.pools.Text(devices.name[device_row]),
                      .memory_bytes = devices.memory_bytes[device_row],
                      .units = devices.multiprocessors[device_row],
                      .capability = model.pools.Text(devices.compute_capability[device_row])}));
}

std::optional<Peaks> ToldPeaks(const Model& model) { return Overridden(model, std::nullopt); }

std::string_view PrecisionOf(std::string_view type, std::string_view kernel) {
  const std::string name = Lower(type), work = Lower(kernel);
  if (name == "c10::bfloat16") return "bf16";
  if (name == "c10::half") return "fp16";
  if (name == "double") return "fp64";
  if (name.starts_with("c10::float8_")) return "fp8";
  if (name.starts_with("c10::float4_")) return "fp4";
  if (name == "signed char" || name == "unsigned char") return "int8";
  if (name != "float") return "";
  return Contains(work, "tf32") || Contains(work, "s1688") ? "tf32" : "fp32";
}

double PeakOf(const Peaks& peaks, std::string_view precision) {
  Peaks copy = peaks;
  const double* figure = FigureOf(copy, precision == "vector" ? "fp32" : precision);
  const bool is_rate = precision != "memory" && precision != "link" && precision != "network";
  return figure == nullptr || !is_rate ? 0 : *figure;
}

}  // namespace debrief::analyses::profile

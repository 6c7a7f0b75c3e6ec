// What devices can do at most, by data type: peaks.def has the figures, `--peak` overrides them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/model.h"
#include "tables/roofline_peak.h"
#include "tables/timeline_device.h"

namespace debrief::analyses::profile {

// TFLOP/s, and GB/s of memory and of the links; 0: none, or not known.
struct Peaks {
  double fp64 = 0, fp32 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, int8 = 0, fp4 = 0;
  double memory = 0;
  double link = 0;     // to peers in the same node, one direction
  double network = 0;  // to other nodes, one direction; only the user can tell
};

struct DeviceFacts {
  std::string_view name;
  int64_t memory_bytes = 0;
  int32_t units = 0;            // SMs or compute units; 0 when not told
  std::string_view capability;  // for example 9.0
};

// None when the device is not known.
std::optional<Peaks> PeaksOf(const DeviceFacts& device);

// Of a row of timeline_device, with what the user says (`--peak`); none when neither tells.
std::optional<Peaks> PeaksOf(const Model& model, size_t device_row);

// What the user says alone; none when nothing.
std::optional<Peaks> ToldPeaks(const Model& model);

// "bf16" of "c10::BFloat16". Of float the name of the kernel tells whether it is tf32.
std::string_view PrecisionOf(std::string_view type, std::string_view kernel);

double PeakOf(const Peaks& peaks, std::string_view precision);

}  // namespace debrief::analyses::profile

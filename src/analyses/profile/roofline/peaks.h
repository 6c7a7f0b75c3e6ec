// What devices can do at most, by data type: peaks.def has the figures.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::analyses::profile_roofline {

// TFLOP/s, and GB/s of memory; 0: none, or not known.
struct Peaks {
  double fp64 = 0, fp32 = 0, tf32 = 0, bf16 = 0, fp16 = 0, fp8 = 0, int8 = 0;
  double memory = 0;
};

// Null when the device is not known.
const Peaks* PeaksOf(std::string_view device, int64_t memory_bytes);

// "bf16" of "c10::BFloat16". Of float the name of the kernel tells whether it is tf32.
std::string_view PrecisionOf(std::string_view type, std::string_view kernel);

double PeakOf(const Peaks& peaks, std::string_view precision);

}  // namespace debrief::analyses::profile_roofline

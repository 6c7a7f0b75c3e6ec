#include "analyses/profile/roofline/peaks.h"

#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "base/text/scan.h"

namespace debrief::analyses::profile_roofline {

namespace {

struct DevicePeaks {
  std::string_view word;
  double least_gb, most_gb;
  Peaks peaks;
};

constexpr auto kDevices = std::to_array<DevicePeaks>({
#define PEAK(word, least, most, fp64, fp32, tf32, bf16, fp16, fp8, int8, memory, status) \
  {word, least, most, {fp64, fp32, tf32, bf16, fp16, fp8, int8, memory}},
#include "analyses/profile/roofline/peaks.def"
#undef PEAK
});

std::string Lower(std::string_view text) {
  std::string lower;
  for (char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

const Peaks* PeaksOf(std::string_view device, int64_t memory_bytes) {
  const std::string name = Lower(device);
  const double gb = static_cast<double>(memory_bytes) / 1e9;
  for (const DevicePeaks& each : kDevices) {
    if (Contains(name, each.word) && gb >= each.least_gb && gb < each.most_gb) return &each.peaks;
  }
  return nullptr;
}

std::string_view PrecisionOf(std::string_view type, std::string_view kernel) {
  const std::string name = Lower(type), work = Lower(kernel);
  if (name == "c10::bfloat16") return "bf16";
  if (name == "c10::half") return "fp16";
  if (name == "double") return "fp64";
  if (name.starts_with("c10::float8_")) return "fp8";
  if (name == "signed char" || name == "unsigned char") return "int8";
  if (name != "float") return "";
  return Contains(work, "tf32") || Contains(work, "s1688") ? "tf32" : "fp32";
}

double PeakOf(const Peaks& peaks, std::string_view precision) {
  if (precision == "bf16") return peaks.bf16;
  if (precision == "fp16") return peaks.fp16;
  if (precision == "fp64") return peaks.fp64;
  if (precision == "fp8") return peaks.fp8;
  if (precision == "int8") return peaks.int8;
  if (precision == "tf32") return peaks.tf32;
  if (precision == "fp32" || precision == "vector") return peaks.fp32;
  return 0;
}

}  // namespace debrief::analyses::profile_roofline

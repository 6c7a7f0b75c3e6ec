// The forms in which nvidia-smi and dcgmi repeat their samples, as columns and rows:
//
//   timestamp, index, clocks.current.sm [MHz], power.draw [W]       --query-gpu=... --format=csv
//   2026/11/15 23:22:09.123, 0, 1980 MHz, 689.12 W
//
//   #Date       Time        gpu    pwr  gtemp   pclk                 dmon -o DT
//   #YYYYMMDD   HH:MM:SS    Idx      W      C    MHz
//    20261115   23:22:09      0    689     61   1980
//
//   #Entity   SMCLK   TMPTR   POWER                                  dcgmi dmon -e 100,150,155
//   ID          MHz       C       W
//   GPU 0      1980      61   640.1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::inputs::nvidia_smi {

struct SmiValue {
  std::string source;  // as nvidia-smi calls it, without the unit
  double value = 0;
};

struct SmiSample {
  int64_t time_ns = kNone64;
  int32_t gpu = kNone32;
  std::string uuid;
  std::string bus_id;
  std::string host;
  std::vector<SmiValue> values;
};

class SmiSheet {
 public:
  // A head, or for CSV without one a first row that has a time and units.
  static bool IsHead(std::string_view first_line);

  // False when the line is none of the sheet's; heads are, and give no sample.
  bool Add(std::string_view line, SmiSample& sample);

 private:
  enum class Form : uint8_t { kUnknown, kCsv, kBare, kMonitor };

  bool ReadHead(std::string_view line);
  bool AddCsv(std::string_view line, SmiSample& sample) const;
  static bool AddBare(std::string_view line, SmiSample& sample);
  bool AddMonitor(std::string_view line, SmiSample& sample) const;

  Form form_ = Form::kUnknown;
  char separator_ = ',';  // of CSV
  std::vector<std::string> columns_;
};

}  // namespace debrief::inputs::nvidia_smi

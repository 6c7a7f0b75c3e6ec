// What the devices reached, for the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::accel_utilisation {

// What one device of one timeline reached.
struct Utilisation {
  struct Kernel {
    std::string name;
    int64_t time_ns = 0, ideal_ns = 0;
    int64_t row = 0;  // of accel_utilisation
  };
  Identity who;
  bool autopilot = false;
  int64_t time_ns = 0, ideal_ns = 0;  // of all kernels; ideal of those that use the array
  int64_t total_row = 0;
  std::vector<Kernel> kernels;  // that use the array
};

void AddFindings(const std::vector<Utilisation>& devices, std::vector<Finding>& findings);

}  // namespace debrief::analyses::accel_utilisation

// Transfers that extract_data_transfer_event found, for compute_bandwidth.
#pragma once

#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

struct Transfer {
  double start = 0, end = 0;
  double gigabytes_per_second = 0;
  bool to_device = false;
};

struct Transfers {
  ByValue<std::vector<Transfer>> by_rank;
};

}  // namespace debrief::accel

#include "torch/stamped_name.h"

#include <algorithm>
#include <string>

#include "base/pools/ids.h"
#include "base/text/strings.h"
#include "torch/glog_time.h"

namespace debrief {

int64_t TimeInName(std::string_view name) {
  constexpr size_t kSize = 15;  // 20261115_232140
  for (size_t at = 0; at + kSize <= name.size(); ++at) {
    std::string stamp(name.substr(at, kSize));
    if (stamp[8] != '_' || std::count_if(stamp.begin(), stamp.end(), IsDigit) != kSize - 1)
      continue;
    for (size_t colon : {13U, 11U}) stamp.insert(colon, 1, ':');
    for (size_t dash : {6U, 4U}) stamp.insert(dash, 1, '-');
    return ParseIsoTime(stamp);
  }
  return kNone64;
}

}  // namespace debrief

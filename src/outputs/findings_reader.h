// Reads findings.json (docs/formats/findings_json.md) back: what run_json.h wrote.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/finding.h"

namespace debrief {

struct WrittenFindings {
  int64_t schema = kNone64;
  std::string version;  // of the debrief that wrote it
  std::map<int32_t, std::string> jobs;
  std::vector<Finding> findings;  // `explains` are positions in here
};

// The file in the folder of a report. kNotFound when there is none, kInvalid when it is broken or
// not ours, kUnsupported when a newer version wrote it. Fields that are missing keep their
// defaults.
Result<WrittenFindings> ReadFindings(const std::string& folder);

}  // namespace debrief

// `otherData` of the output: what made it, and with which options.
#pragma once

#include <string>

#include "accel/options.h"

namespace debrief::accel {

// The object, indented as a member of the top-level one.
std::string OtherData(const Options& options);
// With -I: only the name of the file.
std::string OtherDataOfStage(const Options& options, const std::string& path);

}  // namespace debrief::accel

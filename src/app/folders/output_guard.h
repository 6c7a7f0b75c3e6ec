// What every command asks before it writes: may this place be written to, and where is it really?
//
//   a file    is no input, and replaces nothing that lies in a folder of inputs
//   a folder  is no input and holds none
//
// Both give back the path to write to: absolute, without links and without "..". A refusal is
// kUsage. Whether a folder that is there may be replaced is asked by StagedFolder. An input that is
// found only later, behind a link in a folder, is refused when the file is created (GrowingFile).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace debrief {

// Devices, fifos and what /dev/stdout stands for are given back as they are: they are written to,
// not replaced. What a run that was killed left beside the file is removed.
Result<std::string> GuardFile(const std::string& output, const std::vector<std::string>& inputs);

Result<std::string> GuardFolder(const std::string& output, const std::vector<std::string>& inputs);

// Whether a file of that name is written to and not replaced.
bool IsWrittenThrough(const std::string& output);

}  // namespace debrief

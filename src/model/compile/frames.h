// Stacks of compile logs as people want to read them.
#pragma once

#include <span>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief {

// A source path without the folder that a launcher unpacked the program to: the text between the
// first and the second "#link-tree/", else what stands behind a folder "...-seed-nspid...", else
// the path as it is.
std::string_view ShortPath(std::string_view path);

// "0/0_1" (second attempt of compilation 0/0) without its attempt: "0/0".
std::string_view WithoutAttempt(std::string_view compile_id);

// The stack of a compilation, innermost first, without the three frames of Dynamo that begin it.
std::span<const FrameId> WithoutConvertFrame(const Pools& pools, StackId stack);

}  // namespace debrief

// Which area of the compiler a phase belongs to.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::analyses::compile_time {

enum class Area : uint8_t { kOther, kDynamo, kAot, kInductor, kCodegen, kTriton };
inline constexpr int kAreas = 6;

std::string_view AreaName(Area area);

// By the name of the phase; kOther for a name that is not known, which then belongs to the area of
// the phase around it. PyTorch adds phases with every version, so names are known by how they
// begin.
Area AreaOf(std::string_view phase);

}  // namespace debrief::analyses::compile_time

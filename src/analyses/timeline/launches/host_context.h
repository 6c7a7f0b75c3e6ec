// What is around each slice of the host: its op, module and compilation.
//
//   nn.Module: Linear_0 [ aten::linear [ aten::addmm [ cudaLaunchKernel ] ] ]
//                         top_op         op
//
// Backward ops run on another thread, where no module is around them: they get module and
// compilation of their forward op. Cost: two passes, since a slice stands before what it encloses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/timeline/launches/backward.h"
#include "analyses/timeline/launches/name_roles.h"
#include "model/timeline/view.h"

namespace debrief::analyses::timeline_launches {

// By slice; kNone32 where there is none. A slice is around itself.
struct HostContext {
  std::vector<int32_t> op, top_op;
  std::vector<int32_t> module;  // slice of the module's call
  std::vector<int32_t> region;  // slice whose name has the compile id
};

HostContext HostContextOf(const timeline::TimelineView& view, NameRoles& roles,
                          std::span<const BackwardLink> backward);

}  // namespace debrief::analyses::timeline_launches

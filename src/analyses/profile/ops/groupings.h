// The groups into which slices of the host are put: by name, by shapes, by module.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::profile_ops {

struct Grouping {
  std::vector<int32_t> group;  // by slice; kNone32 for those in none
  size_t groups = 0;           // numbered in the order of their first slices
};

Grouping ByName(const timeline::TimelineView& view);

// Ops whose shapes or types were recorded.
Grouping ByShape(const timeline::TimelineView& view);

// Calls named nn.Module: ...; where there are none, ops that name their module.
Grouping ByModule(const timeline::TimelineView& view);

// The module that a slice of ByModule() stands for.
std::string_view ModuleOf(const timeline::TimelineView& view, int32_t slice);

}  // namespace debrief::analyses::profile_ops

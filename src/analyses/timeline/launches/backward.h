// What the names of slices say about the slices in them, and which forward op a backward op belongs
// to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "model/timeline/view.h"

namespace debrief::analyses::timeline_launches {

enum class NameRole : uint8_t {
  kPlain,
  kStep,          // ProfilerStep#412
  kModule,        // nn.Module: Linear_3
  kRegion,        // Torch-Compiled Region: 0/0
  kCompiledCall,  // ## Call CompiledFxGraph fal4x... ##
  kBackward,      // autograd::engine::evaluate_function: AddmmBackward0
};
NameRole RoleOfName(std::string_view name);

using NameRoles = timeline::OfName<NameRole>;

// Which forward op a backward op belongs to.
//
//   forward thread    aten::linear #5 [ aten::t #5 ]  [ aten::addmm #6 ]
//   autograd thread                          evaluate_function: AddmmBackward0 #6 [ AddmmBackward0
//   ]
//
// An op carries the number that the next node of the autograd graph will get, so that several
// forward ops have the same one; the last of them made the node. Numbers repeat over threads and
// runs: of the forward ops before the backward op the latest counts.
struct BackwardLink {
  int32_t backward = kNone32;
  int32_t forward = kNone32;
  bool by_flow = false;
};

// In the order of backward slices. Cost: sorts the ops that have numbers.
std::vector<BackwardLink> BackwardLinksOf(const timeline::TimelineView& view, NameRoles& roles);

}  // namespace debrief::analyses::timeline_launches

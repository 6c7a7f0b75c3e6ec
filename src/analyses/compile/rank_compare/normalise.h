// Text of graphs without what differs from rank to rank though the graphs are the same.
//
//   0x7f3a2c   <-  #        addresses
//   cuda:3     <-  cuda:#   the rank's own device
//   /tmp/torchinductor_me/ab/cabc.py  <-  #   files of the caches
//   140234876223344  <-  #  ids of Python objects: numbers of nine digits or more
//
// Shapes, strides, constants and names stay: by them graphs differ. Cost: one pass.
#pragma once

#include <string>
#include <string_view>

namespace debrief::analyses::compile_rank_compare {

void AppendNormalised(std::string_view text, std::string& out);

// "line 3: `a` here, `b` there", of two texts that differ; lines are cut to a readable length.
std::string FirstDifference(std::string_view a, std::string_view b);

}  // namespace debrief::analyses::compile_rank_compare

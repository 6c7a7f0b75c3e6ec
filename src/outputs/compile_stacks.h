// Where in the program compile time comes from: the stack at which each compilation began, weighted
// with the seconds that the compilation took.
//
//   compile_flame.collapsed        main.py:9 main;model.py:27 forward 1681496    (microseconds)
//   compile_flame.speedscope.json  the same for speedscope.app, a profile for each rank
//   compile_stacks.dot             the tree of stacks, for graphviz: dot -Tsvg
//
// Cost: one step for each frame of each compilation's stack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace debrief::outputs {

// A compilation and where it began.
struct Sample {
  int32_t input = kNone32;
  int32_t rank = kNone32;
  std::vector<FrameId> frames;  // of the pools of the model, outermost first
  double seconds = 0;
};

// In the order of the table compile_span; compilations of unknown time or place are left out.
std::vector<Sample> MakeSamples(const Model& model);

// One line for each stack of each rank, sorted; ranks are the outermost frame where there are
// several.
std::string Collapsed(const Model& model, const std::vector<Sample>& samples);

// docs: https://www.speedscope.app/file-format-schema.json, type "sampled".
std::string Speedscope(const Model& model, const std::vector<Sample>& samples);

// The trees "starts" of table compile_trie_node, an ellipse a frame; frames at which compilations
// began tell how many, how they ended, and are coloured by the worst.
std::string Dot(const Model& model);

}  // namespace debrief::outputs

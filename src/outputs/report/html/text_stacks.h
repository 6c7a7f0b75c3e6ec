// Where each compilation began: the stacks of dynamo_start, in the index of texts.
//
//   "frames": [["train.py", 52, "step", "loss = model(x)"], ...]
//   "stacks": {"1:0:0:0/0": [0, 1, 2], ...}       positions in it, innermost first, by
//                                                 input:rank:life:compile id; no rank: empty
#pragma once

#include "base/json/writer.h"
#include "model/model.h"

namespace debrief::outputs::html {

// Writes both keys into the object that is open. Bounded: 40,000 frames, 100 of them in a stack,
// 20,000 stacks.
void WriteStartStacks(const Model& model, JsonWriter& json);

}  // namespace debrief::outputs::html

// What is said of a job in which nothing is wrong: what was looked at, so that a reader can tell
// health from a lack of data.
#pragma once

#include <cstdint>
#include <string>

#include "model/model.h"

namespace debrief::outputs::console {

// "No problem found in 8 Flight Recorder dumps and 16 outputs of ranks 0-7; last step 120." `job`
// kNone32: of all inputs. `has_remarks`: something is said below it, a loss of time for example;
// the line is about failures then.
std::string NoProblemInWords(const Model& model, int32_t job, bool has_remarks);

}  // namespace debrief::outputs::console

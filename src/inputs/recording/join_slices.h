// What needs the finished timeline of a recording: which slice an op is and what it encloses, and
// which slice a note is about. One pass over slices and notes each.
#pragma once

#include "model/model.h"

namespace debrief::inputs::recording {

// Tells ops their slices (a slice knows its op by external_id), and takes from each op the time of
// what was recorded inside of it.
void JoinOpsToSlices(Part& whole);

// Notes of a thread are in order of time.
void JoinNotesToSlices(Part& whole);

}  // namespace debrief::inputs::recording

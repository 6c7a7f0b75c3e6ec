// Recorded ops in the form that the first op traces had: flat, eight bytes an element, one element
// where no shape was told. Ops that come from such a trace stay as they are.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "debrief/op_trace.hpp"
#include "model/model.h"

namespace debrief::outputs::op_answers {

// Entry i is row i of recorded_op.
std::vector<op_trace::Entry> CompatEntries(const Model& model);
// Of all inputs; of a key that several have, the last counts.
std::map<std::string, std::string> MetadataOf(const Model& model);

}  // namespace debrief::outputs::op_answers

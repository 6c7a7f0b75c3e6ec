// Writes the Trace Event JSON of a layout, piece by piece.
#pragma once

#include <string>
#include <vector>

#include "base/bytes/growing_file.h"
#include "outputs/exports/flight_timeline/layout.h"

namespace debrief::outputs::flight_timeline {

// docs/formats/flight_timeline.md. Memory: the layout, one number a match, and a piece of text.
Status WriteEvents(const Model& model, const Layout& layout, GrowingFile& file);

}  // namespace debrief::outputs::flight_timeline

// What a recording says about itself: its row, its losses, and what is wrong with it.
#pragma once

#include "inputs/recording/row_builder.h"
#include "model/model.h"
#include "op_trace/span_pairing.h"
#include "op_trace/tick_clock.h"

namespace debrief::inputs::recording {

struct WholeRecording {
  const recorder::ReadRecording& read;
  const op_trace::TickClock& clock;
  const op_trace::SpanPairing& spans;
  const RowBuilder& rows;
};

// Bytes that do not fit the format.
void ReportProblems(const recorder::ReadRecording& read, const Identity& who, Part& part);
void AddRecordingRow(const WholeRecording& whole, const Identity& who, Part& part);
void AddLosses(const WholeRecording& whole, const Identity& who, Part& part);
// Everything else that the user should know.
void ReportOddities(const WholeRecording& whole, const Identity& who, Part& part);

}  // namespace debrief::inputs::recording

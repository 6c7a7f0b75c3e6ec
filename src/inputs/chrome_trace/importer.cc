// Trace Event Format: PyTorch (Kineto) profiles and anything else that chrome://tracing opens.
// docs/formats/chrome_trace.md; read by inputs/trace_event_reader.h
#include "inputs/importer.h"

#include "inputs/sniffing.h"
#include "inputs/trace_event_reader.h"

namespace debrief::inputs::chrome_trace {

namespace {

constexpr std::string_view kTables[] = {
    "timeline",        "timeline_collective",  "timeline_counter",
    "timeline_device", "timeline_device_work", "timeline_fact",
    "timeline_flow",   "timeline_group",       "timeline_memory",
    "timeline_op",     "timeline_op_args",     "timeline_process",
    "timeline_slice",  "timeline_record",      "timeline_stage_op",
    "timeline_track",  "timeline_args"};

Recognition Sniff(const SniffInput& input) {
  if (!LooksLikeTraceEvents(input) || HasCycleStamps(input)) return {};
  return RecogniseTrace(*input.json);
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "chrome_trace",
               .sentence =
                   "profiler timeline: PyTorch (Kineto) or any other Trace Event Format JSON",
               .example = "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
               .makes = kTables},
      .sniff = Sniff,
      .open = MakeReader<TraceEventReader>};
  return kImporter;
}

}  // namespace debrief::inputs::chrome_trace

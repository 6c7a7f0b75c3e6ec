// Trace Event Format: PyTorch (Kineto) profiles and anything else that chrome://tracing opens.
// Recognised; a reader comes with the profiles part.
#include "inputs/importer.h"

#include "inputs/sniffing.h"

namespace debrief::inputs::chrome_trace {

namespace {

int64_t FirstTime(const JsonOutline& json) {
  auto text = json.Scalar(json.is_array() ? "[].ts" : "traceEvents[].ts");
  if (!text) return kNone64;
  auto micros = NumberAt(*text, 0);
  return micros ? UnixMicrosToNs(*micros) : kNone64;
}

Recognition Sniff(const SniffInput& input) {
  Recognition found;
  found.mine = LooksLikeTraceEvents(input) && !HasCycleStamps(input);
  if (!found.mine) return found;
  found.rank = RankOrNone(input.json->Integer("distributedInfo.rank"));
  found.world_size = RankOrNone(input.json->Integer("distributedInfo.world_size"));
  found.start_ns = FirstTime(*input.json);
  return found;
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "chrome_trace",
               .sentence =
                   "profiler timeline: PyTorch (Kineto) or any other Trace Event Format JSON",
               .example = "rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
               .makes = {}},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::chrome_trace

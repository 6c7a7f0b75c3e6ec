// Flex traces of IBM's AIU: trace events whose `attr` or `args` carry cycle stamps. Recognised; a
// reader comes with the accelerator part.
#include "inputs/importer.h"

#include "inputs/sniffing.h"

namespace debrief::inputs::flex {

namespace {

Recognition Sniff(const SniffInput& input) {
  return {.mine = LooksLikeTraceEvents(input) && HasCycleStamps(input)};
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "flex",
               .sentence =
                   "AIU/Flex accelerator timeline: trace events with cycle stamps TS1 to TS5",
               .example = "tp4_rank0_job_1.json",
               .makes = {}},
      .sniff = Sniff};
  return kImporter;
}

}  // namespace debrief::inputs::flex

// Flex traces of IBM's AIU: trace events whose `attr` or `args` carry cycle stamps.
// docs/formats/flex.md; read by inputs/trace_event_reader.h
//
//   [{"ph": "B", "name": "bmm Cmpt Exec", "pid": 0, "tid": 3, "ts": 1000437.0,
//     "attr": {"TS1": "0x9919c0", ..., "TS5": "0x9975a0", "Power": "0x75c526a"}}, {"ph": "E", ...
#include "inputs/importer.h"

#include <charconv>

#include "inputs/sniffing.h"
#include "inputs/trace_event_reader.h"

namespace debrief::inputs::flex {

namespace {

constexpr std::string_view kTables[] = {"accel_rate",           "accel_stamp",    "timeline",
                                        "timeline_counter",     "timeline_args",  "timeline_device",
                                        "timeline_device_work", "timeline_fact",  "timeline_flow",
                                        "timeline_process",     "timeline_slice", "timeline_track"};

// The pid of all events that can be seen: it is the rank. None when they have several.
int32_t OnlyPid(std::string_view head) {
  constexpr std::string_view kKey = "\"pid\":";
  std::optional<int64_t> only;
  for (size_t at = head.find(kKey); at != std::string_view::npos; at = head.find(kKey, at + 1)) {
    size_t number = head.find_first_not_of(" \t\r\n\"", at + kKey.size());
    auto pid = number == std::string_view::npos ? std::nullopt : NumberAt(head, number);
    if (!pid || (only && *only != *pid)) return kNone32;
    only = pid;
  }
  return RankOrNone(only);
}

Recognition Sniff(const SniffInput& input) {
  if (!LooksLikeTraceEvents(input) || !HasCycleStamps(input)) return {};
  Recognition found = RecogniseTrace(*input.json);
  if (found.rank == kNone32) found.rank = OnlyPid(input.head);
  return found;
}

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "flex",
               .sentence =
                   "AIU/Flex accelerator timeline: trace events with cycle stamps TS1 to TS5",
               .example = "tp4_rank0_job_1.json",
               .makes = kTables},
      .sniff = Sniff,
      .open = MakeReader<TraceEventReader>};
  return kImporter;
}

}  // namespace debrief::inputs::flex

// Output that a log service kept: each line of a process is a record of JSON, with what the service
// knows of it beside the text. The keys differ, the idea does not:
//
//   {"log":"text\n","stream":"stderr","time":"2026-11-15T23:22:09.1Z"}                     Docker
//   {"timestamp":1794650400000,"message":"text","logStreamName":"job/algo-3-1794650400"} CloudWatch
//   {"textPayload":"text","resource":{"labels":{"pod_name":"job-worker-2-xk2lp"}},...} Stackdriver
//   {"MESSAGE":"text","_HOSTNAME":"gpu07","_PID":"4711","__REALTIME_TIMESTAMP":"1794..."}  journald
//   {"event":"text","level":"error","rank":3,"exception":"Traceback ..."} structlog
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// Are most of the first lines such records? One that tells of a step is a trainer's own.
bool IsWrappedText(std::string_view head);

// What the record holds, in lines with marks that PeelPrefixes() takes off again; a line that is no
// record as it is. `text` is replaced; it ends without a newline.
void UnwrapLine(std::string_view line, std::string& text);

// The same of many lines, each with its end.
std::string UnwrapText(std::string_view text);

}  // namespace debrief

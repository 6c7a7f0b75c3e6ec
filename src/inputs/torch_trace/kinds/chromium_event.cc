// {"chromium_event": {}}: a phase of the compiler begins or ends; the payload is one trace event:
//
//   {"name": "dynamo", "ts": 1794709992158846.8, "args": {...}, "ph": "B", "cat": "dynamo_timed",
//    "tid": 0, "pid": 0}
//
// Its time is in microseconds since 1970, which also tells the year and zone of the log.
#include <cmath>

#include "inputs/torch_trace/kind.h"
#include "tables/compile_event.h"

namespace debrief::inputs::torch_trace::kinds::chromium_event {

namespace {

int64_t MicrosToNs(std::optional<double> micros) {
  if (!micros || std::abs(*micros) > 9e15) return kNone64;
  double whole = std::floor(*micros);
  return static_cast<int64_t>(whole) * 1000 + std::llround((*micros - whole) * 1000);
}

Status ReadPayload(std::string_view lines, Entry& entry) {
  thread_local JsonReader reader;
  TRY(reader.Open(lines));
  auto row = entry.NewRow<CompileEventRow>();
  TRY(reader.root().ForEachField([&](std::string_view key, JsonValue value) {
    auto text = [&] { return entry.Intern(value.String().value_or("")); };
    if (key == "name") row.name = text();
    if (key == "cat") row.category = text();
    if (key == "ph") row.phase = text();
    if (key == "ts") row.time_ns = MicrosToNs(value.Double());
    if (key == "dur") row.duration_ns = MicrosToNs(value.Double());
    if (key == "pid") row.pid = value.Int().value_or(kNone64);
    if (key == "tid") row.tid = value.Int().value_or(kNone64);
  }));
  constexpr int64_t kYear2001 = 1'000'000'000'000'000'000;  // smaller ones are no unix times
  if (row.time_ns != kNone64 && row.time_ns > kYear2001) entry.SetUnixTime(row.time_ns);
  entry.Add<CompileEventTable>(row);
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "chromium_event",
                             .sentence = "a phase of the compiler begins or ends",
                             .forgets_checksum = true,
                             .read_payload = ReadPayload};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::chromium_event

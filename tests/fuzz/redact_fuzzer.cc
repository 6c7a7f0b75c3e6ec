// Fuzzing of redaction: any bytes as text, pickle, compile log or binary format.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/source.h"
#include "base/check.h"
#include "fuzz_targets.h"
#include "redact/binary.h"
#include "redact/learner.h"
#include "redact/pickle_redactor.h"
#include "redact/text_redactor.h"
#include "redact/trace_log.h"

namespace debrief {

void FuzzRedact(std::span<const uint8_t> data) {
  if (data.empty()) return;
  const std::string bytes(data.begin() + 1, data.end());
  const auto source = MakeMemorySource(bytes);
  redact::Names names;
  redact::Learner(names).Learn(bytes);
  names.Settle();
  redact::Counts counts = {};
  redact::TextRedactor texts(names, {.shapes = (data[0] & 4) != 0, .files = (data[0] & 8) != 0},
                             counts);
  std::string out;
  const redact::Sink sink = [&](std::string_view piece) {
    out += piece;
    return Status();
  };
  switch (data[0] % 4) {
    case 0:
      return texts.Redact(bytes, out);
    case 1:
      (void)redact::RedactPickle(*source, texts, &names, counts, sink);
      return;
    case 2:
      (void)redact::RedactTraceLog(*source, texts, sink);
      return;
    default:
      (void)redact::HasPackedPackets(*source);
      DEBRIEF_CHECK(redact::RedactBinary(*source, texts, sink).ok());
      DEBRIEF_CHECK(out.size() == bytes.size());
  }
}

}  // namespace debrief

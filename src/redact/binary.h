// Binary formats whose strings cannot change their length: recordings and Perfetto traces.
#pragma once

#include "base/bytes/source.h"
#include "base/status.h"
#include "redact/chunks.h"
#include "redact/text_redactor.h"

namespace debrief::redact {

// Calls `found` with every run of printable bytes.
Status ForEachString(const Source& source, const Sink& found);

// All bytes but those of strings stay as they are. `texts` keeps lengths.
Status RedactBinary(const Source& source, TextRedactor& texts, const Sink& out);

// Whether packets of a Perfetto trace are packed: what is inside cannot be redacted then.
bool HasPackedPackets(const Source& source);

}  // namespace debrief::redact

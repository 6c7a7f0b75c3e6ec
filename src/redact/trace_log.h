// A TORCH_TRACE log, redacted. The checksum of a payload stands in the line before it and is what
// tells whole payloads from torn ones, so it is computed anew where the payload was whole.
#pragma once

#include "base/bytes/source.h"
#include "base/status.h"
#include "redact/chunks.h"
#include "redact/text_redactor.h"

namespace debrief::redact {

Status RedactTraceLog(const Source& source, TextRedactor& texts, const Sink& out);

}  // namespace debrief::redact

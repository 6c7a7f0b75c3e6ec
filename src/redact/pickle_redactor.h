// A pickle with the texts in it redacted. Opcodes are copied one by one; those of texts are written
// anew with their new length, and frames, which only say how many bytes follow, are left out, as
// Python allows. So the result is read as the original is, whatever lengths changed.
#pragma once

#include "base/bytes/source.h"
#include "base/status.h"
#include "redact/chunks.h"
#include "redact/names.h"
#include "redact/text_redactor.h"

namespace debrief::redact {

// A pickle that is cut gives what is whole of it. kUnsupported for opcodes that carry code,
// kInvalid for bytes that are no pickle, kLimit for texts above 256 MiB: such a file cannot be
// redacted. `shapes`: not null where numbers of tensor shapes are replaced, too.
Status RedactPickle(const Source& source, TextRedactor& texts, Names* shapes, Counts& counts,
                    const Sink& out);

// Calls `found` with every text.
Status ForEachPickledText(const Source& source, const Sink& found);

}  // namespace debrief::redact

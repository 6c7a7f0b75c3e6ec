// Payloads of TORCH_TRACE entries. In the log each line of a payload has a tab before it:
//
//   V1115 ... torch/x.py:1] {"artifact": {...}, "has_payload": "<md5>"}
//   <TAB>first line
//   <TAB>                          an empty line of the payload is a lone tab;
//                                  a line without even a tab is no line of it
//   <TAB>last line                 no line end behind the last
//
// The model keeps where these bytes lie; here they become the text that was logged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"

namespace debrief {

class CompileEntryTable;

// Appends the payload that `lines` are: tabs, empty lines and carriage returns before line ends
// left out. One pass at the speed of memcpy for long lines.
void AppendPayload(std::string_view lines, std::string& payload);

// The bytes of the log that hold the payload of row `row`, tabs included: for parsers to whom a tab
// at the beginning of a line means nothing (JSON). Empty when there is none.
Result<ByteView> PayloadLines(const Model& model, const CompileEntryTable& entries, size_t row);

// Replaces `payload` with the payload of row `row`; empty when it has none.
Status ReadPayload(const Model& model, const CompileEntryTable& entries, size_t row,
                   std::string& payload);

// The same for those who show a beginning: at most `most` bytes of the log are read.
Status ReadPayloadStart(const Model& model, const CompileEntryTable& entries, size_t row,
                        int64_t most, std::string& payload);

// The line of the entry, without its end.
Result<ByteView> HeaderLine(const Model& model, const CompileEntryTable& entries, size_t row);

}  // namespace debrief

// Logs that went through a launcher or a container, which put a mark before each line:
//
//   [default0]:V1115 02:42:22.605000 3829 torch/_dynamo/utils.py:2126] {"artifact": {...}}
//   [default1]:V1115 02:42:22.605000 3830 torch/_dynamo/utils.py:2126] {"artifact": {...}}
//   [default0]:<TAB>first line of its payload
//
// The mark says whose line it is, so ranks that wrote at once are taken apart line by line. Rows
// refer to what stands behind the marks: payloads are lists of pieces, one a line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes/source.h"
#include "base/status.h"
#include "inputs/torch_trace/entry.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief::inputs::torch_trace {

// How lines are marked, when most lines of entries and payloads in the head of a log are.
std::optional<PrefixStyle> MarksOf(std::string_view head);

// Reads the whole log, in windows: memory is what entries take that wait for lines of theirs, at
// most 64 MiB. Entries come in the order of their first lines.
Status ReadPrefixed(const LogIdentity& log, int64_t now_ns, const PrefixStyle& style,
                    const Source& source, Part& part);

}  // namespace debrief::inputs::torch_trace

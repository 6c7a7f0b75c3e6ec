// Loggers that put the rank into the head of each line, each in its own way:
//
//   [2026-11-15 23:22:09,590][rank 5/8][INFO] text
//   2026-11-15 23:22:09 | rank5 | ERROR | text
//   2026-11-15 23:22:09,590 - rank=5 - INFO - text
//   (rank 5) text
//
// Prose speaks of ranks, too: it is a head where most lines have one, between marks that set it
// apart.
#pragma once

#include <string_view>

#include "torch/prefixes/line_prefix.h"

namespace debrief {

// Do most lines of the text have such a head, behind the marks of `style`?
bool HasRankHeads(std::string_view head, const PrefixStyle& style = {});

// Takes the head off: rank and time. What is indented behind it stays so.
bool TakeRankHead(PeeledLine& line);

}  // namespace debrief

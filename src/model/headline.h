// The headline of a finding: one sentence of at most 100 characters (docs/verdict.md).
#pragma once

#include <string>
#include <string_view>

#include "model/finding.h"

namespace debrief {

inline constexpr size_t kLongestHeadline = 100;  // characters

// The first sentence of the first line of `text` where that has at most `width` characters, else as
// many whole words of the line as fit, with "..." behind them. For the texts of exceptions.
std::string ShortText(std::string_view text, size_t width = 60);

// "/home/me/runs/7/config.json" -> ".../config.json": where a sentence is too long, the folders of
// a path say least.
std::string WithShortPaths(std::string_view text);

// "[[16, 256]]" becomes "[16, 256]". A headline that is longer, as names and texts of inputs can
// make any of them, loses its last clauses, or the words at its end; as it was, it becomes the
// first evidence.
void BoundHeadline(Finding& finding);

}  // namespace debrief

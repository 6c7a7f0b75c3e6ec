// Sentences made shorter without losing their point: cut between clauses, or else between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace debrief {

// As many whole words of `text` as fit `width` columns, with "..." behind them. A single long word,
// a name for example, is cut where it is.
std::string CutAtWord(std::string_view text, size_t width);

// `text` without its last clauses, so that it fits `width` columns; whole words and "..." where no
// clause ends behind the first half. What stands in brackets or quotes is never halved.
std::string CutAtClause(std::string_view text, size_t width);

// Words of `text` in at most `most` lines of `width` columns. Where there is more: of one line its
// first clauses, of several whole words with "..." behind them.
std::vector<std::string> WrapAtMost(std::string_view text, size_t width, size_t most);

}  // namespace debrief

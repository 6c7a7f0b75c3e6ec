// Lines that a terminal broke at its width, as a capture of a screen keeps them (script, tmux,
// a copy out of a web console):
//
//   [rank1]:[E1115 23:22:28.258 ProcessGroupNCCL.cpp:689] [Rank 1] Watchdog caught c
//   ollective operation timeout: WorkNCCL(SeqNum=38, OpType=ALLREDUCE, NumelIn=1, Nu
//   melOut=1, Timeout(ms)=600000) ran for 600089 milliseconds before timing out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace debrief::inputs::job_text {

struct RowWidth {
  size_t columns = 0;    // 0: no line was broken
  bool is_sure = false;  // else a row that says something by itself begins a line
};

// The width at which lines of the text were broken: no row is wider, and several that have nothing
// else in common have just that width, or few whose last word goes on in the next row. Rows of
// tables, bars and steps of a training loop have one width as well, but begin or end alike.
RowWidth WidthOfRows(std::string_view text);

// Is it as wide as the terminal? What fills the width by itself is not: a bar, a row of a table.
bool IsFull(std::string_view row, RowWidth width);

// Does `row` begin a line, also behind one that fills its row? `line` is what the row would be put
// behind.
bool BeginsLine(std::string_view row, std::string_view line, bool is_sure);

// Is it as wide as the terminal? What fills the width by itself is not: a bar, a row of a table.
bool IsFull(std::string_view row, RowWidth width);

// The lines of the text.
std::string UnwrapRows(std::string_view text, RowWidth width);

}  // namespace debrief::inputs::job_text

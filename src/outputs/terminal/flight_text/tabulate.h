// Tables as Python's `tabulate` prints them in its default format ("simple").
//
//   id                     desc          size
//   ---------------------  ----------  ------
//   0574461802094412880    default_pg       8
//
// Columns whose cells are all whole numbers are right-aligned, everything else is left-aligned, a
// column is two wider than its header, and blanks at the end of a line are dropped. Without headers
// there is a rule above and below. Cells are text here: what Python would print for the value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace debrief::outputs::flight_text {

using Cell = std::optional<std::string>;  // none: Python's None
using Rows = std::vector<std::vector<Cell>>;

std::string Tabulate(const std::vector<std::string>& headers, const Rows& rows);

// A text, and a list of texts, as Python's repr() writes them.
std::string PythonText(std::string_view text);
std::string PythonList(const std::vector<std::string_view>& texts);

}  // namespace debrief::outputs::flight_text

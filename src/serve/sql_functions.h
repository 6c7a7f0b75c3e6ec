// Which functions a statement may call: those that read what is in the store.
//
// DuckDB has table functions that a SELECT may call and that do more: enable_logging() writes files
// and stays on for every later statement, checkpoint() changes the store, arrow_scan() reads memory
// by address. So table functions are allowed by name, and one that a later version adds is not; of
// the other functions all are allowed but those that act outside of their result. DuckDB parses
// the statement itself (json_serialize_sql), which calls nothing.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief::serve {

// A statement that gives the syntax tree of `sql` as JSON.
std::string ParseSql(std::string_view sql);

// kUsage when the tree calls what is not allowed, or is none: only what reads has one.
Status CheckFunctions(std::string_view tree);

}  // namespace debrief::serve

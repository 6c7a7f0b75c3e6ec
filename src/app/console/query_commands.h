// What `debrief query` understands beside SQL: lines that begin with a dot, as other shells of SQL
// have them, and the names that Tab completes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "outputs/store/query.h"

namespace debrief {

// ".tables", ".mode csv", ...: whether `statement` is one, whatever stands around it.
bool IsDotCommand(std::string_view statement);

struct DotCommand {
  std::string sql;         // rows to print; empty: none
  std::string text;        // to print as it is
  std::string format;      // from now on; empty: as before
  bool has_ended = false;  // .quit
};

// kUsage with the commands there are when it is none of them. Counts the rows of every table.
Result<DotCommand> ReadDotCommand(std::string_view statement, outputs::store::Database& database);

// Tables, their columns and dot commands that begin with `start`, tables first.
std::vector<std::string> CompleteName(std::string_view start);

// Of --format and .mode.
std::vector<std::string> QueryFormats();
outputs::store::QueryFormat FormatOf(std::string_view name);

}  // namespace debrief

// `debrief flight -o FILE`: the flat database as .json or .duckdb.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "outputs/terminal/flight_text/database.h"

namespace debrief {

// kUsage when the name ends in neither.
Status CheckDatabaseName(const std::string& path);

// DuckDB is loaded only for .duckdb. The file appears when it is whole.
Status WriteFlatDatabase(const std::vector<outputs::flight_text::FlatTable>& tables,
                         const std::string& path);

}  // namespace debrief

// `debrief flight -o FILE`: the flat database as .json, .duckdb or, of any other name, a pickle.
#pragma once

#include <string>

#include "base/status.h"
#include "outputs/terminal/flight_text/flight_text.h"

namespace debrief {

// kUsage for stdout.
Status CheckDatabaseName(const std::string& path);

// DuckDB is loaded only for .duckdb. The file appears when it is whole.
Status WriteFlatDatabase(const Model& model, const outputs::flight_text::FlightTextOptions& options,
                         bool compat, const std::string& path);

}  // namespace debrief

// The analyzer's tables: entries by rank (-j), and its flat database (-v).
#pragma once

#include "outputs/terminal/flight_text/analyzer.h"
#include "outputs/terminal/flight_text/flight_text.h"

namespace debrief::outputs::flight_text {

Status WriteEntryTable(const Model& model, const FlightTextOptions& options, Dumps& dumps,
                       const Log& log);

// Groups, Memberships, Collectives, NCCLCalls.
void WriteDatabaseTables(const Model& model, const Dumps& dumps, const Database& db,
                         const Log& log);

}  // namespace debrief::outputs::flight_text

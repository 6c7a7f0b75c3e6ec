// What analyses/flight found (tables comm_match and comm_call), in the form of the analyzer's
// database. The entry that speaks for a match is the majority's, so that the ranks named are those
// that differ from most and not, as in the analyzer, from whichever rank came first.
#pragma once

#include <map>
#include <vector>

#include "outputs/terminal/flight_text/analyzer.h"
#include "outputs/terminal/flight_text/flight_text.h"

namespace debrief::outputs::flight_text {

bool HasMatches(const Model& model);

// Rows of comm_op that belong to each match, by its number.
std::map<int64_t, std::vector<size_t>> OpsByMatch(const Model& model);

// Row `match` of comm_match, to which `rows` of comm_op (at least one) belong.
Collective CollectiveOfMatch(const Model& model, size_t match, const std::vector<size_t>& rows);

// Every match of one attempt that has entries, and every entry that has a match.
Database DatabaseOfMatches(const Model& model, const Dumps& dumps);

// The database of our matching; the analyzer's own with `compat` or where ours did not run.
Result<Database> FindDatabase(const Model& model, const Dumps& dumps,
                              const FlightTextOptions& options, bool compat);

}  // namespace debrief::outputs::flight_text

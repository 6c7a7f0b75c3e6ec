// What PyTorch's Flight Recorder analyzer (torchfrtrace) prints, from our tables: `debrief flight
// --compat` and `-j`.
//
//   WriteEntries   -j: one column a rank, one row an entry
//   WriteCompat    its own analysis (analyzer.h), its blocks and, verbose, its four tables
//
// Texts are the analyzer's, byte for byte where its own are the same from run to run;
// docs/compat.md lists what differs. An exception of the analyzer comes back as the Status, with
// the last line of its traceback.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "compat/torchfrtrace/analyzer.h"
#include "model/model.h"
#include "outputs/output.h"

namespace debrief::outputs::flight_text {

struct FlightTextOptions {
  bool strict = false;  // fail where the analyzer fails: --compat
  bool verbose = false;
  bool print_stacks = false;
  bool allow_incomplete_ranks = false;
  int64_t mismatch_cap = 10;
  bool transform_ft = false;
  int32_t group_world_size = 0;
  std::vector<int32_t> selected_ranks;  // -j: only these; empty: all
  std::vector<std::string> pg_filters;  // -j: only entries of these groups; empty: all
  std::vector<int32_t> rank_order;      // ranks to take first; for tests
  std::string load_note;                // verbose: the line about loading
};

Status WriteEntries(const Model& model, const FlightTextOptions& options, TextSink& sink);
Status WriteCompat(const Model& model, const FlightTextOptions& options, TextSink& sink);

// How the dumps of an attempt are loaded under these options.
LoadOptions LoadOptionsOf(const FlightTextOptions& options, std::pair<int32_t, int32_t> attempt);

// Groups, Memberships, Collectives, NCCLCalls.
void WriteDatabaseTables(const Model& model, const Dumps& dumps, const Database& db,
                         const Log& log);

}  // namespace debrief::outputs::flight_text

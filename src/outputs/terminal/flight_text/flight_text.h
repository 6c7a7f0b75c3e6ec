// What PyTorch's Flight Recorder analyzer (torchfrtrace) prints, from our tables.
//
//   WriteEntries   -j: one column a rank, one row an entry
//   WriteCompat    its own analysis, its blocks and, verbose, its four tables
//   WriteDetails   the same blocks for what our matching found (table comm_match)
//   WriteTables    its four tables for what our matching found
//
// Texts are the analyzer's, byte for byte where its own are the same from run to run;
// docs/compat.md lists what differs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
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

const Output& Describe();

// An exception of the analyzer comes back as the Status, with the last line of its traceback.
Status WriteEntries(const Model& model, const FlightTextOptions& options, TextSink& sink);
Status WriteCompat(const Model& model, const FlightTextOptions& options, TextSink& sink);

// Blocks for every match that is incomplete or whose members disagree, and the tables of coalesced
// regions: those that do not match, all of them when verbose. The analyzer's own when there is no
// matching of ours.
Status WriteDetails(const Model& model, const FlightTextOptions& options, TextSink& sink);
Status WriteTables(const Model& model, const FlightTextOptions& options, TextSink& sink);

}  // namespace debrief::outputs::flight_text

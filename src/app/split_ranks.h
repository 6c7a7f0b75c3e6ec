// --split-ranks: one clean log a rank out of a log in which several are mixed.
#pragma once

#include <string>

#include "model/model.h"

namespace debrief {

// Writes DIR/dedicated_log_torch_trace_rank_<R>.log for every rank, and ..._no_rank.log for entries
// of threads that never name one. Lines that are no entries are left out.
Status SplitRanks(const Model& model, const std::string& folder);

// What of the logs is in none of these files, or not whole; empty when nothing was lost.
std::string DescribeLosses(const Model& model);

}  // namespace debrief

// Reads all found inputs into a model.
#pragma once

#include <functional>
#include <vector>

#include "base/bytes/spill.h"
#include "base/threads/progress.h"
#include "base/threads/thread_pool.h"
#include "inputs/found_input.h"
#include "model/model.h"

namespace debrief {

struct ImportOptions {
  int64_t now_ns = 0;       // for formats whose times have no year
  bool keeps_args = false;  // of timelines: what has no column, too (table timeline_args)
  // For tests: everything is read again in chunks of these sizes, which must change nothing.
  std::vector<uint64_t> check_chunk_bytes = {};
};

// Inputs are opened and read in parallel, files beside each other and ranges inside a file, and
// joined in their order. Fills the table `input`; identities must be assigned.
void ImportAll(std::vector<FoundInput>& inputs, const ImportOptions& options, ThreadPool& pool,
               SpillBudget& budget, Progress& progress, Model& model);

// Split, Read and Merge of one source, for ImportAll and for fuzzers. What was read before an error
// is in `whole`. `on_range` hears of every range that was read, in order, on this thread.
Status ImportSource(Reader& reader, const Source& source, ThreadPool& pool, Part& whole,
                    const std::function<void(uint64_t bytes)>& on_range = {});

}  // namespace debrief

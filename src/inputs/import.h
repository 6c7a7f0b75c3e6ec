// Reads all found inputs into a model.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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
  bool ops_alone = false;   // of recordings: recorded ops and memory, no timeline
  // For tests: everything is read again in chunks of these sizes, which must change nothing.
  std::vector<uint64_t> check_chunk_bytes = {};
};

// What one input gave.
struct Imported {
  Part part;
  std::unique_ptr<Source> source;
};

// Reads one input, whose identity must be assigned, and sets what became of it. Its notes become
// diagnostics. `on_bytes` hears of bytes as they lie on disk once they are read, from any thread.
Imported ImportInput(FoundInput& input, const ImportOptions& options, ThreadPool& pool,
                     SpillBudget& budget, const std::function<void(uint64_t bytes)>& on_bytes);

// Notes of a found input, as diagnostics of its part.
void TakeNotes(FoundInput& input, Part& part);

// Payloads of compile logs stay where they are and are read again; of all else the tables have
// everything.
bool KeepsSource(const FoundInput& input);

// Joins what `import` gives for each input, called from many threads, in the order of inputs. Fills
// the table `input`.
void JoinAll(std::vector<FoundInput>& inputs, ThreadPool& pool,
             const std::function<Imported(size_t input)>& import, Model& model);

// Inputs are opened and read in parallel, files beside each other and ranges inside a file, and
// joined in their order. Fills the table `input`; identities must be assigned.
void ImportAll(std::vector<FoundInput>& inputs, const ImportOptions& options, ThreadPool& pool,
               SpillBudget& budget, Progress& progress, Model& model);

// Split, Read and Merge of one source, for ImportAll and for fuzzers. What was read before an error
// is in `whole`. `on_range` hears of every range that was read, in order, on this thread.
Status ImportSource(Reader& reader, const Source& source, ThreadPool& pool, Part& whole,
                    const std::function<void(uint64_t bytes)>& on_range = {});

}  // namespace debrief

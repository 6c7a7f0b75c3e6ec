// debrief accel as a function: files in, files out.
#pragma once

#include <string>

#include "accel/options.h"
#include "accel/run.h"
#include "base/status.h"

namespace debrief::accel {

struct Outcome {
  size_t ingested = 0;  // good events of the inputs
  size_t exported = 0;
  bool wrote_trace = false;
};

// Reads, runs all passes and writes the main output and the files beside it. A Status when the
// options, the profile or the outputs are at fault; when no event is good, nothing is written and
// `wrote_trace` stays false.
Result<Outcome> Process(Options options, Console& console, ThreadPool& threads,
                        const std::string& temporary_folder);

// Where the main output goes: with --tb, `.json` becomes `.pt.trace.json`.
std::string TracePath(const Options& options);

}  // namespace debrief::accel

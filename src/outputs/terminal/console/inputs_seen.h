// What was given and what of it was read, in the words that people use for it: dumps, outputs,
// compile logs, profiles. The one count for the verdict's first line and for the line of inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::outputs::console {

// The inputs that have one noun.
struct InputsOfKind {
  size_t read = 0;
  size_t repeated = 0;  // another file of the rank has the same
  size_t unread = 0;    // recognised only, skipped or failed
  size_t failed = 0;    // of these
  std::set<int32_t> ranks;
};

struct InputsSeen {
  std::map<std::string, InputsOfKind> kinds;  // by noun
  std::set<int32_t> ranks;                    // of inputs that were read
  size_t unread = 0;
  size_t damaged = 0;
  bool has_dumps = false;
  bool has_outputs = false;
  bool has_read = false;  // anything
};

// `job` kNone32: of all inputs.
InputsSeen LookAtInputs(const Model& model, int32_t job);

// "Flight Recorder dump" of "flight_recorder"; of a kind without a noun "flex file".
std::string NounOf(std::string_view kind);

// "8 Flight Recorder dumps, 2 profiles and 16 outputs": what was read.
std::string ReadInWords(const InputsSeen& seen);

// The same for the line of inputs: with what was not read, and the ranks of a kind where they are
// not those of all.
std::string InputsInWords(const InputsSeen& seen);

}  // namespace debrief::outputs::console

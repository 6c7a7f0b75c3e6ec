// Reads entries of a log into rows and notes.
//
// One pass: a line is found, its prefix and JSON are read, the lines of its payload are skipped
// over and summed. Payloads are not copied, but for the checksum.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "inputs/torch_trace/entry.h"

namespace debrief::inputs::torch_trace {

// One range, which begins with the line of an entry. `text` lies at `offset` of the log.
void ReadRange(const LogIdentity& log, int64_t now_ns, std::string_view text, uint64_t offset,
               Part& part);

// Where a line stands in the log, behind what a launcher put before it.
struct LinePlace {
  int64_t offset = 0;
  int64_t number = 0;  // from 1
  int64_t bytes = 0;   // with its end, where it has one
};

// Reads entries whose lines do not follow each other in the log, one text after the other.
class EntryReader {
 public:
  EntryReader(const LogIdentity& log, int64_t now_ns, Part& part);
  ~EntryReader();

  // An entry and its payload, each line as it stands in the log from its place on; kPadding bytes
  // follow the text.
  void Read(std::string_view text, std::span<const LinePlace> places);
  // Lines of the log in all.
  void SetLines(int64_t lines);

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace debrief::inputs::torch_trace

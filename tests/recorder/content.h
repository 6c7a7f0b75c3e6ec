// Records whose whole content follows from who wrote them and which of his records they are, so
// that a reader can prove that none is missing, changed or in the wrong place.
//
// Worker w marks his records with the device "device w"; his record i is of a kind that is drawn
// from (w, i), and its numbers and its name are made of i. All kinds that the recorder has occur.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "debrief/recorder.h"
#include "recorder/reader.h"

namespace debrief::recorder::test {

enum class Load {
  kMixed,  // all kinds, a new name every 256 records
  kNames,  // instants, each with a name of its own
  kLong,   // ops that need kMore records, three to a chunk
};

class Writer {
 public:
  Writer(uint64_t worker, Load load) : worker_(worker), load_(load) {}
  // Record `ordinal`; ordinals need not begin at 0.
  void Write(uint64_t ordinal);

 private:
  dbr_id NameOf(uint64_t ordinal);

  uint64_t worker_;
  Load load_;
  bool started_ = false;
  uint64_t block_ = ~uint64_t{0};
  dbr_id name_ = 0;
};

struct Worker {
  uint64_t first = 0;  // ordinal of his first record in the file
  uint64_t count = 0;  // records in the file
  uint32_t tid = 0;
};

struct Found {
  std::vector<Worker> workers;
  uint64_t wrong = 0;    // problems of the reader, and records that are not what they should be
  uint64_t strange = 0;  // records of nobody: those of signal handlers
  uint64_t noted = 0;    // in loss records
  uint64_t dropped = 0;
  uint64_t overwritten = 0;
  bool closed = false;

  uint64_t total() const;
};

// Reads a recording and compares every record with what it has to be. `from`: the first ordinal of
// every worker, or kAny: the first that is there (a ring).
inline constexpr uint64_t kAny = ~uint64_t{0};
Found Verify(std::span<const std::byte> bytes, uint64_t workers, Load load, uint64_t from);
Found VerifyFile(const std::string& path, uint64_t workers, Load load, uint64_t from);

}  // namespace debrief::recorder::test

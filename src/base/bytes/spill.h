// Turning a stream into a Source: into memory while it is small, else into a temporary file that
// has no name and vanishes with the process, however that ends. All streams of a run share one
// file: there may be more of them than a process may have files open.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/bytes/byte_stream.h"
#include "base/bytes/source.h"
#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

// What all spilled streams of a run may use together. Any thread; must outlive the sources and
// views.
struct SpillBudget {
  std::string folder;                               // for the temporary files
  uint64_t max_stream_memory = uint64_t{8} << 20;   // a longer stream goes to disk
  uint64_t max_memory_bytes = uint64_t{256} << 20;  // all streams in memory
  uint64_t max_disk_bytes = uint64_t{64} << 30;     // all streams on disk
  std::atomic<uint64_t> memory_used = 0;
  std::atomic<uint64_t> disk_used = 0;

  std::mutex file_mutex;                      // of what follows
  std::shared_ptr<const UniqueFd> file = {};  // made when the first stream needs it
  std::atomic<uint64_t> file_end = 0;
};

struct Spilled {
  std::unique_ptr<Source> source;  // never null
  Status trouble;                  // what ended the stream early; `source` has all bytes before it
};

// Reads `in` to its end. Trouble is that of `in`, or kLimit, kNoSpace, kIo of the temporary file.
// The budget gets the bytes back when the source (in memory: and its last view) dies.
Spilled Spill(ByteStream& in, SpillBudget& budget);

}  // namespace debrief

// The one recording of the process: file, chunks and names under one lock, taken once in 64 KiB of
// records.
#pragma once

#include <limits.h>
#include <pthread.h>

#include "debrief/recorder.h"
#include "recorder/dictionary.h"

namespace debrief::recorder {

struct Recording {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  bool open = false;
  bool forked = false;  // in a child whose own file is not made yet
  dbr_options options = {};
  uint64_t max_chunks = 0;
  FileSink file;
  ChunkPool pool;
  Dictionary dictionary;
  char path[PATH_MAX] = {};
};

extern constinit Recording recording;
// How many recordings were opened; also says to a thread or a site that what it keeps is of an
// older one.
extern constinit uint32_t recording_number;
// Records that came from a signal handler in the middle of a thread's first record.
extern constinit uint64_t interrupted;

class Lock {
 public:
  Lock() { pthread_mutex_lock(&recording.lock); }
  ~Lock() { pthread_mutex_unlock(&recording.lock); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
};

// With the lock held. 0 or an errno.
int OpenRecording(const char* path, uint32_t parent_pid);
// With the lock held: makes the file of a forked child when that is still to do. False: there is
// none.
bool EnsureOwnFile();
void CloseRecording();

}  // namespace debrief::recorder

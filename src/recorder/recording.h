// The one recording of the process: file, chunks and names under one lock, taken once in 64 KiB of
// records.
#pragma once

#include <limits.h>
#include <pthread.h>

#include "debrief/recorder.h"
#include "recorder/dictionary.h"
#include "recorder/helper.h"

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
  Helper helper;
  char path[PATH_MAX] = {};
};

extern constinit Recording recording;
// Goes up when a recording is opened and when it is closed; says to a thread or a site that what it
// keeps is of an older one.
extern constinit uint32_t recording_number;
// Records from signal handlers that could be counted nowhere else; added to the file's count when
// the lock is next held.
extern constinit uint64_t interrupted;
// The calling thread has the lock, or waits for it: a signal handler must not.
extern thread_local constinit bool thread_has_lock __attribute__((tls_model("initial-exec")));

class Lock {
 public:
  Lock() : held_(!thread_has_lock) {
    if (!held_) return;
    thread_has_lock = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    pthread_mutex_lock(&recording.lock);
  }
  ~Lock() {
    if (!held_) return;
    pthread_mutex_unlock(&recording.lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_has_lock = false;
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  // False in a signal handler that interrupted this thread while it had the lock.
  bool held() const { return held_; }

 private:
  bool held_;
};

// All of these with the lock held.
// 0 or an errno.
int OpenRecording(const char* path, uint32_t parent_pid);
// Makes the file of a forked child when that is still to do. False: there is none.
bool EnsureOwnFile();
void CloseRecording();
void FoldInterrupted();
// Without a mapping: writes a chunk of so many records, and the names they use, to the file.
void SaveChunk(const ChunkHeader* chunk, uint32_t records);

struct SnapshotResult {
  bool open;  // was there a recording
  int error;  // errno of the copy
};

// Copies what is published of the open recording to another file, while threads go on recording.
// The lock is held for one chunk at a time (64 KiB), so a thread that changes chunks waits
// microseconds.
SnapshotResult WriteSnapshot(int fd);

}  // namespace debrief::recorder

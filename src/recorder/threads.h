// What the recorder keeps of every thread that records, and how a recording is taken away from
// under them.
//
// States are never freed, only given to the next thread: whoever closes a recording may look at all
// of them. A thread says that it is inside with a plain store; the closer makes up for the missing
// fence with membarrier(2), which costs it microseconds and the threads nothing.
#pragma once

#include "recorder/format.h"

namespace debrief::recorder {

enum Whereabouts : uint32_t {
  kOutside = 0,
  kInside = 1,   // a record is being written
  kWaiting = 2,  // for the lock or for a chunk; touches no mapping without the lock
};

struct alignas(128) ThreadState {
  uint64_t* words;     // payload of the chunk
  ChunkHeader* chunk;  // null before the first record
  uint64_t before;     // HeadWord() of the chunk without the published bytes
  uint32_t at;         // words published
  uint32_t limit;      // words that fit
  uint32_t number;     // of the recording that the chunk belongs to
  uint32_t track;
  uint32_t where;     // Whereabouts; not kOutside: a record from a signal handler would land in the
                      // same place
  uint32_t records;   // in the chunk
  uint64_t* dropped;  // where this thread counts what it cannot write; null before the first record
  uint32_t tid;
  bool used;
  ThreadState* next_free;
};

// initial-exec and constinit: one addition to a register, no call and no test.
extern thread_local constinit ThreadState* thread_state __attribute__((tls_model("initial-exec")));

// With the recording's lock held, before the first thread: false when ends of threads could not be
// noticed.
bool PrepareThreads();
// With the lock held: gives the calling thread a state, or null.
ThreadState* AdoptThread();
// With the lock held: waits until no thread is inside a record that began before. False when one is
// still there after a tenth of a second, when it is the calling thread itself (a signal handler),
// or when the kernel has no membarrier(2).
bool WaitUntilOutside();
// In a forked child: the other threads are not there, and the chunk of this one is the parent's.
void ForgetThreads();

}  // namespace debrief::recorder

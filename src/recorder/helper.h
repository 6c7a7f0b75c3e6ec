// A thread of the recorder's own that allocates and touches chunks before they are needed, and
// syncs the file every so many seconds when that was asked for.
//
// It is woken once in eight chunks (22 000 spans) and sleeps otherwise; all signals are blocked in
// it. It takes no lock of the recording, so it may be joined with that lock held. A forked child
// has none until it makes its own file.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "recorder/file_sink.h"

namespace debrief::recorder {

class Helper {
 public:
  // 0 or an errno; without a helper everything works, only later.
  int Start(FileSink* file, uint32_t sync_seconds);
  void Stop();
  // In a forked child, which does not have the thread.
  void Forget();
  bool running() const { return running_; }

  // Makes chunks [0, count) ready, and those of `again`, which were there before and may have been
  // written back by the kernel meanwhile: the next store to such a page is a fault.
  static constexpr unsigned kAgain = 16;
  void Ask(uint64_t count, ChunkHeader* const* again, unsigned again_count);

 private:
  static void* Run(void* self);
  bool stopping() const { return __atomic_load_n(&stop_, __ATOMIC_ACQUIRE) != 0; }
  void PlanSync();
  bool SyncIsDue() const;
  bool Wait();
  void Prepare();

  FileSink* file_ = nullptr;
  pthread_t thread_ = {};
  sem_t wake_ = {};
  timespec next_sync_ = {};
  uint32_t sync_seconds_ = 0;
  uint32_t stop_ = 0;
  uint32_t pending_ = 0;
  uint64_t count_ = 0;
  ChunkHeader* again_[kAgain] = {};
  bool running_ = false;
};

}  // namespace debrief::recorder

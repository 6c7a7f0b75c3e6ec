#include "recorder/helper.h"

#include <errno.h>
#include <signal.h>

namespace debrief::recorder {

int Helper::Start(FileSink* file, uint32_t sync_seconds) {
  file_ = file;
  sync_seconds_ = sync_seconds;
  stop_ = pending_ = 0;
  count_ = 0;
  for (ChunkHeader*& chunk : again_) chunk = nullptr;
  if (sem_init(&wake_, 0, 0) != 0) return errno;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&thread_, nullptr, Run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  running_ = error == 0;
  return error;
}

void Helper::Stop() {
  if (!running_) return;
  __atomic_store_n(&stop_, 1, __ATOMIC_RELEASE);
  sem_post(&wake_);
  pthread_join(thread_, nullptr);
  sem_destroy(&wake_);
  running_ = false;
}

void Helper::Forget() { running_ = false; }

void Helper::Ask(uint64_t count, ChunkHeader* const* again, unsigned again_count) {
  if (!running_) return;
  __atomic_store_n(&count_, count, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < again_count && i < kAgain; ++i) {
    __atomic_store_n(&again_[i], again[i], __ATOMIC_RELAXED);
  }
  if (__atomic_exchange_n(&pending_, 1, __ATOMIC_ACQ_REL) == 0) sem_post(&wake_);
}

void* Helper::Run(void* self) {
  auto* helper = static_cast<Helper*>(self);
  pthread_setname_np(pthread_self(), "debrief");
  helper->PlanSync();
  for (;;) {
    const bool asked = helper->Wait();
    if (helper->stopping()) return nullptr;
    if (asked) helper->Prepare();
    if (!helper->SyncIsDue()) continue;
    helper->file_->Sync();
    helper->PlanSync();
  }
}

void Helper::PlanSync() {
  clock_gettime(CLOCK_MONOTONIC, &next_sync_);
  next_sync_.tv_sec += sync_seconds_;
}

bool Helper::SyncIsDue() const {
  if (sync_seconds_ == 0) return false;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec > next_sync_.tv_sec ||
         (now.tv_sec == next_sync_.tv_sec && now.tv_nsec >= next_sync_.tv_nsec);
}

// False when the time for a sync has come.
bool Helper::Wait() {
  for (;;) {
    const int result =
        sync_seconds_ == 0 ? sem_wait(&wake_) : sem_clockwait(&wake_, CLOCK_MONOTONIC, &next_sync_);
    if (result == 0) return true;
    if (errno == ETIMEDOUT) return false;
  }
}

void Helper::Prepare() {
  // From here on a new question wakes us again; what was asked before is seen by what follows.
  __atomic_exchange_n(&pending_, 0, __ATOMIC_ACQ_REL);
  for (ChunkHeader*& chunk : again_) {
    ChunkHeader* next = __atomic_exchange_n(&chunk, nullptr, __ATOMIC_RELAXED);
    if (next != nullptr) FileSink::Touch(next, kChunkBytes);
  }
  while (!stopping() && file_->TouchNext(__atomic_load_n(&count_, __ATOMIC_RELAXED))) {
  }
}

}  // namespace debrief::recorder

#include "recorder/threads.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/clock.h"
#include "recorder/recording.h"
#include "recorder/writer.h"

namespace debrief::recorder {

thread_local constinit ThreadState* thread_state __attribute__((tls_model("initial-exec"))) =
    nullptr;

namespace {

constexpr uint64_t kPatienceNs = 100'000'000;
constexpr unsigned kStatesInBlock = 31;

struct Block {
  ThreadState states[kStatesInBlock];
  alignas(128) Block* next;
};
static_assert(sizeof(Block) == 4096);

constinit Block* blocks = nullptr;
constinit ThreadState* free_states = nullptr;
constinit pthread_key_t key = 0;
constinit bool key_made = false;

void Free(ThreadState& state) {
  state = {};
  state.next_free = free_states;
  free_states = &state;
}

// mmap rather than malloc: a thread's first record may come from a signal handler.
bool AddBlock() {
  void* memory =
      mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* block = static_cast<Block*>(memory);
  block->next = blocks;
  blocks = block;
  for (ThreadState& state : block->states) Free(state);
  return true;
}

void EndThread(void* ending) {
  auto& state = *static_cast<ThreadState*>(ending);
  const Lock lock;
  if (!lock.held()) return;
  thread_state = nullptr;
  ReleaseChunk(state);
  Free(state);
}

bool IsInside(const ThreadState& state) {
  return __atomic_load_n(&state.where, __ATOMIC_ACQUIRE) == kInside;
}

bool WaitForThread(const ThreadState& state, uint64_t until) {
  while (IsInside(state)) {
    if (&state == thread_state || MonotonicNow() > until) return false;
    sched_yield();
  }
  return true;
}

bool FenceAllThreads() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

bool PrepareThreads() {
  // Harmless when it is done already; where it fails nothing is ever unmapped.
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (!key_made) key_made = pthread_key_create(&key, EndThread) == 0;
  return key_made;
}

ThreadState* AdoptThread() {
  if (!key_made || (free_states == nullptr && !AddBlock())) return nullptr;
  ThreadState* state = free_states;
  if (pthread_setspecific(key, state) != 0) return nullptr;
  free_states = state->next_free;
  *state = {.tid = static_cast<uint32_t>(syscall(SYS_gettid)), .used = true};
  thread_state = state;
  return state;
}

bool WaitUntilOutside() {
  if (!FenceAllThreads()) return false;
  const uint64_t until = MonotonicNow() + kPatienceNs;
  for (const Block* block = blocks; block != nullptr; block = block->next) {
    for (const ThreadState& state : block->states) {
      if (!WaitForThread(state, until)) return false;
    }
  }
  return true;
}

void ForgetThreads() {
  for (Block* block = blocks; block != nullptr; block = block->next) {
    for (ThreadState& state : block->states) {
      if (state.used && &state != thread_state) Free(state);
    }
  }
  if (thread_state == nullptr) return;
  *thread_state = {.number = thread_state->number,
                   .track = thread_state->track,
                   .tid = static_cast<uint32_t>(syscall(SYS_gettid)),
                   .used = true};
}

}  // namespace debrief::recorder

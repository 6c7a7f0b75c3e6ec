// One life of a program that records, seen from outside: a page that it shares with us says what it
// had published.
#pragma once

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "content.h"

namespace debrief::recorder::test {

inline constexpr uint64_t kMaxWorkers = 64;

// Written by the child, each number after the call that it counts has returned.
struct Shared {
  uint64_t published[kMaxWorkers];
  uint64_t of_child[kMaxWorkers];  // the same, of a child of the child
  uint64_t child_pid;
  uint64_t handled;  // records of signal handlers, whatever became of them
  dbr_losses losses;
  uint64_t maps_before, maps_after, pages_before, pages_after;

  uint64_t total() const {
    uint64_t sum = 0;
    for (const uint64_t count : published) sum += count;
    return sum;
  }
};

inline Shared* MakeShared() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Shared*>(memory);
}

// Runs `body` in a process of its own.
inline pid_t Start(auto&& body) {
  fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(0);
  }
  return pid;
}

inline int Wait(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

struct Options {
  uint32_t policy = DBR_STOP;
  uint64_t bytes = uint64_t{512} << 20;
  uint32_t flags = 0;
};

inline dbr_recording* OpenOrExit(const std::string& path, const Options& wanted) {
  dbr_options options;
  dbr_options_init(&options);
  options.policy = wanted.policy;
  options.max_bytes = wanted.bytes;
  options.flags = wanted.flags;
  dbr_recording* recording = nullptr;
  if (dbr_open(path.c_str(), &options, &recording) != DBR_OK) _exit(3);
  return recording;
}

// What the trials of one kind came to.
struct Total {
  uint64_t trials = 0, published = 0, recovered = 0, lost = 0, wrong = 0;
  bool good(uint64_t asked) const { return lost == 0 && wrong == 0 && trials >= asked; }
};

}  // namespace debrief::recorder::test

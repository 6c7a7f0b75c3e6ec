// debrief: says what happened in a PyTorch job, from what the job left behind.
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "app/command_line.h"
#include "app/terminal.h"
#include "base/threads/guard.h"

namespace {

// Inputs, outputs and connections need descriptors: the usual 1,024 are few, and more need no
// right.
void AllowManyFiles() {
  constexpr rlim_t kWanted = 16 << 10;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__x86_64__)
  // The whole binary is built for x86-64-v3 with pclmul; say so instead of dying of SIGILL.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("pclmul")) {
    std::fputs("debrief: this processor lacks AVX2 or PCLMUL; build from source for it\n", stderr);
    return 1;
  }
#endif
  // Buffers of a megabyte come and go thousands of times. Given back to the kernel each time, every
  // page of them would be faulted in anew: a fifth of the time of reading a large file.
  mallopt(M_MMAP_THRESHOLD, 64 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  AllowManyFiles();
  // A file that may not grow any more (ulimit -f) is an error of writing, with a sentence.
  signal(SIGXFSZ, SIG_IGN);
  int code = 1;
  debrief::Status status = debrief::Guarded([&] { code = debrief::RunCommandLine(argc, argv); });
  return debrief::CheckStdout(status.ok() ? code : debrief::Fail(status));
}

#include "base/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace debrief {

namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kFirstForeignCall = 0x40000000;  // those of the x32 ABI
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t kFirstForeignCall = UINT32_MAX;
#else
constexpr uint32_t kArchitecture = 0;  // no filter
constexpr uint32_t kFirstForeignCall = 0;
#endif

// io_uring would do all of the others by itself.
constexpr uint32_t kRefusedCalls[] = {
    SYS_execve,         SYS_execveat, SYS_socket,           SYS_connect,           SYS_bind,
    SYS_listen,         SYS_ptrace,   SYS_process_vm_readv, SYS_process_vm_writev,
#ifdef SYS_io_uring_setup
    SYS_io_uring_setup,
#endif
};

constexpr sock_filter Load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

// What returns `verdict` when the number just loaded compares with `value`.
void When(uint16_t comparison, uint32_t value, uint32_t verdict, std::vector<sock_filter>& out) {
  out.push_back(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | BPF_K | comparison), value, 0, 1));
  out.push_back(BPF_STMT(BPF_RET | BPF_K, verdict));
}

std::vector<sock_filter> MakeFilter() {
  constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  std::vector<sock_filter> filter = {Load(offsetof(seccomp_data, arch))};
  // Calls of another architecture have other numbers.
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_K | BPF_JEQ, kArchitecture, 1, 0));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuse));
  filter.push_back(Load(offsetof(seccomp_data, nr)));
  When(BPF_JGE, kFirstForeignCall, kRefuse, filter);
  for (uint32_t call : kRefusedCalls) When(BPF_JEQ, call, kRefuse, filter);
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace

bool GiveUpProgramsAndNetwork() {
  if (kArchitecture == 0) return false;
  std::vector<sock_filter> filter = MakeFilter();
  const sock_fprog program = {static_cast<uint16_t>(filter.size()), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  // Without the second flag some kernels would slow down every access to memory.
  for (unsigned long more : {SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0UL}) {
    const unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC | more;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) return true;
  }
  return false;
}

}  // namespace debrief

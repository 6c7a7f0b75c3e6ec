// A handler may do next to nothing, so it wakes a thread that may do everything.
#include "app/interrupts.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <mutex>

#include "base/bytes/unfinished.h"

namespace debrief {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

sem_t g_interrupted;
volatile sig_atomic_t g_signal = 0;

void OnSignal(int signal) {
  g_signal = signal;
  sem_post(&g_interrupted);
}

void* AwaitInterrupt(void*) {
  while (sem_wait(&g_interrupted) != 0) {
  }
  RemoveUnfinished();
  const int number = g_signal;
  ::signal(number, SIG_DFL);
  kill(getpid(), number);
  return nullptr;
}

void Install() {
  pthread_t waiter;
  if (sem_init(&g_interrupted, 0, 0) != 0) return;
  if (pthread_create(&waiter, nullptr, AwaitInterrupt, nullptr) != 0) return;
  pthread_detach(waiter);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (int number : kSignals) {
    struct sigaction before = {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction(number, &action, nullptr);
  }
}

}  // namespace

void RemoveOutputsOnInterrupt() {
  static std::once_flag installed;
  std::call_once(installed, Install);
}

UniqueFd StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace debrief

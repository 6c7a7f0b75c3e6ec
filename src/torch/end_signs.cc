#include "torch/end_signs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/pools/ids.h"

namespace debrief {

bool IsSignOfBadEnd(std::string_view kind, int32_t exit_code, std::string_view text) {
  // Said at normal ends, too: rank 0 is gone, and with it the store.
  if (text.find("\"should dump\" flag") != std::string_view::npos) return false;
  static constexpr std::array<std::string_view, 13> kAlways = {
      "watchdog_timeout", "teardown",    "heartbeat_lost", "dump_signal", "oom_kill",
      "signal",           "terminate",   "gil_hang",       "desync",      "device_assert",
      "scheduler",        "engine_dead", "engine_stuck"};
  if (kind == "exit") return exit_code != 0 && exit_code != kNone32;
  return std::find(kAlways.begin(), kAlways.end(), kind) != kAlways.end();
}

bool IsAboutAPeer(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kSigns = {
      "DistBackendError",      "DistNetworkError",        "DistStoreError",
      "ncclRemoteError",       "remote process exited",   "communicator was aborted",
      "closed by remote peer", "onnection reset by peer", "onnection closed by peer",
      "Broken pipe",           "SignalException"};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return text.find(sign) != std::string_view::npos;
  });
}

bool IsLoggedError(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kLevels = {"[ERROR] ", "ERROR: ", "Error: "};
  return std::any_of(kLevels.begin(), kLevels.end(),
                     [&](std::string_view level) { return text.starts_with(level); });
}

bool IsCaughtEachTime(int32_t times, int32_t rank, size_t ranks) {
  constexpr size_t kMostOfOne = 2, kUsualRanks = 8;
  if (times == kNone32 || times < 0) return false;
  const size_t speakers = rank != kNone32 ? 1 : std::max(ranks, kUsualRanks);
  return static_cast<size_t>(times) > kMostOfOne * speakers;
}

int32_t SignalOrCode(int32_t exit_code) {
  constexpr int32_t kShell = 128, kLastSignal = 64;
  bool by_shell = exit_code > kShell && exit_code <= kShell + kLastSignal;
  return by_shell ? kShell - exit_code : exit_code;
}

bool IsTold(int32_t exit_code) {
  int32_t code = SignalOrCode(exit_code);
  return code == -15 || code == -2 || code == -1;
}

bool IsEndFromOutside(std::string_view kind, int32_t exit_code) {
  if (kind == "scheduler" || kind == "stopping") return true;
  return (kind == "exit" || kind == "signal") && exit_code != kNone32 && IsTold(exit_code);
}

std::string SignalName(int32_t number) {
  static constexpr std::array<std::pair<int32_t, std::string_view>, 18> kNames = {{{1, "SIGHUP"},
                                                                                   {2, "SIGINT"},
                                                                                   {3, "SIGQUIT"},
                                                                                   {4, "SIGILL"},
                                                                                   {5, "SIGTRAP"},
                                                                                   {6, "SIGABRT"},
                                                                                   {7, "SIGBUS"},
                                                                                   {8, "SIGFPE"},
                                                                                   {9, "SIGKILL"},
                                                                                   {10, "SIGUSR1"},
                                                                                   {11, "SIGSEGV"},
                                                                                   {12, "SIGUSR2"},
                                                                                   {13, "SIGPIPE"},
                                                                                   {14, "SIGALRM"},
                                                                                   {15, "SIGTERM"},
                                                                                   {24, "SIGXCPU"},
                                                                                   {25, "SIGXFSZ"},
                                                                                   {31, "SIGSYS"}}};
  for (const auto& [known, name] : kNames) {
    if (known == number) return std::string(name);
  }
  return "signal " + std::to_string(number);
}

}  // namespace debrief

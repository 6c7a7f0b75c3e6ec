// What a record costs above the clock: rounds of the same loop with clock reads alone, with spans,
// with ops, and off.
//
// A round runs base, body, body, base, so that a busy machine and a drifting clock rate disturb
// both sides alike; the median of the differences over all rounds is printed. Off is below a
// nanosecond: its rounds are short, so that few are interrupted, and many.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "debrief/recorder.hpp"

namespace {

struct Effort {
  int rounds, loop;
};
constexpr Effort kOn = {151, 20'000};
constexpr Effort kOff = {10'001, 2'000};

using Body = void (*)();

const uint64_t kDims[] = {64, 128, 10};
const dbr_shape kInputs[] = {{kDims, 2}, {kDims + 1, 2}};
const dbr_shape kOutput = {kDims + 1, 2};
const dbr_op_info kInfo = {kInputs, 2, DBR_F32, &kOutput, 0};
dbr_id name;

[[gnu::noinline, gnu::aligned(64)]] void Empty() { asm volatile("" ::: "memory"); }
[[gnu::noinline, gnu::aligned(64)]] void Clocks() {
  uint64_t start = dbr_now();
  uint64_t end = dbr_now();
  asm volatile("" ::"r"(start), "r"(end) : "memory");
}
[[gnu::noinline, gnu::aligned(64)]] void Span() {
  const uint64_t start = dbr_now();
  dbr_span(name, start, dbr_now());
}
[[gnu::noinline, gnu::aligned(64)]] void Op() {
  const uint64_t start = dbr_now();
  dbr_op(name, start, dbr_now(), &kInfo);
}
[[gnu::noinline, gnu::aligned(64)]] void Scope() {
  DEBRIEF_SCOPE("scope");
  asm volatile("" ::: "memory");
}
[[gnu::noinline, gnu::aligned(64)]] void BeginEnd() {
  dbr_begin(name);
  dbr_end();
}

int64_t NsNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// Direct calls, and several to an iteration: what an indirect call or a loop of one costs changes
// by more than what is measured with where the linker happens to put it.
template <Body body>
[[gnu::noinline, gnu::aligned(64)]] int64_t NsOf(int loop) {
  const int64_t start = NsNow();
#pragma GCC unroll 8
  for (int i = 0; i < loop; ++i) body();
  return NsNow() - start;
}

// Nanoseconds a call of `body` takes more than one of `base`.
template <Body body, Body base>
double Above(Effort effort = kOn) {
  std::vector<int64_t> differences;
  for (int round = 0; round < effort.rounds; ++round) {
    const int64_t before = NsOf<base>(effort.loop);
    const int64_t both = NsOf<body>(effort.loop) + NsOf<body>(effort.loop);
    differences.push_back(both - before - NsOf<base>(effort.loop));
  }
  const auto middle = differences.begin() + effort.rounds / 2;
  std::nth_element(differences.begin(), middle, differences.end());
  return static_cast<double>(*middle) / (2.0 * effort.loop);
}

}  // namespace

int main() {
  char folder[] = "/tmp/recorder_bench_XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string path = std::string(folder) + "/run.dbr";
  const double off = Above<Scope, Empty>(kOff);
  dbr_recording* recording;
  if (dbr_open(path.c_str(), nullptr, &recording) != DBR_OK) return 1;
  name = dbr_name("span", 4);
  const double clocks = Above<Clocks, Empty>();
  const double span = Above<Span, Clocks>();
  const double op = Above<Op, Clocks>();
  const double scope = Above<Scope, Clocks>();
  const double begin_end = Above<BeginEnd, Clocks>();
  const dbr_losses losses = dbr_get_losses(recording);
  dbr_close(recording);
  unlink(path.c_str());
  rmdir(folder);
  if (losses.dropped != 0 || losses.overwritten == 0)
    return 1;  // it did not record, or did not go round
  std::printf(
      "recorder clocks_ns=%.2f span_ns=%.2f op_ns=%.2f scope_ns=%.2f begin_end_ns=%.2f "
      "off_ns=%.2f\n",
      clocks, span, op, scope, begin_end, off);
  return 0;
}

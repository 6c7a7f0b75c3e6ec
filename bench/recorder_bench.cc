// What a record costs above the clock: rounds of the same loop with clock reads alone, with spans,
// with ops, and off.
//
// Rounds are interleaved and differences taken within a round, so that a busy machine disturbs both
// sides alike; the median over the rounds is printed.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "debrief/recorder.hpp"

namespace {

constexpr int kRounds = 301;
constexpr int kLoop = 20'000;

using Body = void (*)();

const uint64_t kDims[] = {64, 128, 10};
const dbr_shape kInputs[] = {{kDims, 2}, {kDims + 1, 2}};
const dbr_shape kOutput = {kDims + 1, 2};
const dbr_op_info kInfo = {kInputs, 2, DBR_F32, &kOutput, 0};
dbr_id name;

[[gnu::noinline]] void Empty() { asm volatile("" ::: "memory"); }
[[gnu::noinline]] void Clocks() {
  uint64_t start = dbr_now();
  uint64_t end = dbr_now();
  asm volatile("" ::"r"(start), "r"(end) : "memory");
}
[[gnu::noinline]] void Span() {
  const uint64_t start = dbr_now();
  dbr_span(name, start, dbr_now());
}
[[gnu::noinline]] void Op() {
  const uint64_t start = dbr_now();
  dbr_op(name, start, dbr_now(), &kInfo);
}
[[gnu::noinline]] void Scope() {
  DEBRIEF_SCOPE("scope");
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] void BeginEnd() {
  dbr_begin(name);
  dbr_end();
}

double NsPerCall(Body body) {
  timespec from, to;
  clock_gettime(CLOCK_MONOTONIC, &from);
  for (int i = 0; i < kLoop; ++i) body();
  clock_gettime(CLOCK_MONOTONIC, &to);
  return (static_cast<double>(to.tv_sec - from.tv_sec) * 1e9 +
          static_cast<double>(to.tv_nsec - from.tv_nsec)) /
         kLoop;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kRounds / 2, values.end());
  return values[kRounds / 2];
}

// Median over the rounds of `body` less `base`.
double Above(Body body, Body base) {
  std::vector<double> differences;
  for (int round = 0; round < kRounds; ++round)
    differences.push_back(NsPerCall(body) - NsPerCall(base));
  return Median(differences);
}

}  // namespace

int main() {
  char folder[] = "/tmp/recorder_bench_XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string path = std::string(folder) + "/run.dbr";
  const double off = Above(Scope, Empty);
  dbr_recording* recording;
  if (dbr_open(path.c_str(), nullptr, &recording) != DBR_OK) return 1;
  name = dbr_name("span", 4);
  const double clocks = Above(Clocks, Empty);
  const double span = Above(Span, Clocks);
  const double op = Above(Op, Clocks);
  const double scope = Above(Scope, Clocks);
  const double begin_end = Above(BeginEnd, Clocks);
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

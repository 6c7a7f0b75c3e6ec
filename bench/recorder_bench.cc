// What a record costs above the clock: rounds of the same loop with clock reads alone, with
// records, and off; the tail of single spans, changes of chunks and new chunks included; and the
// first record of a thread.
//
// Rounds are interleaved and differences taken within a round, so that a busy machine disturbs both
// sides alike; the median over the rounds is printed. Before anything is printed the file is read:
// every record that was timed must be in it, or counted as overwritten.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "debrief/recorder.hpp"
#include "recorder/reader.h"

namespace {

constexpr int kRounds = 301;
constexpr int kLoop = 20'000;
constexpr uint64_t kTailSpans = 6'000'000;  // 137 MiB: twice round the ring
constexpr int kFirstThreads = 400;

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
[[gnu::noinline]] void Clock() {
  uint64_t now = dbr_now();
  asm volatile("" ::"r"(now) : "memory");
}
uint64_t emitted;  // records that were asked for
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
[[gnu::noinline]] void Instant() { dbr_instant(name); }
[[gnu::noinline]] void Counter() { dbr_counter(name, 1.5); }

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

double RecordsAbove(Body body, Body base, uint64_t records_per_call) {
  emitted += records_per_call * kRounds * kLoop;
  return Above(body, base);
}

// How often a span took so many ticks: exact below 4096, then in powers of two.
class Histogram {
 public:
  void Add(uint64_t ticks) {
    ++(ticks < kExact ? exact_[ticks] : powers_[std::bit_width(ticks)]);
    ++count_;
  }
  // Ticks that so large a part of all stays at or below; of a power its upper end.
  uint64_t At(double part) const {
    auto left = static_cast<uint64_t>(static_cast<double>(count_) * part);
    for (uint64_t ticks = 0; ticks < kExact; ++ticks) {
      if (exact_[ticks] > left) return ticks;
      left -= exact_[ticks];
    }
    for (unsigned width = 0; width <= 64; ++width) {
      if (powers_[width] > left) return (uint64_t{1} << width) - 1;
      left -= powers_[width];
    }
    return UINT64_MAX;
  }

 private:
  static constexpr uint64_t kExact = 4096;
  uint64_t exact_[kExact] = {};
  uint64_t powers_[65] = {};
  uint64_t count_ = 0;
};

// Spans of one thread into a new file, each timed by itself with a clock read on either side.
void TimeSpans(Histogram& histogram) {
  for (uint64_t i = 0; i < kTailSpans; ++i) {
    const uint64_t start = dbr_now();
    dbr_span(name, start, start);
    histogram.Add(dbr_now() - start);
  }
  emitted += kTailSpans;
}

// Ticks of the first record of each of many threads. First one after another, where each gets what
// the last has left of its chunk; then all alive at once, where each needs a chunk of its own.
std::vector<uint64_t> TimeFirstRecords() {
  std::vector<uint64_t> ticks(kFirstThreads);
  std::atomic<int> recorded = 0;
  const auto first = [&](size_t i, int stay) {
    const uint64_t start = dbr_now();
    dbr_instant(name);
    ticks[i] = dbr_now() - start;
    ++recorded;
    while (recorded < stay) usleep(1000);
  };
  for (size_t i = 0; i < kFirstThreads / 2; ++i) std::thread(first, i, 0).join();
  std::vector<std::thread> threads;
  for (size_t i = kFirstThreads / 2; i < kFirstThreads; ++i) {
    threads.emplace_back(first, i, kFirstThreads);
    usleep(500);  // otherwise it is the scheduler that is measured
  }
  for (std::thread& thread : threads) thread.join();
  emitted += kFirstThreads;
  return ticks;
}

double MedianTicks(std::vector<uint64_t> ticks, size_t from, size_t to) {
  const auto begin = ticks.begin() + static_cast<ptrdiff_t>(from);
  const auto middle = begin + static_cast<ptrdiff_t>((to - from) / 2);
  std::nth_element(begin, middle, ticks.begin() + static_cast<ptrdiff_t>(to));
  return static_cast<double>(*middle);
}

struct Count : debrief::recorder::RecordSink {
  void OnRecord(const debrief::recorder::RecordView& record) override {
    if (record.type != debrief::recorder::RecordType::kLoss) ++records;
  }
  uint64_t records = 0;
};

// Closes, and compares what is in the file with what was asked for.
bool CloseAndCheck(dbr_recording* recording, const std::string& path) {
  dbr_close(recording);
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  Count count;
  const auto read = debrief::recorder::ReadDbr(std::as_bytes(std::span(bytes)), count);
  unlink(path.c_str());
  const bool whole = read.problems.empty() && count.records + read.overwritten == emitted;
  if (!whole) std::fprintf(stderr, "recorder_bench: records are missing\n");
  emitted = 0;
  return whole;
}

double TicksPerNs(const std::string& path) {
  debrief::recorder::FileHeader header;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  return static_cast<double>(header.ticks_per_second) / 1e9;
}

bool PrintCosts(const std::string& path) {
  const double off = Above(Scope, Empty);
  dbr_recording* recording;
  if (dbr_open(path.c_str(), nullptr, &recording) != DBR_OK) return false;
  name = dbr_name("span", 4);
  const double clocks = Above(Clocks, Empty);
  const double span = RecordsAbove(Span, Clocks, 1);
  const double op = RecordsAbove(Op, Clocks, 1);
  const double scope = RecordsAbove(Scope, Clocks, 1);
  const double begin_end = RecordsAbove(BeginEnd, Clocks, 2);
  const double instant = RecordsAbove(Instant, Clock, 1);
  const double counter = RecordsAbove(Counter, Clock, 1);
  if (!CloseAndCheck(recording, path)) return false;
  std::printf(
      "recorder clocks_ns=%.2f span_ns=%.2f op_ns=%.2f scope_ns=%.2f begin_end_ns=%.2f "
      "instant_ns=%.2f counter_ns=%.2f off_ns=%.2f",
      clocks, span, op, scope, begin_end, instant, counter, off);
  return true;
}

// With two clock reads in every figure: what a caller waits.
bool PrintTail(const std::string& path) {
  dbr_recording* recording;
  if (dbr_open(path.c_str(), nullptr, &recording) != DBR_OK) return false;
  name = dbr_name("span", 4);
  const std::vector<uint64_t> first = TimeFirstRecords();
  static Histogram histogram;
  TimeSpans(histogram);
  const double per_ns = TicksPerNs(path);
  if (!CloseAndCheck(recording, path)) return false;
  const auto ns = [&](uint64_t ticks) { return static_cast<double>(ticks) / per_ns; };
  std::printf(" p50_ns=%.0f p99_ns=%.0f p999_ns=%.0f p9999_ns=%.0f max_us=%.0f",
              ns(histogram.At(0.5)), ns(histogram.At(0.99)), ns(histogram.At(0.999)),
              ns(histogram.At(0.9999)), ns(histogram.At(1.0 - 1e-9)) / 1e3);
  std::printf(" first_us=%.1f first_own_chunk_us=%.1f\n",
              MedianTicks(first, 0, kFirstThreads / 2) / per_ns / 1e3,
              MedianTicks(first, kFirstThreads / 2, kFirstThreads) / per_ns / 1e3);
  return true;
}

}  // namespace

int main() {
  char folder[] = "/tmp/recorder_bench_XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  const std::string path = std::string(folder) + "/run.dbr";
  const bool good = PrintCosts(path) && PrintTail(path);
  rmdir(folder);
  return good ? 0 : 1;
}

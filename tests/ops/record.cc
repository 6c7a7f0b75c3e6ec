// Programs that record themselves, for run.py: record MODE FILE RANK.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "debrief/recorder.h"

namespace {

dbr_id Name(std::string_view text) { return dbr_name(text.data(), text.size()); }

// The op that is open, ended with an output of these dims.
void EndWith(const std::vector<uint64_t>& dims, dbr_dtype dtype) {
  const dbr_shape shape = {dims.data(), static_cast<uint32_t>(dims.size())};
  const dbr_op_info info = {nullptr, 0, static_cast<uint32_t>(dtype), &shape, 0};
  dbr_end_op(&info);
}

void Record(std::string_view name, const std::vector<uint64_t>& dims,
            dbr_dtype dtype = DBR_DTYPE_UNKNOWN) {
  dbr_begin(Name(name));
  EndWith(dims, dtype);
}

// begin and end with shapes, ops one after the other, and one left open.
void Plain(int) {
  Record("matmul", {2, 4});
  dbr_begin(Name("relu"));
  dbr_end();
  Record("add", {4});
  dbr_end();  // nothing is open
  dbr_begin(Name("open"));
}

// Until the clock has moved: what took no time is in no flame graph.
void TakeTime() {
  constexpr int64_t kNanoseconds = 20'000;
  auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
  };
  const int64_t start = now();
  while (now() - start < kNanoseconds) {
  }
}

void Nested(int) {
  dbr_begin(Name("outer"));
  TakeTime();
  dbr_begin(Name("inner"));
  TakeTime();
  EndWith({8}, DBR_BF16);
  EndWith({4}, DBR_F32);
}

void Shapes(int) {
  Record("scalar", {}, DBR_F32);
  Record("empty", {4, 0, 9}, DBR_F32);
  Record("huge", {uint64_t{1} << 40}, DBR_F32);
  Record("overflow", {UINT64_MAX, 3}, DBR_F32);
  Record("deep", std::vector<uint64_t>(64, 1), DBR_F32);
  Record("untyped", {10});
}

void Names(int) {
  Record("a;b c", {1});
  Record("say \"hi\"\\", {1});
  Record(std::string_view("nul\0in", 6), {1});
  Record("\xff\xfe bad", {1});
  Record(std::string(65536, 'x'), {1});
}

void Ranks(int rank) {
  dbr_set_device(Name("cuda:" + std::to_string(rank)));
  dbr_meta("model", "tiny");
  const uint64_t start = dbr_now();
  const dbr_op_info info = {};
  dbr_op(Name("aten::mm"), start, start + 1'000'000 * static_cast<uint64_t>(rank + 1), &info);
  dbr_op(Name("c10d::allreduce_"), start + 9'000'000, start + 10'000'000, &info);
}

void Die(int) {
  dbr_begin(Name("train_step"));
  dbr_begin(Name("all_reduce"));
  kill(getpid(), SIGKILL);
}

// More than 512 KiB hold.
void Ring(int) {
  const dbr_id name = Name("tick");
  for (int i = 0; i < 100'000; ++i) dbr_span(name, dbr_now(), dbr_now());
}

struct Mode {
  std::string_view name;
  void (*run)(int rank);
};
constexpr Mode kModes[] = {{"plain", Plain}, {"nested", Nested}, {"shapes", Shapes},
                           {"names", Names}, {"ranks", Ranks},   {"die", Die},
                           {"ring", Ring}};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  dbr_options options;
  dbr_options_init(&options);
  options.rank = atoi(argv[3]);
  options.world_size = 2;
  options.max_bytes = 512 << 10;
  dbr_recording* recording = nullptr;
  if (dbr_open(argv[2], &options, &recording) != DBR_OK) return 1;
  for (const Mode& mode : kModes) {
    if (mode.name == argv[1]) mode.run(options.rank);
  }
  return dbr_close(recording) == DBR_OK ? 0 : 1;
}

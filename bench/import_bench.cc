// How fast the pattern importer is: an op trace of a million entries in memory, split, parsed and
// joined by one thread. The workload is what a recorder in a training loop writes: a few dozen op
// names, shapes that repeat, times that do not.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/thread_pool.h"
#include "inputs/import.h"
#include "tables/recorded_op.h"

namespace {

using namespace debrief;

constexpr int64_t kEntries = 1'000'000;

std::string MakeTrace() {
  std::string text = "{\"entries\": [";
  for (int64_t i = 0; i < kEntries; ++i) {
    text += fmt::format(
        "{}{{\"step\": {}, \"operation\": \"aten::op{}\", \"device_id\": \"gpu:{}\", "
        "\"input_shapes\": [[{}, 128], "
        "[128, 64]], \"output_shape\": [{}, 64], \"duration_us\": {}.{}, \"output_elements\": {}, "
        "\"memory_bytes\": {}}}",
        i == 0 ? "" : ", ", i, i % 37, i % 8, i % 11, i % 11, i % 1000, i % 8 * 125, i % 11 * 64,
        i % 11 * 512);
  }
  return text + "], \"total_duration_us\": 0, \"metadata\": {}}";
}

// Durations are (i mod 1000) us plus eighths: checked against the same sum in whole nanoseconds.
bool IsRight(const Part& part) {
  const auto& ops = part.tables.Get<RecordedOpTable>();
  int64_t expected = 0, sum = 0;
  for (int64_t i = 0; i < kEntries; ++i) {
    std::string fraction = fmt::format("{}", i % 8 * 125);  // ".0", ".125", ... ".875"
    expected += i % 1000 * 1000 + (fraction == "0" ? 0 : std::stoll(fraction));
  }
  for (int64_t duration : ops.duration_ns) sum += duration;
  return ops.size() == static_cast<size_t>(kEntries) && sum == expected;
}

}  // namespace

int main() {
  const Importer* importer = nullptr;
  for (const Importer* candidate : AllImporters()) {
    if (candidate->info.name == "op_trace") importer = candidate;
  }
  auto source = MakeMemorySource(MakeTrace());
  ThreadPool pool(1);
  Part part;
  auto start = std::chrono::steady_clock::now();
  Status status = ImportSource(*importer->open({}), *source, pool, part);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!status.ok() || !IsRight(part)) {
    std::fprintf(stderr, "wrong result: %s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("import mb_s=%.0f rows_s=%.0f\n",
              static_cast<double>(source->size()) / 1e6 / seconds.count(),
              static_cast<double>(kEntries) / seconds.count());
  return 0;
}

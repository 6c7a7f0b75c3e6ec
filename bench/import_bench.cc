// How fast importers are, from bytes to tables.
//
//   import_bench                    an op trace of a million entries in memory, by one thread. The
//                                   workload is what a recorder in a training loop writes: a few
//                                   dozen op names, shapes that repeat, times that do not.
//   import_bench torch_trace FILE   a compile log on disk, by one thread per core. Checked against
//                                   the number of lines that are no payload and no string.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "base/threads/thread_pool.h"
#include "inputs/import.h"
#include "tables/compile_log.h"
#include "tables/recorded_op.h"

namespace debrief {
namespace {

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

// Every entry that a compile log has: lines that begin with a prefix, but not those of strings.
int64_t CountEntries(std::string_view log) {
  int64_t count = 0;
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = log.substr(begin, end - begin);
    const bool entry = !line.empty() && line[0] != '\t';
    if (entry && line.find("] {\"str\": [") == std::string_view::npos) ++count;
    begin = end + 1;
  }
  return count;
}

bool HasAllEntries(const Part& part, int64_t entries) {
  const auto& logs = part.tables.Get<CompileLogTable>();
  return logs.size() == 1 && logs.entries[0] == entries && logs.bad_checksum[0] == 0;
}

struct Run {
  Part part;
  double seconds = 0;
  Status status;
};

Run Import(std::string_view name, const Source& source, int threads) {
  const Importer* importer = FindImporter(name);
  ThreadPool pool(threads);
  Run run;
  const auto start = std::chrono::steady_clock::now();
  run.status = ImportSource(*importer->open({}), source, pool, run.part);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

int Report(const Run& run, bool right, uint64_t bytes) {
  if (!run.status.ok() || !right) {
    std::fprintf(stderr, "wrong result: %s\n", run.status.ToString().c_str());
    return 1;
  }
  std::printf("import mb_s=%.0f wall_s=%.3f\n", static_cast<double>(bytes) / 1e6 / run.seconds,
              run.seconds);
  return 0;
}

int ImportLog(const char* path) {
  const auto file = OpenFileSource(path);
  if (!file.ok()) return 1;
  const Source& source = *file.value();
  const auto bytes = source.View(0, source.size());  // warms the page cache, too
  if (!bytes.ok()) return 1;
  const int64_t entries = CountEntries(bytes.value().text());
  const Run run =
      Import("torch_trace", source, static_cast<int>(std::thread::hardware_concurrency()));
  return Report(run, HasAllEntries(run.part, entries), source.size());
}

int Measure(int argc, char** argv) {
  if (argc == 3) return ImportLog(argv[2]);
  const auto source = MakeMemorySource(MakeTrace());
  const Run run = Import("op_trace", *source, 1);
  return Report(run, IsRight(run.part), source->size());
}

}  // namespace
}  // namespace debrief

int main(int argc, char** argv) { return debrief::Measure(argc, argv); }

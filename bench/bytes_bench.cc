// Benchmarks of what every importer stands on: unpacking, finding lines, reading a big file.
//
//   bytes_bench gunzip FILE BYTES LINES   unpacks FILE, which must give that many bytes and lines
//   bytes_bench newlines                  counts the lines of a text in memory
//   bytes_bench source FILE               reads FILE in views of 1 MiB, each of which begins with
//   its number
//
// Prints one line `name key=value ...`; a wrong result is told on stderr and ends with exit code 1
// before any time is printed. Times are CPU seconds, the best of a few passes: the machine is
// shared with others. bench/run.py makes the files and measures the memory.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/byte_stream.h"
#include "base/bytes/decompress.h"
#include "base/bytes/source.h"
#include "base/text/newlines.h"

namespace debrief {
namespace {

constexpr int kPasses = 3;
constexpr size_t kMiB = size_t{1} << 20;

[[noreturn]] void Wrong(std::string_view what) {
  std::fprintf(stderr, "bytes_bench: %.*s\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The CPU seconds of the fastest of kPasses calls.
template <typename Function>
double BestOf(const Function& pass) {
  double best = 1e30;
  for (int i = 0; i < kPasses; ++i) {
    const double start = CpuSeconds();
    pass();
    best = std::min(best, CpuSeconds() - start);
  }
  return best;
}

void Report(const char* name, uint64_t bytes, double seconds) {
  const double megabytes = static_cast<double>(bytes) * 1e-6;
  std::printf("%s mb=%.0f mb_s=%.0f\n", name, megabytes, megabytes / seconds);
}

std::unique_ptr<Source> Open(const char* path) {
  auto source = OpenFileSource(path);
  if (!source.ok()) Wrong(source.status().ToString());
  return std::move(source).value();
}

// Unpacks all of `packed` and gives every piece to `use`.
template <typename Use>
uint64_t Unpack(const Source& packed, std::vector<char>& buffer, const Use& use) {
  const auto stream = Decompress(Packing::kGzip, MakeSourceStream(packed), ExpansionLimits{});
  uint64_t bytes = 0;
  while (true) {
    const auto got = stream->Read(buffer.data(), buffer.size());
    if (!got.ok()) Wrong(got.status().ToString());
    if (got.value() == 0) return bytes;
    use(std::string_view(buffer.data(), got.value()));
    bytes += got.value();
  }
}

void Gunzip(const char* path, uint64_t bytes, uint64_t lines) {
  const auto packed = Open(path);
  std::vector<char> buffer(kMiB);
  uint64_t found = 0;
  const uint64_t size =
      Unpack(*packed, buffer, [&](std::string_view piece) { found += CountNewlines(piece); });
  if (size != bytes || found != lines) Wrong("unpacked bytes or lines differ from what was packed");
  const double seconds = BestOf([&] { Unpack(*packed, buffer, [](std::string_view) {}); });
  Report("bytes.gunzip", bytes, seconds);
}

// Lines of 20 to 180 bytes, as logs and traces have them.
std::string MakeText(size_t size) {
  std::string text(size, 'x');
  uint64_t state = 17;
  for (size_t at = 0; at < size; at += 20 + (state >> 33) % 161) {
    text[at] = '\n';
    state = state * 6364136223846793005u + 1442695040888963407u;
  }
  return text;
}

void Newlines() {
  const std::string text = MakeText(64 * kMiB);
  const auto expected = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  if (CountNewlines(text) != expected) Wrong("newlines are not counted");
  // In pieces of 1 MiB, as importers get them.
  const double seconds = BestOf([&] {
    size_t lines = 0;
    for (size_t at = 0; at < text.size(); at += kMiB) {
      LineSplitter splitter(std::string_view(text).substr(at, kMiB));
      for (std::string_view line; splitter.Next(line);) lines += splitter.terminated() ? 1 : 0;
    }
    if (lines != expected) Wrong("a newline was not found");
  });
  Report("bytes.newlines", text.size(), seconds);
}

void ReadAll(const Source& source) {
  for (uint64_t offset = 0; offset < source.size(); offset += kMiB) {
    const auto view = source.View(offset, kMiB);
    if (!view.ok()) Wrong(view.status().ToString());
    uint64_t number = 0;
    if (view.value().size() != kMiB) Wrong("a view is too short");
    std::memcpy(&number, view.value().data(), sizeof number);
    if (number != offset / kMiB) Wrong("a view has bytes of another place");
  }
}

void ReadSource(const char* path) {
  const auto source = Open(path);
  if (source->size() < 2048 * kMiB) Wrong("the file is too small");
  const double start = CpuSeconds();
  ReadAll(*source);
  Report("bytes.source", source->size(), CpuSeconds() - start);
}

}  // namespace
}  // namespace debrief

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "gunzip" && argc == 5) {
    debrief::Gunzip(argv[2], std::strtoull(argv[3], nullptr, 10),
                    std::strtoull(argv[4], nullptr, 10));
  } else if (name == "newlines" && argc == 2) {
    debrief::Newlines();
  } else if (name == "source" && argc == 3) {
    debrief::ReadSource(argv[2]);
  } else {
    debrief::Wrong("usage: bytes_bench gunzip FILE BYTES LINES | newlines | source FILE");
  }
}

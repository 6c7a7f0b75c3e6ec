// The fuzzer of one importer: compiled once per folder of src/inputs with -DIMPORTER=<folder>.
//
// The first byte chooses the chunk size, the rest is the file. The importer sniffs it and, whatever
// it thinks of it, reads it the way the framework does: Split, Read of every range, Merge in order,
// Finish. Besides not crashing it must keep the contract of Split: ranges in order, within the
// file, no overlap.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "base/check.h"
#include "base/json/outline.h"
#include "inputs/importer.h"

namespace debrief::inputs::IMPORTER {
const Importer& Describe();
}

namespace debrief {
namespace {

constexpr uint64_t kChunkBytes[] = {1, 7, 100, 4096, uint64_t{1} << 20};

void Sniff(const Importer& importer, std::string_view bytes) {
  SniffInput input;
  input.path = input.name = importer.info.example;
  input.head = bytes.substr(0, kSniffBytes);
  input.whole = bytes.size() <= kSniffBytes;
  const auto outline = JsonOutline::Of(input.head);
  input.json = outline ? &*outline : nullptr;
  (void)importer.sniff(input);
}

template <typename Ranges>
void CheckRanges(const Ranges& ranges, uint64_t size) {
  uint64_t end = 0;
  for (const auto& range : ranges) {
    DEBRIEF_CHECK(range.begin >= end && range.begin < range.end && range.end <= size);
    end = range.end;
  }
}

void Import(const Importer& importer, std::string bytes, uint64_t chunk_bytes) {
  const std::unique_ptr<Source> source = MakeMemorySource(std::move(bytes));
  const ImportContext context = {.who = {.input = 0, .job = 0, .attempt = 0, .rank = 0},
                                 .path = importer.info.example,
                                 .chunk_bytes = chunk_bytes};
  const std::unique_ptr<Reader> reader = importer.open(context);
  const auto ranges = reader->Split(*source);
  if (!ranges.ok()) return;
  CheckRanges(ranges.value(), source->size());
  Part whole;
  for (const auto& range : ranges.value()) {
    Part part;
    (void)reader->Read(*source, range, part);  // what it read before it gave up is kept
    if (!reader->Merge(std::move(part), whole).ok()) return;
  }
  (void)reader->Finish(whole);
}

}  // namespace
}  // namespace debrief

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const debrief::Importer& importer = debrief::inputs::IMPORTER::Describe();
  const uint64_t chunk_bytes = debrief::kChunkBytes[data[0] % std::size(debrief::kChunkBytes)];
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  debrief::Sniff(importer, bytes);
  if (importer.open != nullptr) debrief::Import(importer, std::move(bytes), chunk_bytes);
  return 0;
}

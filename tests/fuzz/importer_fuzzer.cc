// Fuzzing of one importer, which debrief_fuzz chooses by name.
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
#include "fuzz_targets.h"
#include "inputs/importer.h"

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

void FuzzImporter(const Importer& importer, std::span<const uint8_t> data) {
  if (data.empty()) return;
  const uint64_t chunk_bytes = kChunkBytes[data[0] % std::size(kChunkBytes)];
  std::string bytes(reinterpret_cast<const char*>(data.data()) + 1, data.size() - 1);
  Sniff(importer, bytes);
  if (importer.open != nullptr) Import(importer, std::move(bytes), chunk_bytes);
}

}  // namespace debrief

#include "inputs/shards/index.h"

#include <utility>

#include "base/version.h"
#include "inputs/shards/codec.h"

namespace debrief::shards {

void WritePiece(const Piece& piece, ByteWriter& out) {
  out.Put(piece.offset);
  out.Put(piece.packed_bytes);
  out.Put(piece.bytes);
  out.Put(piece.md5);
}

Piece GetPiece(ByteReader& in) {
  Piece piece;
  piece.offset = in.Get<uint64_t>();
  piece.packed_bytes = in.Get<uint64_t>();
  piece.bytes = in.Get<uint64_t>();
  piece.md5 = in.Get<std::array<uint8_t, 16>>();
  return piece;
}

namespace {

void WriteNumbers(const std::vector<uint32_t>& numbers, ByteWriter& out) {
  out.Put<uint64_t>(numbers.size());
  out.PutRaw(numbers.data(), numbers.size() * sizeof(uint32_t));
}

std::vector<uint32_t> GetNumbers(ByteReader& in) {
  std::vector<uint32_t> numbers(in.Count(sizeof(uint32_t)));
  const std::string_view raw = in.Raw(numbers.size() * sizeof(uint32_t));
  if (in.ok() && !raw.empty()) std::memcpy(numbers.data(), raw.data(), raw.size());
  return numbers;
}

void WriteSection(const Section& section, ByteWriter& out) {
  out.Put(section.of);
  WriteNumbers(section.shares, out);
  out.Put<uint8_t>(section.is_local ? 1 : 0);
  out.PutText(section.host);
  out.PutText(section.listing);
  out.PutText(section.found);
  WriteNumbers(section.share_of, out);
  out.Put<uint64_t>(section.records.size());
  for (const Record& record : section.records) {
    out.Put(record.input);
    out.Put(record.long_lists);
    WritePiece(record.part, out);
    WritePiece(record.source, out);
  }
}

Section GetSection(ByteReader& in, size_t long_lists) {
  Section section;
  section.of = in.Get<uint32_t>();
  section.shares = GetNumbers(in);
  section.is_local = in.Get<bool>();
  section.host = in.Text();
  section.listing = in.Text();
  section.found = in.Text();
  section.share_of = GetNumbers(in);
  for (uint64_t left = in.Count(2 * kPieceBytes); left > 0 && in.ok(); --left) {
    Record& record = section.records.emplace_back();
    record.input = in.Get<uint32_t>();
    record.long_lists = in.Get<uint32_t>();
    record.part = GetPiece(in);
    record.source = GetPiece(in);
    if (record.input >= section.share_of.size() || record.long_lists >= long_lists) in.Fail();
  }
  for (const uint32_t share : section.shares) {
    if (share >= section.of) in.Fail();
  }
  if (section.shares.empty() || section.of > kMostShares) in.Fail();
  return section;
}

}  // namespace

std::string IndexBytes(const ShardIndex& index) {
  ByteWriter out;
  out.PutText(index.version);
  out.Put<uint64_t>(index.long_lists.size());
  for (const Piece& piece : index.long_lists) WritePiece(piece, out);
  out.Put<uint64_t>(index.sections.size());
  for (const Section& section : index.sections) WriteSection(section, out);
  return out.Take();
}

bool ReadIndex(std::string_view bytes, ShardIndex& index) {
  ByteReader in(bytes);
  index.version = in.Text();
  if (index.version != kVersion) return in.ok();
  for (uint64_t left = in.Count(kPieceBytes); left > 0; --left)
    index.long_lists.push_back(GetPiece(in));
  for (uint64_t left = in.Count(1); left > 0 && in.ok(); --left)
    index.sections.push_back(GetSection(in, index.long_lists.size()));
  return in.ok() && !index.sections.empty();
}

std::vector<FoundInput> FoundIn(const Section& section) {
  std::vector<FoundInput> inputs;
  ByteReader in(section.found);
  for (uint64_t left = in.Count(1); left > 0 && in.ok(); --left) {
    FoundInput input;
    if (ReadFound(in, input) && inputs.size() < section.share_of.size())
      inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace debrief::shards

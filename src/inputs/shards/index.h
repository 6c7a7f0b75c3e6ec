// The index of a shard: what was found, and where the parts of what was read lie in the file.
//
// A shard that `debrief map` wrote has one section; one that was joined of others has a section for
// each look at the paths that found something else. So a joined shard is read as any other, and
// what was joined of joined ones has the sections that joining all at once gives.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/found_input.h"
#include "inputs/shards/bytes.h"

namespace debrief::shards {

// More shares than any machine room has tasks: a damaged number must not cost memory.
inline constexpr uint32_t kMostShares = 1 << 20;

// Where something packed lies in a shard.
struct Piece {
  uint64_t offset = 0;
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  std::array<uint8_t, 16> md5 = {};
};

struct Record {
  uint32_t input = 0;       // among what the section found
  uint32_t long_lists = 0;  // number of the lists that its part uses
  Piece part;
  Piece source;  // no bytes when there is none
};

struct Section {
  uint32_t of = 1;               // shares
  std::vector<uint32_t> shares;  // those that are here, in order
  // The paths were those of one machine alone, which read all it found. A share is then the number
  // of the task.
  bool is_local = false;
  std::string host;                // of a local one
  std::string listing;             // digest of all paths: shares of one listing have the same
  std::string found;               // bytes of FoundBytes()
  std::vector<uint32_t> share_of;  // by input
  std::vector<Record> records;     // in order of their inputs
};

struct ShardIndex {
  std::string version;
  std::vector<Piece> long_lists;
  std::vector<Section> sections;
};

void WritePiece(const Piece& piece, ByteWriter& out);
Piece GetPiece(ByteReader& in);
inline constexpr size_t kPieceBytes = 3 * sizeof(uint64_t) + 16;

std::string IndexBytes(const ShardIndex& index);
// Of another version the version alone is read: the rest may have another form.
bool ReadIndex(std::string_view bytes, ShardIndex& index);

// What a section found, as FindInputs() left it.
std::vector<FoundInput> FoundIn(const Section& section);

}  // namespace debrief::shards

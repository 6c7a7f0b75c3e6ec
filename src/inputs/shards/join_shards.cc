// Several shards as one: their pieces are copied as they are, and sections that found the same
// become one. It costs what the bytes cost; nothing is unpacked.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/bytes/growing_file.h"
#include "base/version.h"
#include "inputs/shards/pieces.h"
#include "inputs/shards/shard.h"

namespace debrief::shards {

namespace {

class ShardJoiner {
 public:
  ShardJoiner(GrowingFile& file, std::vector<Status>& troubles) : out_(file), troubles_(troubles) {}

  Status Begin() { return out_.PutRaw(kMagic); }

  Status Take(const Shard& shard) {
    std::vector<int64_t> lists;  // by number in the shard; -1: damaged
    for (const Piece& piece : shard.index.long_lists) {
      ASSIGN_OR_RETURN(const int64_t number, ListsOf(shard, piece));
      lists.push_back(number);
    }
    for (const Section& section : shard.index.sections) TRY(TakeSection(shard, section, lists));
    return {};
  }

  Status Finish() {
    for (auto& [key, joined] : joined_) {
      Section& section = joined.section;
      for (const auto& [input, record] : joined.records) section.records.push_back(record);
      index_.sections.push_back(std::move(section));
    }
    return out_.PutIndex(index_);
  }

 private:
  using Digest = std::array<uint8_t, 16>;
  using Key = std::tuple<bool, uint32_t, std::string, std::string, std::string>;
  struct Joined {
    Section section;
    std::map<uint32_t, Record> records;  // by input
  };

  // A damaged piece costs what needs it; false then.
  bool IsWhole(const Shard& shard, const Piece& piece) {
    if (piece.packed_bytes == 0) return true;
    Status status = CheckPiece(*shard.file, piece);
    if (status.ok()) return true;
    troubles_.push_back(std::move(status).At({.file = shard.path}));
    return false;
  }

  // The same lists are there once.
  Result<int64_t> ListsOf(const Shard& shard, Piece piece) {
    const auto known = lists_.find(piece.md5);
    if (known != lists_.end()) return known->second;
    if (!IsWhole(shard, piece)) return int64_t{-1};
    TRY(out_.CopyPiece(*shard.file, piece));
    const auto number = static_cast<int64_t>(index_.long_lists.size());
    index_.long_lists.push_back(piece);
    return lists_[piece.md5] = number;
  }

  Status TakeSection(const Shard& shard, const Section& from, const std::vector<int64_t>& lists) {
    Key key(from.is_local, from.of, from.host, from.listing, from.found);
    const auto [joined, is_new] = joined_.try_emplace(std::move(key));
    Section& to = joined->second.section;
    if (is_new) {
      to = from;
      to.records.clear();
    } else {
      std::vector<uint32_t> shares;
      std::ranges::set_union(to.shares, from.shares, std::back_inserter(shares));
      to.shares = std::move(shares);
    }
    for (const Record& record : from.records) {
      if (lists[record.long_lists] < 0 || joined->second.records.contains(record.input)) continue;
      if (!IsWhole(shard, record.part) || !IsWhole(shard, record.source)) continue;
      Record copied = record;
      copied.long_lists = static_cast<uint32_t>(lists[record.long_lists]);
      TRY(out_.CopyPiece(*shard.file, copied.part));
      if (copied.source.packed_bytes > 0) TRY(out_.CopyPiece(*shard.file, copied.source));
      joined->second.records.emplace(record.input, copied);
    }
    return {};
  }

  PieceWriter out_;
  std::vector<Status>& troubles_;
  ShardIndex index_{.version = std::string(kVersion), .long_lists = {}, .sections = {}};
  std::map<Digest, int64_t> lists_;
  std::map<Key, Joined> joined_;
};

}  // namespace

Status JoinShards(const std::vector<std::string>& paths, const std::string& output,
                  std::vector<Status>& troubles) {
  std::vector<std::unique_ptr<Shard>> shards;
  for (const std::string& path : ShardFiles(paths)) {
    Result<std::unique_ptr<Shard>> opened = OpenShard(path);
    if (opened.ok()) {
      shards.push_back(std::move(opened).value());
    } else {
      troubles.push_back(Status(opened.status()).At({.file = path}));
    }
  }
  if (shards.empty()) {
    if (!troubles.empty()) return troubles.front();
    return Status(Code::kNotFound, "no shard in it").At({.file = paths.front()});
  }
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(output));
  ShardJoiner joiner(file, troubles);
  TRY(joiner.Begin());
  for (const auto& shard : shards) TRY(joiner.Take(*shard));
  TRY(joiner.Finish());
  return file.Finish();
}

}  // namespace debrief::shards

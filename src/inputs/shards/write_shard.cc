#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/bytes/md5.h"
#include "base/version.h"
#include "inputs/shards/pieces.h"
#include "inputs/shards/shard.h"

namespace debrief::shards {

std::vector<uint32_t> Divide(const std::vector<FoundInput>& inputs, uint32_t shares) {
  // What has no rank is on its own.
  using Owner = std::tuple<int32_t, int32_t, int32_t, size_t>;
  const auto owner = [&](size_t i) {
    const Identity& who = inputs[i].who;
    return Owner(who.job, who.attempt, who.rank, who.rank == kNone32 ? i + 1 : 0);
  };
  constexpr uint64_t kOpening = 4096;  // an input costs something, however short
  std::map<Owner, uint64_t> bytes;
  uint64_t total = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bytes[owner(i)] += inputs[i].bytes + kOpening;
    total += inputs[i].bytes + kOpening;
  }
  std::map<Owner, uint32_t> share_of;
  double before = 0;
  for (const auto& [who, size] : bytes) {
    const double middle = before + static_cast<double>(size) / 2;
    const double share = middle / static_cast<double>(total) * shares;
    share_of[who] = std::min(shares - 1, static_cast<uint32_t>(share));
    before += static_cast<double>(size);
  }
  std::vector<uint32_t> divided(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) divided[i] = share_of[owner(i)];
  return divided;
}

std::string FoundBytes(const std::vector<FoundInput>& inputs) {
  ByteWriter out;
  out.Put<uint64_t>(inputs.size());
  for (const FoundInput& input : inputs) WriteFound(input, out);
  return out.Take();
}

namespace {

// By paths alone: files of a job that still runs grow while tasks look at them.
std::string ListingOf(const std::vector<FoundInput>& inputs) {
  ByteWriter paths;
  for (const FoundInput& input : inputs) paths.PutText(input.path);
  return Md5Hex(paths.bytes());
}

// Reads inputs beside each other and writes their records in order.
class ShardWriter {
 public:
  ShardWriter(GrowingFile& file, std::vector<FoundInput>& inputs) : out_(file), inputs_(inputs) {}

  Status Write(Section section, const ImportOptions& options, ThreadPool& pool,
               SpillBudget& budget) {
    TRY(out_.PutRaw(kMagic));
    std::vector<size_t> own;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (section.share_of[i] == section.shares.front()) own.push_back(i);
    }
    Status first_error;
    pool.MapInOrder<Packed>(
        own.size(), [&](size_t i) { return ReadOne(inputs_[own[i]], options, pool, budget); },
        [&](size_t i, Packed&& packed) {
          if (!first_error.ok()) return;
          Record& record = section.records.emplace_back();
          record.input = static_cast<uint32_t>(own[i]);
          first_error = PutOne(packed, record);
        });
    TRY(std::move(first_error));
    ByteWriter lists;
    lists_.Write(lists);
    ShardIndex index{.version = std::string(kVersion), .long_lists = {}, .sections = {}};
    TRY(out_.PutPacked(Pack(lists.bytes()), lists.bytes().size(), index.long_lists.emplace_back()));
    index.sections.push_back(std::move(section));
    return out_.PutIndex(index);
  }

 private:
  struct Packed {
    std::string bytes;
    uint64_t unpacked_bytes = 0;
    std::unique_ptr<Source> source;
  };

  // Notes of what was found are in the index, and those of assigning are made again.
  Packed ReadOne(FoundInput& input, const ImportOptions& options, ThreadPool& pool,
                 SpillBudget& budget) {
    input.notes.clear();
    Imported imported = ImportInput(input, options, pool, budget, [](uint64_t) {});
    ByteWriter record;
    record.Put(input.state);
    record.Put(input.content_bytes);
    record.Put(input.rows);
    WritePart(imported.part, input.who, lists_, record);
    Packed packed{Pack(record.bytes()), record.bytes().size(), nullptr};
    if (KeepsSource(input)) packed.source = std::move(imported.source);
    return packed;
  }

  Status PutOne(const Packed& packed, Record& record) {
    TRY(out_.PutPacked(packed.bytes, packed.unpacked_bytes, record.part));
    return packed.source == nullptr ? Status() : out_.PutSource(*packed.source, record.source);
  }

  PieceWriter out_;
  std::vector<FoundInput>& inputs_;
  LongLists lists_;
};

}  // namespace

Status WriteShard(const std::string& path, const std::string& found,
                  std::vector<FoundInput>& inputs, const Share& share, const ImportOptions& options,
                  ThreadPool& pool, SpillBudget& budget) {
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].who.input = static_cast<int32_t>(i);
  Section section{.of = share.of,
                  .shares = {share.number},
                  .is_local = share.is_local,
                  .host = share.host,
                  .listing = ListingOf(inputs),
                  .found = found,
                  .share_of = share.is_local ? std::vector<uint32_t>(inputs.size(), share.number)
                                             : Divide(inputs, share.of),
                  .records = {}};
  TRY(ShardWriter(file, inputs).Write(std::move(section), options, pool, budget));
  return file.Finish();
}

}  // namespace debrief::shards

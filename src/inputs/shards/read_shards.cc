#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/version.h"
#include "inputs/shards/pieces.h"
#include "inputs/shards/shard.h"

namespace debrief::shards {

namespace {

constexpr DiagnosticKind kShardMissing = {
    "shard.missing", Severity::kError, "the shard that has it is missing or damaged; left out",
    "Run `debrief map` for that shard again, then `debrief reduce`."};

constexpr size_t kPieceBytes = 3 * sizeof(uint64_t) + 16;
constexpr size_t kTailBytes = kPieceBytes + kMagic.size();

Piece GetPiece(ByteReader& in) {
  Piece piece;
  piece.offset = in.Get<uint64_t>();
  piece.packed_bytes = in.Get<uint64_t>();
  piece.bytes = in.Get<uint64_t>();
  piece.md5 = in.Get<std::array<uint8_t, 16>>();
  return piece;
}

bool ReadIndex(std::string_view bytes, ShardIndex& index) {
  ByteReader in(bytes);
  index.version = in.Text();
  if (index.version != kVersion) return true;  // the rest may have another form
  index.share.number = in.Get<uint32_t>();
  index.share.of = in.Get<uint32_t>();
  index.listing = in.Text();
  index.found = in.Text();
  for (uint64_t left = in.Count(sizeof(uint32_t)); left > 0; --left)
    index.share_of.push_back(in.Get<uint32_t>());
  index.long_lists = GetPiece(in);
  for (uint64_t left = in.Count(kPieceBytes); left > 0 && in.ok(); --left) {
    Record& record = index.records.emplace_back();
    record.input = in.Get<uint32_t>();
    record.part = GetPiece(in);
    record.source = GetPiece(in);
    if (record.input >= index.share_of.size()) in.Fail();
  }
  return in.ok() && index.share.number < index.share.of;
}

std::vector<FoundInput> FoundIn(const ShardIndex& index) {
  std::vector<FoundInput> inputs;
  ByteReader in(index.found);
  for (uint64_t left = in.Count(1); left > 0 && in.ok(); --left) {
    FoundInput input;
    if (ReadFound(in, input) && inputs.size() < index.share_of.size())
      inputs.push_back(std::move(input));
  }
  return inputs;
}

// Files of shards, in folders those whose name says so.
std::vector<std::string> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.path().filename().string().starts_with("shard-") &&
          entry.path().extension() != ".tmp")
        inside.push_back(entry.path().string());
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

}  // namespace

Result<std::unique_ptr<ShardSet::Shard>> ShardSet::OpenOne(const std::string& path) const {
  auto shard = std::make_unique<Shard>();
  shard->path = path;
  ASSIGN_OR_RETURN(shard->file, OpenFileSource(path));
  const Source& file = *shard->file;
  if (file.size() < kMagic.size() + kTailBytes)
    return Status(Code::kTruncated, "it is shorter than any shard");
  ASSIGN_OR_RETURN(ByteView head, file.View(0, kMagic.size()));
  if (head.text() != kMagic) return Status(Code::kInvalid, "it is no shard");
  ASSIGN_OR_RETURN(ByteView tail, file.View(file.size() - kTailBytes, kTailBytes));
  if (!tail.text().ends_with(kMagic)) return Status(Code::kTruncated, "it ends too early");
  ByteReader in(tail.text());
  ASSIGN_OR_RETURN(std::string bytes, ReadPiece(file, GetPiece(in)));
  if (!ReadIndex(bytes, shard->index)) return Status(Code::kInvalid, "its index makes no sense");
  if (shard->index.version != kVersion) {
    return Status(Code::kUnsupported, fmt::format("it was written by debrief {}, and this is {}",
                                                  shard->index.version, kVersion));
  }
  ASSIGN_OR_RETURN(std::string lists, ReadPiece(file, shard->index.long_lists));
  ByteReader lists_in(lists);
  if (!shard->long_lists.Read(lists_in))
    return Status(Code::kInvalid, "its lists of members make no sense");
  return shard;
}

Status ShardSet::Open(const std::vector<std::string>& paths) {
  for (const std::string& path : FilesOf(paths)) {
    Result<std::unique_ptr<Shard>> opened = OpenOne(path);
    if (opened.ok()) {
      shards_.push_back(std::move(opened).value());
    } else {
      troubles_.push_back(Status(opened.status()).At({.file = path}));
    }
  }
  if (shards_.empty()) {
    if (!troubles_.empty()) return troubles_.front();
    return Status(Code::kNotFound, "no shard in it").At({.file = paths.front()});
  }
  // Shards of one listing are shares of it; machines that read files of their own have listings of
  // their own. The order in which shards were given means nothing.
  std::map<std::pair<std::string, std::string>, std::vector<const Shard*>> listings;
  for (const auto& shard : shards_) {
    ByteReader in(shard->index.found);
    FoundInput first;
    if (in.Get<uint64_t>() > 0) (void)ReadFound(in, first);
    const std::string key = shard->index.listing + fmt::to_string(shard->index.share.of);
    listings[{first.path, key}].push_back(shard.get());
  }
  for (auto& [key, shards] : listings) {
    std::sort(shards.begin(), shards.end(), [](const Shard* a, const Shard* b) {
      return std::tie(a->index.share.number, a->path) < std::tie(b->index.share.number, b->path);
    });
    AddListing(shards);
  }
  return {};
}

void ShardSet::AddListing(std::span<const Shard* const> shards) {
  const ShardIndex& any = shards.front()->index;
  const size_t first = inputs_.size();
  for (FoundInput& input : FoundIn(any)) inputs_.push_back(std::move(input));
  places_.resize(inputs_.size());
  std::set<uint32_t> present;
  for (const Shard* shard : shards) {
    present.insert(shard->index.share.number);
    // What a task saw of its own share counts, where it saw something else.
    const bool saw_the_same = shard->index.found == any.found;
    std::vector<FoundInput> own;
    if (!saw_the_same) own = FoundIn(shard->index);
    for (const Record& record : shard->index.records) {
      const size_t at = first + record.input;
      if (at >= places_.size() || places_[at].shard != nullptr) continue;
      places_[at] = {shard, &record};
      if (record.input < own.size()) inputs_[at] = std::move(own[record.input]);
    }
  }
  for (uint32_t share = 0; share < any.share.of; ++share) {
    if (!present.contains(share))
      missing_.push_back(fmt::format("shard {} of {}", share + 1, any.share.of));
  }
  for (size_t i = first; i < inputs_.size(); ++i) {
    if (places_[i].shard != nullptr) continue;
    inputs_[i].state = InputState::kFailed;
    const uint32_t share = any.share_of[i - first];
    const std::string which = fmt::format("shard {} of {}", share + 1, any.share.of);
    inputs_[i].notes.push_back({&kShardMissing, {.offset = -1, .line = -1, .detail = which}});
  }
}

Imported ShardSet::Load(size_t number, FoundInput& input, SpillBudget& budget) const {
  Imported imported;
  TakeNotes(input, imported.part);
  const Place& place = places_[number];
  if (place.shard == nullptr) return imported;
  const Source& file = *place.shard->file;
  const auto fail = [&](const std::string& why) {
    input.state = InputState::kFailed;
    imported.part.diagnostics.Add(
        kShardMissing, input.who.input,
        {.offset = -1, .line = -1, .detail = fmt::format("{}: {}", place.shard->path, why)});
  };
  Result<std::string> bytes = ReadPiece(file, place.record->part);
  if (!bytes.ok()) {
    fail(bytes.status().message());
    return imported;
  }
  ByteReader in(bytes.value());
  const auto state = in.Get<InputState>();
  const auto content_bytes = in.Get<int64_t>();
  const auto rows = in.Get<int64_t>();
  Part part;
  if (state > InputState::kFailed || !ReadPart(in, input.who, place.shard->long_lists, part)) {
    fail("a record makes no sense");
    return imported;
  }
  part.diagnostics = [&] {
    Diagnostics joined = std::move(imported.part.diagnostics);
    joined.Append(part.diagnostics);
    return joined;
  }();
  imported.part = std::move(part);
  input.state = state;
  input.content_bytes = content_bytes;
  input.rows = rows;
  const bool has_source = KeepsSource(input) && place.record->source.packed_bytes > 0;
  if (!has_source) return imported;
  Spilled spilled = Spill(*StreamOf(file, place.record->source), budget);
  imported.source = std::move(spilled.source);
  if (!spilled.trouble.ok()) {
    imported.part.diagnostics.Add(
        kShardMissing, input.who.input,
        {.offset = -1, .line = -1, .detail = "payloads: " + spilled.trouble.message()});
  }
  return imported;
}

}  // namespace debrief::shards

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

constexpr size_t kTailBytes = kPieceBytes + kMagic.size();
constexpr std::string_view kAnyMagic = kMagic.substr(0, kMagic.find_last_of(' ') + 1);

std::string ShardName(uint32_t share, uint32_t of) {
  return fmt::format("shard {} of {}", share + 1, of);
}

void MarkLost(FoundInput& input, const Section& section, size_t at) {
  const std::string which = ShardName(section.share_of[at], section.of);
  input.state = InputState::kFailed;
  input.notes.push_back({&kShardMissing, {.offset = -1, .line = -1, .detail = which}});
}

std::string BytesOf(const FoundInput& input) {
  ByteWriter out;
  WriteFound(input, out);
  return out.Take();
}

// The order in which one walk over all machines' files would find them: by name, folder by folder.
// Members of an archive stay in the order of the archive.
bool ComesBefore(std::string_view a, std::string_view b) {
  a = a.substr(0, a.find('!'));
  b = b.substr(0, b.find('!'));
  const auto weight = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::ranges::lexicographical_compare(a, b, {}, weight, weight);
}

}  // namespace

std::vector<std::string> ShardFiles(const std::vector<std::string>& paths) {
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

Result<std::unique_ptr<Shard>> OpenShard(const std::string& path) {
  auto shard = std::make_unique<Shard>();
  shard->path = path;
  ASSIGN_OR_RETURN(shard->file, OpenFileSource(path));
  const Source& file = *shard->file;
  if (file.size() < kMagic.size() + kTailBytes)
    return Status(Code::kTruncated, "it is shorter than any shard");
  ASSIGN_OR_RETURN(ByteView head, file.View(0, kMagic.size()));
  if (!head.text().starts_with(kAnyMagic)) return Status(Code::kInvalid, "it is no shard");
  if (head.text() != kMagic)
    return Status(Code::kUnsupported, "it was written by another version of debrief");
  ASSIGN_OR_RETURN(ByteView tail, file.View(file.size() - kTailBytes, kTailBytes));
  if (!tail.text().ends_with(kMagic)) return Status(Code::kTruncated, "it ends too early");
  ByteReader in(tail.text());
  ASSIGN_OR_RETURN(std::string bytes, ReadPiece(file, GetPiece(in)));
  if (!ReadIndex(bytes, shard->index)) return Status(Code::kInvalid, "its index makes no sense");
  if (shard->index.version != kVersion) {
    return Status(Code::kUnsupported, fmt::format("it was written by debrief {}, and this is {}",
                                                  shard->index.version, kVersion));
  }
  return shard;
}

namespace {

// Only when parts are read: who joins shards to a shard needs no lists.
Status ReadLists(Shard& shard) {
  for (const Piece& piece : shard.index.long_lists) {
    ASSIGN_OR_RETURN(std::string lists, ReadPiece(*shard.file, piece));
    ByteReader in(lists);
    if (!shard.long_lists.emplace_back(std::make_unique<LongLists>())->Read(in))
      return {Code::kInvalid, "its lists of members make no sense"};
  }
  return {};
}

}  // namespace

Status ShardSet::Open(const std::vector<std::string>& paths) {
  for (const std::string& path : ShardFiles(paths)) {
    Result<std::unique_ptr<Shard>> opened = OpenShard(path);
    Status status = opened.ok() ? ReadLists(*opened.value()) : opened.status();
    if (status.ok()) {
      shards_.push_back(std::move(opened).value());
    } else {
      troubles_.push_back(std::move(status).At({.file = path}));
    }
  }
  if (shards_.empty()) {
    if (!troubles_.empty()) return troubles_.front();
    return Status(Code::kNotFound, "no shard in it").At({.file = paths.front()});
  }
  // Shards of one listing are shares of it; machines that read files of their own have listings of
  // their own. The order in which shards were given means nothing.
  std::map<std::tuple<std::string, std::string, uint32_t>, std::vector<SectionOfShard>> listings;
  std::map<uint32_t, std::vector<SectionOfShard>> local;  // by how many tasks there were
  for (const auto& shard : shards_) {
    for (const Section& section : shard->index.sections) {
      ByteReader in(section.found);
      FoundInput first;
      if (in.Get<uint64_t>() > 0) (void)ReadFound(in, first);
      auto& sections = section.is_local ? local[section.of]
                                        : listings[{first.path, section.listing, section.of}];
      sections.push_back({shard.get(), &section});
    }
  }
  const auto key = [](const SectionOfShard& each) {
    return std::tie(each.section->shares.front(), each.section->host, each.shard->path);
  };
  for (auto& [listing, sections] : listings) {
    std::ranges::stable_sort(sections, {}, key);
    AddListing(sections);
  }
  for (auto& [of, sections] : local) {
    std::ranges::stable_sort(sections, {}, key);
    AddLocal(sections);
  }
  return {};
}

void ShardSet::AddMissing(std::span<const SectionOfShard> sections) {
  std::set<uint32_t> present;
  for (const SectionOfShard& each : sections)
    present.insert(each.section->shares.begin(), each.section->shares.end());
  const uint32_t of = sections.front().section->of;
  for (uint32_t share = 0; share < of; ++share) {
    if (!present.contains(share)) missing_.push_back(ShardName(share, of));
  }
}

void ShardSet::AddListing(std::span<const SectionOfShard> sections) {
  AddMissing(sections);
  const Section& any = *sections.front().section;
  const size_t first = inputs_.size();
  for (FoundInput& input : FoundIn(any)) inputs_.push_back(std::move(input));
  places_.resize(inputs_.size());
  for (const auto& [shard, section] : sections) {
    // What a task saw of its own share counts, where it saw something else.
    std::vector<FoundInput> own;
    if (section->found != any.found) own = FoundIn(*section);
    for (const Record& record : section->records) {
      const size_t at = first + record.input;
      if (at >= places_.size() || places_[at].shard != nullptr) continue;
      places_[at] = {shard, &record};
      if (record.input < own.size()) inputs_[at] = std::move(own[record.input]);
    }
  }
  for (size_t i = first; i < inputs_.size(); ++i) {
    if (places_[i].shard == nullptr) MarkLost(inputs_[i], any, i - first);
  }
}

void ShardSet::Add(const SectionOfShard& of, std::vector<LocalInput>& all) {
  std::vector<FoundInput> inputs = FoundIn(*of.section);
  std::vector<Place> places(inputs.size());
  for (const Record& record : of.section->records) {
    if (record.input < places.size()) places[record.input] = {of.shard, &record};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (places[i].shard == nullptr) MarkLost(inputs[i], *of.section, i);
    all.push_back({std::move(inputs[i]), places[i], of.section->host});
  }
}

// Whether two machines, or one that was asked twice, saw one file. Machines may well have different
// files of one name; texts tell little of themselves before they are read, so what was read of them
// counts, too.
bool ShardSet::IsSame(const LocalInput& one, const LocalInput& other) {
  if (one.host == other.host) return true;
  if (BytesOf(one.input) != BytesOf(other.input)) return false;
  const bool is_text = one.input.importer != nullptr && one.input.importer->info.fallback;
  if (!is_text || one.place.record == nullptr || other.place.record == nullptr) return true;
  return one.place.record->part.md5 == other.place.record->part.md5;
}

// All files together are those of the job, wherever they lie.
void ShardSet::AddLocal(std::span<const SectionOfShard> sections) {
  const size_t missing_before = missing_.size();
  AddMissing(sections);
  lacks_unknown_inputs_ |= missing_.size() > missing_before || !troubles_.empty();
  std::vector<LocalInput> all;
  for (const SectionOfShard& each : sections) Add(each, all);
  std::ranges::stable_sort(
      all, [](const auto& a, const auto& b) { return ComesBefore(a.input.path, b.input.path); });
  std::map<std::string, std::vector<const LocalInput*>> by_path;
  std::vector<bool> is_again(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    auto& others = by_path[all[i].input.path];
    is_again[i] = std::ranges::any_of(
        others, [&](const LocalInput* other) { return IsSame(*other, all[i]); });
    if (!is_again[i]) others.push_back(&all[i]);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (is_again[i]) continue;
    if (by_path[all[i].input.path].size() > 1)
      all[i].input.path = fmt::format("{}:{}", all[i].host, all[i].input.path);
    inputs_.push_back(std::move(all[i].input));
    places_.push_back(all[i].place);
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
  if (state > InputState::kFailed ||
      !ReadPart(in, input.who, *place.shard->long_lists[place.record->long_lists], part)) {
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

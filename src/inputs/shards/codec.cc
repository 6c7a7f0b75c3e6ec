#include "inputs/shards/codec.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace debrief::shards {

uint32_t LongLists::Add(std::span<const int64_t> list) {
  const std::lock_guard lock(mutex_);
  return static_cast<uint32_t>(lists_.Intern(list));
}

void LongLists::Write(ByteWriter& out) const {
  out.Put<uint64_t>(lists_.size() - 1);
  for (uint32_t number = 1; number < lists_.size(); ++number) {
    const auto list = lists_.Get(ListId{number});
    out.Put<uint64_t>(list.size());
    out.PutRaw(list.data(), list.size_bytes());
  }
}

namespace {

std::vector<int64_t> ReadNumbers(ByteReader& in) {
  std::vector<int64_t> numbers(in.Count(sizeof(int64_t)));
  const std::string_view raw = in.Raw(numbers.size() * sizeof(int64_t));
  if (in.ok() && !raw.empty()) std::memcpy(numbers.data(), raw.data(), raw.size());
  return numbers;
}

}  // namespace

bool LongLists::Read(ByteReader& in) {
  hashes_.push_back(0);
  for (uint64_t left = in.Count(sizeof(uint64_t)); left > 0 && in.ok(); --left) {
    const std::vector<int64_t> list = ReadNumbers(in);
    const auto number = static_cast<size_t>(lists_.Intern(list));
    if (number != hashes_.size()) in.Fail();  // twice the same
    hashes_.push_back(SequencePool<int64_t, ListId>::HashOf(list));
  }
  return in.ok();
}

ListId LongLists::InternInto(uint32_t number, Pools& pools) const {
  if (number == 0 || number >= hashes_.size()) return ListId::kNone;
  return pools.lists.InternKept(lists_.Get(ListId{number}), hashes_[number]);
}

namespace {

// ---- kinds of trouble: those of a shard live as long as the program, like the constants.

struct KeptKind {
  std::string name, meaning, remedy;
  DiagnosticKind kind;
};

const DiagnosticKind& KindOf(std::string_view name, Severity severity, std::string_view meaning,
                             std::string_view remedy) {
  static std::mutex mutex;
  static std::map<std::string, KeptKind, std::less<>> kinds;
  const std::lock_guard lock(mutex);
  const auto known = kinds.find(name);
  if (known != kinds.end()) return known->second.kind;
  KeptKind& kept = kinds[std::string(name)];
  kept.name = name;
  kept.meaning = meaning;
  kept.remedy = remedy;
  kept.kind = {kept.name, severity, kept.meaning, kept.remedy};
  return kept.kind;
}

void WriteKind(const DiagnosticKind& kind, ByteWriter& out) {
  out.PutText(kind.name);
  out.Put(kind.severity);
  out.PutText(kind.meaning);
  out.PutText(kind.remedy);
}

const DiagnosticKind& ReadKind(ByteReader& in) {
  const std::string_view name = in.Text();
  const auto severity = in.Get<uint8_t>();
  if (severity > static_cast<uint8_t>(Severity::kError)) in.Fail();
  const std::string_view meaning = in.Text(), remedy = in.Text();
  static constexpr DiagnosticKind kNoKind = {"shard.damaged", Severity::kError, "", ""};
  return in.ok() ? KindOf(name, Severity{severity}, meaning, remedy) : kNoKind;
}

void WriteOccurrence(const Occurrence& occurrence, ByteWriter& out) {
  out.Put(occurrence.offset);
  out.Put(occurrence.line);
  out.PutText(occurrence.detail);
}

Occurrence ReadOccurrence(ByteReader& in) {
  Occurrence occurrence;
  occurrence.offset = in.Get<int64_t>();
  occurrence.line = in.Get<int64_t>();
  occurrence.detail = in.Text();
  return occurrence;
}

void WriteDiagnostics(const Diagnostics& diagnostics, ByteWriter& out) {
  out.Put<uint64_t>(diagnostics.all().size());
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    WriteKind(*diagnostic.kind, out);
    out.Put(diagnostic.count);
    out.Put<uint64_t>(diagnostic.first.size());
    for (const Occurrence& occurrence : diagnostic.first) WriteOccurrence(occurrence, out);
  }
}

void ReadDiagnostics(ByteReader& in, int32_t input, Diagnostics& diagnostics) {
  for (uint64_t left = in.Count(1); left > 0 && in.ok(); --left) {
    const DiagnosticKind& kind = ReadKind(in);
    auto count = in.Get<int64_t>();
    for (uint64_t more = in.Count(1); more > 0 && in.ok(); --more, --count)
      diagnostics.Add(kind, input, ReadOccurrence(in));
    if (count > 0) diagnostics.AddMany(kind, input, count);
  }
}

// ---- pools. Ids are given in order, so what is interned in order gets the same.

void WritePools(const Pools& pools, LongLists& lists, ByteWriter& out) {
  out.Put<uint64_t>(pools.strings.size() - 1);
  for (uint32_t id = 1; id < pools.strings.size(); ++id) out.PutText(pools.Text(StringId{id}));
  out.Put<uint64_t>(pools.lists.size() - 1);
  for (uint32_t id = 1; id < pools.lists.size(); ++id) {
    const auto list = pools.lists.Get(ListId{id});
    const bool is_long = list.size() > LongLists::kShort;
    out.Put<uint32_t>(is_long ? lists.Add(list) : 0);
    if (is_long) continue;
    out.Put<uint64_t>(list.size());
    out.PutRaw(list.data(), list.size_bytes());
  }
  out.Put<uint64_t>(pools.stack_count() - 1);
  for (uint32_t id = 1; id < pools.stack_count(); ++id) {
    const auto stack = pools.GetStack(StackId{id});
    out.Put<uint64_t>(stack.size());
    for (FrameId frame : stack) out.Put(pools.GetFrame(frame));
  }
}

void ReadLists(ByteReader& in, const LongLists& lists, Pools& pools) {
  for (uint64_t left = in.Count(sizeof(uint32_t)); left > 0 && in.ok(); --left) {
    const size_t expected = pools.lists.size();
    const auto number = in.Get<uint32_t>();
    const ListId id =
        number == 0 ? pools.lists.Intern(ReadNumbers(in)) : lists.InternInto(number, pools);
    if (static_cast<size_t>(id) != expected) in.Fail();
  }
}

void ReadStacks(ByteReader& in, Pools& pools) {
  const size_t strings = pools.strings.size();
  const auto is_known = [&](StringId id) { return static_cast<size_t>(id) < strings; };
  std::vector<FrameId> frames;
  for (uint64_t left = in.Count(sizeof(uint64_t)); left > 0 && in.ok(); --left) {
    frames.clear();
    for (uint64_t more = in.Count(sizeof(Frame)); more > 0; --more) {
      const auto frame = in.Get<Frame>();
      if (!is_known(frame.file) || !is_known(frame.function) || !is_known(frame.text)) in.Fail();
      if (in.ok()) frames.push_back(pools.AddFrame(frame));
    }
    const size_t expected = pools.stack_count();
    if (in.ok() && static_cast<size_t>(pools.AddStack(frames)) != expected) in.Fail();
  }
}

void ReadPools(ByteReader& in, const LongLists& lists, Pools& pools) {
  for (uint64_t left = in.Count(sizeof(uint64_t)); left > 0 && in.ok(); --left) {
    const size_t expected = pools.strings.size();
    const std::string_view text = in.Text();
    if (in.ok() && static_cast<size_t>(pools.Intern(text)) != expected) in.Fail();
  }
  ReadLists(in, lists, pools);
  ReadStacks(in, pools);
}

// ---- tables

size_t BytesOf(ColumnType type) {
  switch (type) {
    case ColumnType::kInt64:
    case ColumnType::kDouble:
      return 8;
    case ColumnType::kBool:
      return 1;
    case ColumnType::kInt32:
    case ColumnType::kString:
    case ColumnType::kList:
    case ColumnType::kStack:
      break;
  }
  return 4;
}

void WriteTable(const Table& table, ByteWriter& out) {
  const TableInfo& info = table.info();
  out.PutText(info.name);
  out.Put<uint64_t>(info.columns.size());
  out.Put<uint64_t>(table.size());
  for (size_t column = 0; column < info.columns.size(); ++column)
    table.Copy(column, 0, table.size(),
               out.Room(table.size() * BytesOf(info.columns[column].type)));
}

// From the identity that rows were read with to the one that their input has now.
struct Renaming {
  Identity from, to;

  bool Changes() const {
    return std::tie(from.input, from.job, from.attempt, from.rank) !=
           std::tie(to.input, to.job, to.attempt, to.rank);
  }

  // What a value of the column becomes; null when the column tells no identity.
  std::pair<const int32_t*, const int32_t*> Of(std::string_view column) const {
    if (column == "input") return {&from.input, &to.input};
    if (column == "job") return {&from.job, &to.job};
    if (column == "attempt") return {&from.attempt, &to.attempt};
    if (column == "rank") return {&from.rank, &to.rank};
    return {nullptr, nullptr};
  }
};

void Rename(const Renaming& renaming, const ColumnInfo& column, std::string& values) {
  const auto [from, to] = renaming.Of(column.name);
  if (from == nullptr || column.type != ColumnType::kInt32 || *from == *to) return;
  for (size_t at = 0; at < values.size(); at += sizeof(int32_t)) {
    if (std::memcmp(values.data() + at, from, sizeof *from) == 0)
      std::memcpy(values.data() + at, to, sizeof *to);
  }
}

bool HasOnlyIdsBelow(size_t end, std::string_view values) {
  for (size_t at = 0; at < values.size(); at += sizeof(uint32_t)) {
    uint32_t id = 0;
    std::memcpy(&id, values.data() + at, sizeof id);
    if (id >= end) return false;
  }
  return true;
}

// Are all ids of the column ids of the pools?
bool FitsPools(const Pools& pools, ColumnType type, std::string_view values) {
  if (type == ColumnType::kString) return HasOnlyIdsBelow(pools.strings.size(), values);
  if (type == ColumnType::kList) return HasOnlyIdsBelow(pools.lists.size(), values);
  if (type == ColumnType::kStack) return HasOnlyIdsBelow(pools.stack_count(), values);
  return true;
}

void ReadTable(ByteReader& in, const Renaming& renaming, Part& part) {
  const std::string_view name = in.Text();
  const auto columns = in.Get<uint64_t>();
  const uint64_t rows = in.Count(1);
  const auto all = AllTables();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const TableInfo* info) { return info->name == name; });
  if (found == all.end() || (*found)->columns.size() != columns) return in.Fail();
  Table& table = part.tables.Edit(static_cast<TableId>(found - all.begin()));
  for (size_t index = 0; index < columns; ++index) {
    const ColumnInfo& column = (*found)->columns[index];
    std::string values(in.Raw(rows * BytesOf(column.type)));
    if (!FitsPools(part.pools, column.type, values)) in.Fail();
    if (!in.ok()) return;
    if (renaming.Changes()) Rename(renaming, column, values);
    table.Extend(index, rows, values.data());
  }
}

}  // namespace

void WritePart(const Part& part, const Identity& who, LongLists& lists, ByteWriter& out) {
  out.Put(who);
  WritePools(part.pools, lists, out);
  std::vector<const Table*> filled;
  for (TableId id = 0; id < AllTables().size(); ++id) {
    const Table* table = part.tables.Find(id);
    if (table != nullptr && table->size() > 0) filled.push_back(table);
  }
  out.Put<uint64_t>(filled.size());
  for (const Table* table : filled) WriteTable(*table, out);
  WriteDiagnostics(part.diagnostics, out);
}

bool ReadPart(ByteReader& in, const Identity& who, const LongLists& lists, Part& part) {
  const Renaming renaming = {.from = in.Get<Identity>(), .to = who};
  ReadPools(in, lists, part.pools);
  for (uint64_t left = in.Count(1); left > 0 && in.ok(); --left) ReadTable(in, renaming, part);
  ReadDiagnostics(in, who.input, part.diagnostics);
  if (!in.ok()) part = Part();
  return in.ok();
}

namespace {

// Both ways through one list of fields, so that they cannot differ: `visit` writes or reads.
template <typename Input, typename Visit>
void VisitNumbers(Input& input, Visit visit) {
  visit(input.bytes);
  visit(input.content_bytes);
  visit(input.packing);
  visit(input.state);
  visit(input.who);
  visit(input.local_rank);
  visit(input.named_run);
  visit(input.named_attempt);
  visit(input.member);
  visit(input.rows);
  visit(input.recognition.mine);
  visit(input.recognition.rank);
  visit(input.recognition.rank_in_name);
  visit(input.recognition.local_rank);
  visit(input.recognition.world_size);
  visit(input.recognition.start_ns);
  visit(input.recognition.pid);
  visit(input.text.said_rank);
  visit(input.text.several);
  visit(input.text.is_labelled);
  visit(input.text.is_launcher);
  visit(input.text.launched_rank);
  visit(input.text.is_output);
  visit(input.text.world_size);
  visit(input.text.first_rank);
  visit(input.text.pid);
  visit(input.text.start_ns);
  visit(input.text.end_ns);
}

template <typename Input, typename Visit>
void VisitTexts(Input& input, Visit visit) {
  visit(input.path);
  visit(input.folder);
  visit(input.name);
  visit(input.file);
  visit(input.host);
  visit(input.why_rank);
  visit(input.why_attempt);
  visit(input.recognition.host);
  visit(input.text.host);
}

template <typename Input, typename Visit>
void VisitLists(Input& input, Visit visit) {
  visit(input.text.ranks);
  visit(input.text.restarts);
  visit(input.text.processes);
}

}  // namespace

void WriteFound(const FoundInput& input, ByteWriter& out) {
  VisitNumbers(input, [&](const auto& value) { out.Put(value); });
  VisitTexts(input, [&](const std::string& text) { out.PutText(text); });
  VisitLists(input, [&](const auto& list) {
    out.Put<uint64_t>(list.size());
    for (const auto& value : list) {
      if constexpr (requires { value.first; }) {
        out.Put(value.first);
        out.Put(value.second);
      } else {
        out.Put(value);
      }
    }
  });
  out.PutText(input.importer == nullptr ? "" : input.importer->info.name);
  out.Put<uint64_t>(input.notes.size());
  for (const FoundInput::Note& note : input.notes) {
    WriteKind(*note.kind, out);
    WriteOccurrence(note.occurrence, out);
  }
}

bool ReadFound(ByteReader& in, FoundInput& input) {
  VisitNumbers(input, [&](auto& value) { value = in.Get<std::remove_cvref_t<decltype(value)>>(); });
  VisitTexts(input, [&](std::string& text) { text = in.Text(); });
  VisitLists(input, [&]<typename List>(List& list) {
    for (uint64_t left = in.Count(sizeof(int32_t)); left > 0 && in.ok(); --left) {
      auto& value = list.emplace_back();
      if constexpr (requires { value.first; }) {
        value.first = in.Get<std::remove_cvref_t<decltype(value.first)>>();
        value.second = in.Get<std::remove_cvref_t<decltype(value.second)>>();
      } else {
        value = in.Get<std::remove_cvref_t<decltype(value)>>();
      }
    }
  });
  const std::string_view importer = in.Text();
  input.importer = FindImporter(importer);
  if (input.importer == nullptr && !importer.empty()) in.Fail();
  if (input.packing > Packing::kZstd || input.state > InputState::kFailed) in.Fail();
  for (uint64_t left = in.Count(1); left > 0 && in.ok(); --left) {
    const DiagnosticKind& kind = ReadKind(in);
    input.notes.push_back({&kind, ReadOccurrence(in)});
  }
  return in.ok();
}

}  // namespace debrief::shards

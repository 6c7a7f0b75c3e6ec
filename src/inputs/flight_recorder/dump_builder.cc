#include "inputs/flight_recorder/dump_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "inputs/flight_recorder/comm_state.h"
#include "inputs/flight_recorder/diagnostics.h"
#include "tables/comm_group.h"
#include "tables/comm_status.h"

namespace debrief::inputs::flight_recorder {

void DumpBuilder::Read() {
  // Thirty columns that grow from one row cost more than rows do; an entry has some 200 bytes.
  constexpr size_t kBytesOfEntry = 256, kFewestRows = 64, kMostRows = 4096;
  rows_.ops().Reserve(std::clamp(bytes_ / kBytesOfEntry, kFewestRows, kMostRows));
  Status status = reader_.Run();
  if (status.code() == Code::kUnsupported) {
    part_ = Part();
    part_.diagnostics.Add(kUnsafe, who_.input,
                          {.offset = status.place().offset, .detail = status.message()});
    return;
  }
  if (!status.ok()) {
    header_.whole = false;
    Gather(reader_.Unfinished());
    FoldHeader();
    Report(status);
  }
  FinishDump(part_, who_, header_);
}

void DumpBuilder::Report(const Status& status) {
  const DiagnosticKind& kind = status.code() == Code::kTruncated ? kTruncated : kCorrupt;
  part_.diagnostics.Add(
      kind, who_.input,
      {.offset = status.place().offset,
       .detail = fmt::format("{}; entries kept: {}", status.message(), rows_.ops().size())});
}

bool DumpBuilder::Fold(PickleKind kind, std::span<const PickleValue> items, PickleValue& folded) {
  return kind == PickleKind::kDict ? FoldDict(items, folded) : FoldList(items, folded);
}

bool DumpBuilder::FoldDict(std::span<const PickleValue> items, PickleValue& folded) {
  Gather(items);
  is_row_ = false;
  if (HasText(Field::kProfilingName) || HasText(Field::kState)) {
    folded = FoldEntry();
  } else if (HasText(Field::kFilename)) {
    folded = FoldFrame();
  } else if (HasText(Field::kRanks) || Is(At(Field::kRanks), kInts)) {
    folded = FoldGroup();
  } else if (Number(Field::kLastEnqueued) != kNone64) {
    folded = FoldStatus();
  } else if (HasText(Field::kVersion) || Is(At(Field::kEntries), kRows) ||
             At(Field::kPgConfig).is(PickleKind::kDict)) {
    FoldHeader();
    folded = PickleValue::Folded(kDump, 0);
  } else {
    return false;
  }
  return true;
}

// Lists, tuples and sets of one kind of thing.
bool DumpBuilder::FoldList(std::span<const PickleValue> items, PickleValue& folded) {
  auto all = [&](auto is) { return std::all_of(items.begin(), items.end(), is); };
  if (all([](PickleValue item) { return item.is(PickleKind::kInt); })) {
    folded = FoldInts(items);
  } else if (all([](PickleValue item) { return item.is(PickleKind::kString); })) {
    folded = items.size() == 2 ? FoldPair(items[0], items[1]) : FoldTexts(items);
  } else if (all([](PickleValue item) { return Is(item, kFrame); })) {
    folded = FoldFrames(items);
  } else if (all([](PickleValue item) { return Is(item, kInts); })) {
    folded = FoldShapes(items);
  } else if (all([](PickleValue item) { return Is(item, kRow); })) {
    folded = PickleValue::Folded(kRows, 0);
  } else {
    return false;
  }
  return true;
}

PickleValue DumpBuilder::FoldInts(std::span<const PickleValue> items) {
  numbers_.clear();
  for (PickleValue item : items) numbers_.push_back(item.number);
  return PickleValue::Folded(kInts, static_cast<int64_t>(ints_.Intern(numbers_)));
}

// Most ops have one tensor, and few shapes.
PickleValue DumpBuilder::FoldShapes(std::span<const PickleValue> items) {
  StringId text = StringId::kNone;
  if (items.size() == 1) {
    const auto list = static_cast<size_t>(items[0].number);
    if (list >= shape_of_.size()) shape_of_.resize(ints_.size());
    if (shape_of_[list] == StringId::kNone) shape_of_[list] = ShapeText(items);
    text = shape_of_[list];
  } else {
    text = ShapeText(items);
  }
  return PickleValue::Folded(kShapes, static_cast<int64_t>(text));
}

StringId DumpBuilder::ShapeText(std::span<const PickleValue> items) {
  line_ = "[";
  for (PickleValue item : items) {
    if (line_.size() > 1) line_ += ", ";
    fmt::format_to(std::back_inserter(line_), "[{}]",
                   fmt::join(ints_.Get(static_cast<ListId>(item.number)), ", "));
  }
  line_ += ']';
  return part_.pools.Intern(line_);
}

// Every entry has the pair of its group; there are few groups.
PickleValue DumpBuilder::FoldPair(PickleValue first, PickleValue second) {
  Pair& pair = pairs_[(first.id * 31 + second.id) % pairs_.size()];
  if (pair.first != first.id || pair.second != second.id) {
    std::array<PickleValue, 2> items = {first, second};
    pair = {first.id, second.id, FoldTexts(items)};
  }
  return pair.texts;
}

PickleValue DumpBuilder::FoldTexts(std::span<const PickleValue> items) {
  Texts texts;
  texts.joined = items.size() == 1 ? Text(items[0]) : Joined(items);
  if (!items.empty()) texts.first = Text(items[0]);
  if (items.size() > 1) texts.second = Text(items[1]);
  texts_.push_back(texts);
  return PickleValue::Folded(kTexts, static_cast<int64_t>(texts_.size() - 1));
}

StringId DumpBuilder::Joined(std::span<const PickleValue> items) {
  line_.clear();
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) line_ += ", ";
    line_ += reader_.Text(items[i]);
  }
  return part_.pools.Intern(line_);
}

PickleValue DumpBuilder::FoldFrames(std::span<const PickleValue> items) {
  frames_.clear();
  for (PickleValue item : items) frames_.push_back(static_cast<FrameId>(item.number));
  return PickleValue::Folded(kStack, static_cast<int64_t>(part_.pools.AddStack(frames_)));
}

PickleValue DumpBuilder::FoldFrame() {
  Frame frame;
  frame.file = Text(At(Field::kFilename));
  frame.function = Text(At(Field::kName));
  frame.line = LineOf(Number(Field::kLine));
  return PickleValue::Folded(kFrame, static_cast<int64_t>(part_.pools.AddFrame(frame)));
}

PickleValue DumpBuilder::FoldGroup() {
  Group group{.name = Text(At(Field::kName)), .description = Text(At(Field::kDesc)), .members = {}};
  PickleValue ranks = At(Field::kRanks);
  if (ranks.is(PickleKind::kString)) {
    group.members = MemberList::OfText(reader_.Text(ranks));
  } else {
    auto list = ints_.Get(static_cast<ListId>(ranks.number));
    group.members = MemberList({list.begin(), list.end()});
  }
  groups_.push_back(std::move(group));
  return PickleValue::Folded(kGroup, static_cast<int64_t>(groups_.size() - 1));
}

PickleValue DumpBuilder::FoldStatus() {
  statuses_.push_back(
      {Number(Field::kLastEnqueued), Number(Field::kLastStarted), Number(Field::kLastCompleted)});
  return PickleValue::Folded(kStatus, static_cast<int64_t>(statuses_.size() - 1));
}

// Of the gathered fields, those of the dump itself.
void DumpBuilder::FoldHeader() {
  if (HasText(Field::kVersion)) header_.version = reader_.Text(At(Field::kVersion));
  for (Field field : {Field::kNcclVersion, Field::kCommLibVersion}) {
    if (HasText(field)) header_.library = reader_.Text(At(field));
  }
  AddGroups(At(Field::kPgConfig));
  AddStatuses(At(Field::kPgStatus));
  AddCommStates(At(Field::kCommState));
}

void DumpBuilder::AddGroups(PickleValue config) {
  auto items = reader_.Items(config);
  if (!items.empty()) part_.tables.Edit<CommGroupTable>().Reserve(items.size() / 2);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    PickleValue key = items[i];
    StringId name =
        key.is(PickleKind::kInt) ? part_.pools.Intern(fmt::to_string(key.number)) : Text(key);
    if (Is(items[i + 1], kGroup)) {
      Group& group = groups_[static_cast<size_t>(items[i + 1].number)];
      if (group.name != StringId::kNone) name = group.name;
      rows_.AddGroup(name, group.description, group.members);
    } else if (Is(items[i + 1], kInts)) {
      auto ranks = ints_.Get(static_cast<ListId>(items[i + 1].number));
      rows_.AddGroup(name, StringId::kNone, MemberList({ranks.begin(), ranks.end()}));
    }
  }
}

void DumpBuilder::AddStatuses(PickleValue status) {
  auto items = reader_.Items(status);
  if (!items.empty()) part_.tables.Edit<CommStatusTable>().Reserve(items.size() / 2);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!Is(items[i + 1], kStatus)) continue;
    const GroupStatus& group = statuses_[static_cast<size_t>(items[i + 1].number)];
    rows_.AddStatus(Number(items[i]), group.enqueued, group.started, group.completed);
  }
}

void DumpBuilder::AddCommStates(PickleValue states) {
  if (!states.is(PickleKind::kDict)) return;
  const auto items = reader_.Items(states);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!items[i].is(PickleKind::kString) || !items[i + 1].is(PickleKind::kDict)) continue;
    CommState state(reader_.Text(items[i]));
    const auto fields = reader_.Items(items[i + 1]);
    for (size_t field = 0; field + 1 < fields.size(); field += 2) {
      const bool are_texts =
          fields[field].is(PickleKind::kString) && fields[field + 1].is(PickleKind::kString);
      if (are_texts) state.Add(reader_.Text(fields[field]), reader_.Text(fields[field + 1]));
    }
    state.AddTo(who_, part_);
  }
}

int64_t DumpBuilder::Number(PickleValue value) const {
  if (value.is(PickleKind::kInt)) return value.number;
  if (value.is(PickleKind::kString)) return NumberOf(reader_.Text(value));
  return kNone64;
}

}  // namespace debrief::inputs::flight_recorder

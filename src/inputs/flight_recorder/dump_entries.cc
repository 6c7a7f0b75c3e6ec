// The entries of a pickled dump: from the fields of a dict to a row of comm_op.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "inputs/flight_recorder/diagnostics.h"
#include "inputs/flight_recorder/dump_builder.h"

namespace debrief::inputs::flight_recorder {

namespace {

// Fields of an entry that are a number and nothing else.
constexpr std::array kNumbers = {Field::kRecordId,  Field::kPgId,        Field::kCollectiveSeq,
                                 Field::kP2pSeq,    Field::kOpId,        Field::kCreatedNs,
                                 Field::kStartedNs, Field::kCompletedNs, Field::kDurationMs,
                                 Field::kTimeoutMs};

}  // namespace

PickleValue DumpBuilder::FoldEntry() {
  if (!HasText(Field::kProfilingName)) {
    part_.diagnostics.Add(
        kBadEntry, who_.input,
        {.offset = static_cast<int64_t>(reader_.offset()), .detail = "no profiling_name"});
    return PickleValue::Folded(kRow, 0);
  }
  row_ = rows_.NewOp();
  for (Field field : kNumbers) {
    if (Has(field)) SetNumber(field, At(field), row_);
  }
  Identify(row_);
  Describe(row_);
  rows_.ops().Add(row_);
  return PickleValue::Folded(kRow, 0);
}

bool DumpBuilder::FoldAlike(uint32_t layout, std::span<const PickleValue> items,
                            PickleValue& folded) {
  if (layout >= alike_.size()) alike_.resize(size_t{layout} + 1);
  Alike& alike = alike_[layout];
  if (!alike.is_entry) {
    const size_t entries = rows_.ops().size();
    const bool is_folded = FoldDict(items, folded);
    if (!alike.is_seen && rows_.ops().size() > entries) LearnAlike(items, alike);
    alike.is_seen = true;
    return is_folded;
  }
  for (const auto& [field, at] : alike.numbers) SetNumber(field, items[at], alike.row);
  rows_.ops().Add(alike.row);
  folded = PickleValue::Folded(kRow, 0);
  return true;
}

// Numbers in other fields than kNumbers mean something in old dumps alone, and are read as usual.
void DumpBuilder::LearnAlike(std::span<const PickleValue> items, Alike& alike) {
  std::array<size_t, static_cast<size_t>(Field::kCount)> position{};  // the last of a key counts
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].is(PickleKind::kString))
      position[static_cast<size_t>(FieldOfKey(items[i]))] = i + 1;
  }
  alike.numbers.reserve(kNumbers.size());
  for (size_t i = 1; i < position.size(); ++i) {
    const auto field = static_cast<Field>(i);
    const bool is_number =
        Has(field) && (At(field).is(PickleKind::kInt) || At(field).is(PickleKind::kDouble));
    if (!is_number) continue;
    if (std::find(kNumbers.begin(), kNumbers.end(), field) == kNumbers.end()) return;
    alike.numbers.emplace_back(field, position[i]);
  }
  alike.row = row_;
  alike.is_entry = true;
}

void DumpBuilder::SetNumber(Field field, PickleValue value, CommOpRow& row) const {
  const int64_t number = Number(value);
  switch (field) {
    case Field::kRecordId:
      row.record = Narrow(number);
      break;
    case Field::kPgId:
      row.pg_id = Narrow(number);
      break;
    case Field::kCollectiveSeq:
      row.collective_seq = Narrow(number);
      break;
    case Field::kP2pSeq:
      row.p2p_seq = Narrow(number);
      break;
    case Field::kOpId:
      row.op_id = Narrow(number);
      break;
    case Field::kCreatedNs:
      row.created_ns = TimeOrNone(number);
      break;
    case Field::kStartedNs:
      row.started_ns = TimeOrNone(number);
      break;
    case Field::kCompletedNs:
      row.completed_ns = TimeOrNone(number);
      break;
    case Field::kTimeoutMs:
      row.timeout_ms = Narrow(number);
      break;
    case Field::kDurationMs:
      row.duration_ns = value.is(PickleKind::kDouble) ? MillisToNs(value.real)
                        : value.is(PickleKind::kInt)  ? MillisToNs(static_cast<double>(number))
                                                      : kNone64;
      break;
    default:
      break;
  }
}

// Which op of which group it is.
void DumpBuilder::Identify(CommOpRow& row) {
  bool is_p2p = rows_.Name(Text(At(Field::kProfilingName)), row);
  row.is_p2p = is_p2p || IsTrue(Field::kIsP2p);  // torchcomms says false of all
  if (!Has(Field::kCollectiveSeq)) row.collective_seq = Narrow(Number(Field::kSeq));
  PickleValue group = At(Field::kProcessGroup);
  if (Is(group, kTexts)) {
    const Texts& texts = texts_[static_cast<size_t>(group.number)];
    row.group_name = texts.first;
    row.group_desc = texts.second;
  } else {
    row.group_name = Text(Has(Field::kProcessGroup) ? group : At(Field::kProcessGroupName));
  }
}

// What it does and how far it came.
void DumpBuilder::Describe(CommOpRow& row) {
  row.input_sizes = Sizes(At(Field::kInputSizes));
  row.output_sizes = Sizes(At(Field::kOutputSizes));
  row.input_dtypes = Dtypes(At(Field::kInputDtypes));
  row.output_dtypes = Dtypes(At(Field::kOutputDtypes));
  row.state = Text(At(Field::kState));
  row.retired = IsTrue(Field::kRetired);
  if (Has(Field::kCreatedUs)) row.created_ns = MicrosToNs(Number(Field::kCreatedUs));
  if (Is(At(Field::kFrames), kStack)) row.stack = static_cast<StackId>(At(Field::kFrames).number);
  row.thread = rows_.Thread(Text(At(Field::kThreadName)), Text(At(Field::kThreadId)));
}

StringId DumpBuilder::Sizes(PickleValue value) {
  if (Is(value, kShapes)) return static_cast<StringId>(value.number);
  if (!Is(value, kInts)) return StringId::kNone;
  auto list = ints_.Get(static_cast<ListId>(value.number));
  return part_.pools.Intern(fmt::format("[{}]", fmt::join(list, ", ")));
}

StringId DumpBuilder::Dtypes(PickleValue value) {
  if (Is(value, kTexts)) return texts_[static_cast<size_t>(value.number)].joined;
  if (Is(value, kInts)) return part_.pools.Intern("");  // an empty list
  return Text(value);
}

}  // namespace debrief::inputs::flight_recorder

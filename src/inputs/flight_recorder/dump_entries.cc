// The entries of a pickled dump: from the fields of a dict to a row of comm_op.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "inputs/flight_recorder/diagnostics.h"
#include "inputs/flight_recorder/dump_builder.h"

namespace debrief::inputs::flight_recorder {

namespace {

// Fields of an entry that are a number and nothing else.
constexpr std::array<NumberField, kNumberFields> kNumbers = {{
    {Field::kRecordId, &CommOpRow::record},
    {Field::kPgId, &CommOpRow::pg_id},
    {Field::kCollectiveSeq, &CommOpRow::collective_seq},
    {Field::kP2pSeq, &CommOpRow::p2p_seq},
    {Field::kOpId, &CommOpRow::op_id},
    {Field::kTimeoutMs, &CommOpRow::timeout_ms},
    {Field::kCreatedNs, nullptr, &CommOpRow::created_ns},
    {Field::kStartedNs, nullptr, &CommOpRow::started_ns},
    {Field::kCompletedNs, nullptr, &CommOpRow::completed_ns},
    {Field::kDurationMs},
}};

int64_t DurationOf(PickleValue ms) {
  if (ms.is(PickleKind::kDouble)) return MillisToNs(ms.real);
  return ms.is(PickleKind::kInt) ? MillisToNs(static_cast<double>(ms.number)) : kNone64;
}

}  // namespace

PickleValue DumpBuilder::FoldEntry() {
  if (!HasText(Field::kProfilingName)) {
    part_.diagnostics.Add(
        kBadEntry, who_.input,
        {.offset = static_cast<int64_t>(reader_.offset()), .detail = "no profiling_name"});
    return PickleValue::Folded(kRow, 0);
  }
  row_ = rows_.NewOp();
  for (const NumberField& number : kNumbers) {
    if (Has(number.field)) SetNumber(number, At(number.field), row_);
  }
  Identify(row_);
  Describe(row_);
  rows_.ops().Add(row_);
  is_row_ = true;
  return PickleValue::Folded(kRow, 0);
}

bool DumpBuilder::FoldAlike(uint32_t layout, std::span<const PickleValue> items,
                            PickleValue& folded) {
  if (layout >= alike_.size() || !alike_[layout].is_entry) return FoldDict(items, folded);
  Alike& alike = alike_[layout];
  for (size_t i = 0; i < alike.count; ++i) {
    const auto [number, at] = alike.numbers[i];
    SetNumber(*number, items[at], alike.row);
  }
  rows_.ops().Add(alike.row);
  folded = PickleValue::Folded(kRow, 0);
  return true;
}

// Numbers in other fields than kNumbers mean something in old dumps alone, and are read as usual.
void DumpBuilder::Learned(uint32_t layout, std::span<const PickleValue> items) {
  if (!is_row_) return;
  Alike alike;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (!items[i].is(PickleKind::kString)) continue;
    const Field field = FieldOfKey(items[i]);
    const PickleKind kind = At(field).kind;  // the last of a key counts
    if (kind != PickleKind::kInt && kind != PickleKind::kDouble) continue;
    const auto* number = std::find_if(kNumbers.begin(), kNumbers.end(),
                                      [&](const NumberField& one) { return one.field == field; });
    if (number == kNumbers.end() || alike.count == alike.numbers.size()) return;
    alike.numbers[alike.count++] = {number, static_cast<uint32_t>(i + 1)};
  }
  alike.row = row_;
  alike.is_entry = true;
  if (layout >= alike_.size()) alike_.resize(size_t{layout} + 1);
  alike_[layout] = alike;
}

void DumpBuilder::SetNumber(const NumberField& field, PickleValue value, CommOpRow& row) const {
  const int64_t number = value.is(PickleKind::kInt) ? value.number : Number(value);
  if (field.narrow != nullptr) {
    row.*field.narrow = Narrow(number);
  } else if (field.time != nullptr) {
    row.*field.time = TimeOrNone(number);
  } else {
    row.duration_ns = DurationOf(value);
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

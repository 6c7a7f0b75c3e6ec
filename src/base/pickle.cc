#include "base/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "base/pickle_ops.h"
#include "base/pickle_text.h"

namespace debrief {

namespace {

// Python writes a long list or dict in pieces of this many items, so a piece of at least this size
// may not be the last one.
constexpr size_t kBatch = 1000;

constexpr size_t kRepeatSets = 128;  // a power of two
constexpr size_t kRepeatWays = 4;
constexpr size_t kRepeatHead = 18;  // bytes that choose the set: "](" and 16 more
constexpr size_t kLongestRepeat = 4096;

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Little-endian, of 1, 2, 4 or 8 bytes.
uint64_t LoadLength(const char* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(at[i])} << (8 * i);
  return value;
}

size_t RepeatSet(const char* list) {
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
  uint64_t hash = Load<uint64_t>(list + 2) * kMix;
  hash = (hash ^ (hash >> 32) ^ Load<uint64_t>(list + 10)) * kMix;
  return (hash >> 40) & (kRepeatSets - 1);
}

}  // namespace

PickleReader::PickleReader(std::string_view text, PickleFolder& folder)
    : begin_(text.data()),
      next_(text.data()),
      end_(text.data() + text.size()),
      folder_(folder),
      slots_(1),
      repeats_(kRepeatSets * kRepeatWays) {}

Status PickleReader::Run() {
  if (static_cast<uint64_t>(end_ - begin_) > kMaxBytes) {
    Fail(Code::kLimit, "a pickle of more than 4 GiB");
    return status_;
  }
  do {
    offset_ = static_cast<uint64_t>(next_ - begin_);
    if (next_ >= end_) {
      Truncated();
      break;
    }
  } while (Step(static_cast<uint8_t>(*next_++)) && status_.ok());
  return status_;
}

// What PyTorch's pickler writes; the rest by family.
bool PickleReader::Step(uint8_t opcode) {
  using namespace pickle;
  switch (opcode) {
    case kBinGet:
      return Has(1) ? Get(static_cast<uint8_t>(*next_++)) : Truncated();
    case kLongBinGet:
      if (!Has(4)) return Truncated();
      next_ += 4;
      return Get(Load<uint32_t>(next_ - 4));
    case kBinInt1:
      return Has(1) ? Push(PickleValue::Int(static_cast<uint8_t>(*next_++))) : Truncated();
    case kBinInt2:
      if (!Has(2)) return Truncated();
      next_ += 2;
      return Push(PickleValue::Int(Load<uint16_t>(next_ - 2)));
    case kBinInt:
      if (!Has(4)) return Truncated();
      next_ += 4;
      return Push(PickleValue::Int(Load<int32_t>(next_ - 4)));
    case kLong1:
      return PushLong(1);
    case kNone:
      return Push(PickleValue());
    case kNewTrue:
    case kNewFalse:
      return Push({PickleKind::kBool, 0, {opcode == kNewTrue}});
    case kBinUnicode:
      return PushCounted(PickleKind::kString, 4);
    case kBinPut:
      return Has(1) ? Put(static_cast<uint8_t>(*next_++)) : Truncated();
    default:
      return StepContainer(opcode);
  }
}

bool PickleReader::StepContainer(uint8_t opcode) {
  using namespace pickle;
  switch (opcode) {
    case kMark:
      if (marks_.size() >= kMaxDepth) return Fail(Code::kLimit, "nested too deeply");
      marks_.push_back(static_cast<uint32_t>(stack_.size()));
      return true;
    case kEmptyList:
      return TakeRepeat() || Open(PickleKind::kList);
    case kAppends:
      return Fill(PickleKind::kList);
    case kEmptyDict:
      return Open(PickleKind::kDict);
    case kSetItems:
      return Fill(PickleKind::kDict);
    case kEmptySet:
      return Open(PickleKind::kSet);
    case kAddItems:
      return Fill(PickleKind::kSet);
    case kAppend:
      return FillOne(PickleKind::kList);
    case kSetItem:
      return FillOne(PickleKind::kDict);
    case kList:
      return FromMark(PickleKind::kList);
    case kDict:
      return FromMark(PickleKind::kDict);
    case kFrozenSet:
      return FromMark(PickleKind::kSet);
    case kTuple: {
      size_t first = 0;
      return PopMark(first) && MakeTuple(first);
    }
    case kEmptyTuple:
      return MakeTuple(stack_.size());
    case kTuple1:
    case kTuple2:
    case kTuple3: {
      size_t count = size_t{opcode} - kTuple1 + 1;
      size_t floor = marks_.empty() ? 0 : marks_.back();
      if (stack_.size() < floor + count) return Fail(Code::kInvalid, "a tuple without its items");
      return MakeTuple(stack_.size() - count);
    }
    default:
      return StepText(opcode);
  }
}

bool PickleReader::StepText(uint8_t opcode) {
  using namespace pickle;
  switch (opcode) {
    case kShortBinUnicode:
      return PushCounted(PickleKind::kString, 1);
    case kBinUnicode8:
      return PushCounted(PickleKind::kString, 8);
    case kShortBinString:
      return PushCounted(PickleKind::kString, 1);
    case kBinString:
      return PushCounted(PickleKind::kString, 4);
    case kShortBinBytes:
      return PushCounted(PickleKind::kBytes, 1);
    case kBinBytes:
      return PushCounted(PickleKind::kBytes, 4);
    case kBinBytes8:
    case kByteArray8:
      return PushCounted(PickleKind::kBytes, 8);
    case kInt:
    case kLong:
    case kFloat:
    case kString:
    case kUnicode:
    case kPut:
    case kGet:
      return StepLine(opcode);
    default:
      return StepMemo(opcode);
  }
}

bool PickleReader::StepLine(uint8_t opcode) {
  using namespace pickle;
  std::string_view line;
  if (!TakeLine(line)) return false;
  if (opcode == kInt || opcode == kLong || opcode == kFloat) {
    PickleValue value;
    bool good = opcode == kFloat ? ParseFloatLine(line, value) : ParseIntegerLine(line, value);
    return good ? Push(value) : Fail(Code::kInvalid, "a number that is none");
  }
  if (opcode == kPut || opcode == kGet) {
    PickleValue id;
    if (!ParseIntegerLine(line, id) || !id.is(PickleKind::kInt) || id.number < 0)
      return Fail(Code::kInvalid, "a memo number that is none");
    auto number = static_cast<uint64_t>(id.number);
    return opcode == kPut ? Put(number) : Get(number);
  }
  std::string text;
  bool good = opcode == kUnicode ? DecodeUnicodeLine(line, text) : DecodeStringLine(line, text);
  if (!good) return Fail(Code::kInvalid, "a string without quotes or with a broken escape");
  return PushText(PickleKind::kString, arena_.Copy(text));
}

bool PickleReader::StepMemo(uint8_t opcode) {
  using namespace pickle;
  switch (opcode) {
    case kLongBinPut:
      if (!Has(4)) return Truncated();
      next_ += 4;
      return Put(Load<uint32_t>(next_ - 4));
    case kMemoize:
      return Put(memo_.size());
    case kBinFloat: {
      if (!Has(8)) return Truncated();
      next_ += 8;
      PickleValue value{PickleKind::kDouble, 0, {}};
      value.real = std::bit_cast<double>(__builtin_bswap64(Load<uint64_t>(next_ - 8)));
      return Push(value);
    }
    case kLong4:
      return PushLong(4);
    case kPop:
      return Pop();
    case kPopMark: {
      size_t first = 0;
      if (!PopMark(first)) return false;
      stack_.resize(first);
      return true;
    }
    case kDup:
      if (stack_.empty()) return Fail(Code::kInvalid, "DUP of nothing");
      if (stack_.back().is_container()) SlotOf(stack_.back());
      return Push(PickleValue(stack_.back()));
    default:
      return StepOther(opcode);
  }
}

bool PickleReader::StepOther(uint8_t opcode) {
  using namespace pickle;
  if (opcode == kStop) return Stop();
  if (opcode == kProto) {
    if (!Has(1)) return Truncated();
    if (static_cast<uint8_t>(*next_++) > 5) return Fail(Code::kInvalid, "an unknown protocol");
    return true;
  }
  if (opcode == kFrame) {  // how much to read ahead; we have it all
    if (!Has(8)) return Truncated();
    next_ += 8;
    return true;
  }
  for (const CodeBearing& code : kCodeBearing) {
    if (code.opcode != opcode) continue;
    return Fail(Code::kUnsupported,
                fmt::format("opcode {} could run code and is refused", code.name));
  }
  return Fail(Code::kInvalid, fmt::format("0x{:02x} is no opcode", opcode));
}

bool PickleReader::Fail(Code code, std::string message) {
  status_ = Status(code, std::move(message)).At({{}, static_cast<int64_t>(offset_)});
  return false;
}

bool PickleReader::Truncated() { return Fail(Code::kTruncated, "the pickle ends too early"); }

bool PickleReader::Push(PickleValue value) {
  if (stack_.size() >= kMaxStack) return Fail(Code::kLimit, "too many values at once");
  stack_.push_back(value);
  return true;
}

bool PickleReader::PushText(PickleKind kind, std::string_view text) {
  texts_.push_back(text);
  return Push({kind, static_cast<uint32_t>(texts_.size() - 1), {}});
}

bool PickleReader::PushCounted(PickleKind kind, size_t length_bytes) {
  if (!Has(length_bytes)) return Truncated();
  uint64_t length = LoadLength(next_, length_bytes);
  next_ += length_bytes;
  if (!Has(length)) return Truncated();
  next_ += length;
  return PushText(kind, {next_ - length, length});
}

// Two's complement of any length; what does not fit 64 bits is a kBigInt.
bool PickleReader::PushLong(size_t length_bytes) {
  if (!Has(length_bytes)) return Truncated();
  uint64_t length = LoadLength(next_, length_bytes);
  next_ += length_bytes;
  if (!Has(length)) return Truncated();
  next_ += length;
  if (length > 8) return Push({PickleKind::kBigInt, 0, {}});
  if (length == 8) return Push(PickleValue::Int(Load<int64_t>(next_ - 8)));
  if (length == 0) return Push(PickleValue::Int(0));
  auto unused = static_cast<int>(64 - 8 * length);
  auto bits = static_cast<int64_t>(LoadLength(next_ - length, length) << unused);
  return Push(PickleValue::Int(bits >> unused));
}

bool PickleReader::TakeLine(std::string_view& line) {
  const void* newline = std::memchr(next_, '\n', static_cast<size_t>(end_ - next_));
  if (newline == nullptr) return Truncated();
  const char* end = static_cast<const char*>(newline);
  line = {next_, static_cast<size_t>(end - next_)};
  next_ = end + 1;
  return true;
}

// A number is at most the bytes so far: writers count up from 0 or 1.
bool PickleReader::Put(uint64_t id) {
  if (stack_.empty()) return Fail(Code::kInvalid, "a memo put of nothing");
  if (id >= kMaxMemo || id > offset_) return Fail(Code::kLimit, "a memo number is too large");
  if (id >= memo_.size()) {
    memo_.resize(id + 1);
    memo_used_.resize(id + 1);
  } else if (memo_used_[id] != 0) {
    repeats_.assign(repeats_.size(), {});  // what was read with the old meaning
  }
  if (stack_.back().is_container()) SlotOf(stack_.back());
  memo_[id] = stack_.back();
  memo_used_[id] = 1;
  ++effects_;
  return true;
}

bool PickleReader::Get(uint64_t id) {
  if (id >= memo_.size() || memo_used_[id] == 0)
    return Fail(Code::kInvalid, "a memo number that was not put");
  PickleValue value = memo_[id];
  if (value.is_container() && slots_[value.id].folded.is(PickleKind::kFolded)) {
    value = slots_[value.id].folded;
    memo_[id] = value;
  }
  return Push(value);
}

// `number` remembers where the list begins and what had happened by then.
bool PickleReader::Open(PickleKind kind) {
  if (next_ < end_ && *next_ != pickle::kMark) unsettled_ = true;
  if (kind == PickleKind::kDict) ++effects_;
  auto since = static_cast<int64_t>(uint64_t{effects_} << 32 | offset_);
  return Push({kind, 0, {since}});
}

// At the opcode of a list: true when it is one of the cached ones, which then is on the stack.
bool PickleReader::TakeRepeat() {
  const char* list = next_ - 1;
  auto left = static_cast<size_t>(end_ - list);
  if (left < kRepeatHead) return false;
  const Repeat* set = &repeats_[RepeatSet(list) * kRepeatWays];
  for (size_t way = 0; way < kRepeatWays; ++way) {
    const Repeat& repeat = set[way];
    if (repeat.length == 0 || repeat.length > left) continue;
    if (std::memcmp(repeat.begin, list, repeat.length) != 0) continue;
    next_ = list + repeat.length;
    return stack_.size() < kMaxStack && Push(repeat.value);
  }
  return false;
}

void PickleReader::Remember(uint32_t begin, PickleValue value) {
  const char* list = begin_ + begin;
  auto length = static_cast<size_t>(next_ - list);
  if (length > kLongestRepeat || static_cast<size_t>(end_ - list) < kRepeatHead) return;
  Repeat* set = &repeats_[RepeatSet(list) * kRepeatWays];
  set[victim_++ % kRepeatWays] = {list, length, value};
}

bool PickleReader::PopMark(size_t& first) {
  if (marks_.empty()) return Fail(Code::kInvalid, "the end of items that did not begin");
  first = marks_.back();
  marks_.pop_back();
  return true;
}

// Everything above the mark becomes a new container.
bool PickleReader::FromMark(PickleKind kind) {
  size_t first = 0;
  if (!PopMark(first)) return false;
  PickleValue container{kind, 0, {}};
  if (kind == PickleKind::kDict) ++effects_;
  if (stack_.size() > first || kind == PickleKind::kSet) {
    if (kind == PickleKind::kDict && (stack_.size() - first) % 2 != 0)
      return Fail(Code::kInvalid, "a key without a value");
    Fold(kind, std::span(stack_).subspan(first), container);
  } else {
    unsettled_ = true;
  }
  stack_.resize(first);
  return Push(container);
}

// Everything above the mark goes into the container below it.
bool PickleReader::Fill(PickleKind kind) {
  size_t first = 0;
  if (!PopMark(first)) return false;
  size_t floor = marks_.empty() ? 0 : marks_.back();
  if (first <= floor) return Fail(Code::kInvalid, "items without a container");
  PickleValue& container = stack_[first - 1];
  std::span<PickleValue> items = std::span(stack_).subspan(first);
  if (kind == PickleKind::kDict && items.size() % 2 != 0)
    return Fail(Code::kInvalid, "a key without a value");
  if (container.is(PickleKind::kFolded)) {  // by a hostile order of opcodes only: not one of ours
    stack_.resize(first);
    return true;
  }
  if (!container.is(kind)) return Fail(Code::kInvalid, "items for what is no such container");
  bool is_fresh = container.id == 0;
  auto since = static_cast<uint64_t>(container.number);
  bool may_go_on = items.size() >= (kind == PickleKind::kDict ? 2 * kBatch : kBatch);
  bool is_first = is_fresh || (slots_[container.id].count == 0 && !slots_[container.id].settled);
  if (is_first && !may_go_on) {
    bool folded = Fold(kind, items, container);
    if (folded && is_fresh && effects_ == since >> 32 && kind == PickleKind::kList)
      Remember(static_cast<uint32_t>(since), container);
  } else {
    Settle(items);
    unsettled_ = true;
    if (!Extend(SlotOf(container), items)) return false;
  }
  stack_.resize(first);
  return true;
}

// The top goes into the container below it.
bool PickleReader::FillOne(PickleKind kind) {
  size_t count = kind == PickleKind::kDict ? 2 : 1;
  size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count + 1) return Fail(Code::kInvalid, "an item without a container");
  size_t first = stack_.size() - count;
  PickleValue& container = stack_[first - 1];
  std::span<PickleValue> items = std::span(stack_).subspan(first);
  if (!container.is(PickleKind::kFolded)) {
    if (!container.is(kind)) return Fail(Code::kInvalid, "an item for what is no such container");
    Settle(items);
    unsettled_ = true;
    if (!Extend(SlotOf(container), items)) return false;
  }
  stack_.resize(first);
  return true;
}

bool PickleReader::MakeTuple(size_t first) {
  PickleValue tuple{PickleKind::kTuple, 0, {}};
  Fold(PickleKind::kTuple, std::span(stack_).subspan(first), tuple);
  stack_.resize(first);
  return Push(tuple);
}

bool PickleReader::Pop() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
    return true;
  }
  if (stack_.empty()) return Fail(Code::kInvalid, "POP of nothing");
  stack_.pop_back();
  return true;
}

bool PickleReader::Stop() {
  if (stack_.empty() || !marks_.empty()) return Fail(Code::kInvalid, "STOP within a value");
  Settle(std::span(stack_).last(1));
  root_ = stack_.back();
  return false;
}

// Shows a complete container to the folder. `container` becomes what it folded to; otherwise its
// items are kept.
bool PickleReader::Fold(PickleKind kind, std::span<PickleValue> items, PickleValue& container) {
  Settle(items);
  PickleValue folded;
  bool is_folded = folder_.Fold(kind, items, folded);
  if (!is_folded) {
    uint32_t slot = SlotOf(container);
    (void)Extend(slot, items);
    slots_[slot].settled = true;
    return false;
  }
  if (container.id != 0) {
    slots_[container.id].settled = true;
    slots_[container.id].folded = folded;
  }
  container = folded;
  return true;
}

uint32_t PickleReader::SlotOf(PickleValue& container) {
  if (container.id == 0) {
    container.id = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  }
  return container.id;
}

// Items of one slot lie together; they move to the end when there is no room behind them.
bool PickleReader::Extend(uint32_t slot_number, std::span<const PickleValue> items) {
  Slot& slot = slots_[slot_number];
  if (slot.folded.is(PickleKind::kFolded)) return true;
  size_t needed = slot.count + items.size();
  if (needed > slot.capacity) {
    size_t capacity = slot.capacity == 0 ? needed : 2 * needed;
    size_t begin = items_.size();
    if (begin + capacity > kMaxItems) return Fail(Code::kLimit, "too many values in all");
    items_.resize(begin + capacity);
    std::copy_n(items_.begin() + slot.begin, slot.count,
                items_.begin() + static_cast<std::ptrdiff_t>(begin));
    slot.begin = static_cast<uint32_t>(begin);
    slot.capacity = static_cast<uint32_t>(capacity);
  }
  std::copy(items.begin(), items.end(), items_.begin() + slot.begin + slot.count);
  slot.count = static_cast<uint32_t>(needed);
  return true;
}

void PickleReader::Settle(std::span<PickleValue> items) {
  if (!unsettled_) return;
  for (PickleValue& item : items) {
    if (item.is_container()) SettleOne(item);
  }
}

// A container becomes an item of another one, so it is complete.
void PickleReader::SettleOne(PickleValue& value) {
  uint32_t slot = SlotOf(value);
  if (!slots_[slot].settled) {
    PickleValue folded;
    slots_[slot].settled = true;
    if (folder_.Fold(value.kind, Items(value), folded)) slots_[slot].folded = folded;
  }
  if (slots_[slot].folded.is(PickleKind::kFolded)) value = slots_[slot].folded;
}

std::span<const PickleValue> PickleReader::Items(PickleValue container) const {
  if (!container.is_container()) return {};
  const Slot& slot = slots_[container.id];
  return std::span(items_).subspan(slot.begin, slot.count);
}

std::span<const PickleValue> PickleReader::Unfinished() const {
  if (stack_.empty() || !stack_.front().is_container()) return {};
  if (auto items = Items(stack_.front()); !items.empty()) return items;
  if (marks_.empty() || marks_.front() != 1) return {};
  size_t end = marks_.size() > 1 ? marks_[1] : stack_.size();
  size_t count = end - 1;
  if (stack_.front().is(PickleKind::kDict)) count -= count % 2;
  return std::span(stack_).subspan(1, count);
}

}  // namespace debrief

// Containers of a pickle: how they are filled, shown to the builder, and kept.
//
// A container is on the stack without a slot as long as nobody can see it twice: PyTorch fills it
// in one go and puts it into the memo afterwards, so what folds never needs one. Python puts it
// into the memo first: its number waits beside it until it is complete, and is known earlier only
// where somebody asks (a list that holds itself). Python also fills long ones in pieces; those get
// a slot, and are shown to the builder when they become an item of something else.
#include <algorithm>
#include <cstring>

#include "base/pickle/ops.h"
#include "base/pickle/pickle.h"

namespace debrief {

namespace {

// Python writes a long list or dict in pieces of this many items, so a piece of at least this size
// may not be the last one.
constexpr size_t kBatch = 1000;

// Bytes that choose the set of a list: a mark and 16 more; of a short one a mark and 7 more.
constexpr size_t kRepeatHead = 17;
constexpr size_t kLongestRepeat = 4096;

constexpr uint64_t kMix = 0x9E3779B97F4A7C15;

// Of what follows the opcode of a list, from its mark on.
uint64_t HashLong(const char* items) {
  uint64_t hash = pickle::Load<uint64_t>(items + 1) * kMix;
  hash = (hash ^ (hash >> 32) ^ pickle::Load<uint64_t>(items + 9)) * kMix;
  return hash >> 40;
}
uint64_t HashShort(const char* items) { return pickle::Load<uint64_t>(items) * kMix >> 40; }

}  // namespace

// `number` remembers where the items begin and what had happened by then.
bool PickleReader::Open(PickleKind kind) {
  PickleValue container{kind, 0, {}};
  const bool is_put = TakePut(container.id);
  if (next_ < end_ && *next_ != pickle::kMark) unsettled_ = true;
  if (const Repeat* repeat = kind == PickleKind::kList ? FindRepeat() : nullptr) {
    next_ += repeat->length;
    if (is_put) memo_.Put(container.id - kWaiting, repeat->value);
    return Push(repeat->value);
  }
  if (kind == PickleKind::kDict) {
    ++effects_;
    if (OpenAlike(container)) return status_.ok() && Push(container);
  }
  if (is_put) {
    unsettled_ = true;
    put_below_ = std::min(put_below_, stack_.size());
  }
  const auto begin = static_cast<uint32_t>(next_ - begin_);
  container.number = static_cast<int64_t>(uint64_t{effects_} << 32 | begin);
  return Push(container);
}

// A dict that is written as an earlier one: true when it is complete, as if it had been filled.
bool PickleReader::OpenAlike(PickleValue& dict) {
  if (repeats_.empty()) return false;  // bytes of windows do not stay
  const char* bytes = next_;
  const uint32_t layout = layouts_.Find(bytes, static_cast<size_t>(end_ - bytes), memo_.size());
  if (layout == PickleLayouts::kNoLayout) return false;
  const auto puts = layouts_.PutsOf(layout);
  if (memo_.size() + puts.size() > kMaxMemo) return false;
  memo_.PutPacked(puts);
  next_ += layouts_.LengthOf(layout);
  opcode_ = next_ - 1;
  const auto items = layouts_.ItemsOf(layout, bytes);
  PickleValue folded;
  if (builder_.FoldAlike(layouts_.NumberOf(layout), items, folded)) {
    Replace(dict, folded);
  } else {
    Keep(items, dict);
  }
  return true;
}

// Behind the opcode of a container: whether its memo number follows. It is taken, and `number` of
// the container says so, unless the number is one that Put must look at.
bool PickleReader::TakePut(uint32_t& number) {
  const auto left = static_cast<size_t>(end_ - next_);
  size_t length = 0;
  uint64_t id = 0;
  if (left >= 2 && *next_ == static_cast<char>(pickle::kBinPut)) {
    length = 2;
    id = static_cast<uint8_t>(next_[1]);
  } else if (left >= 5 && *next_ == static_cast<char>(pickle::kLongBinPut)) {
    length = 5;
    id = static_cast<uint32_t>(pickle::Load<uint64_t>(next_) >> 8);
  } else if (left >= 1 && *next_ == static_cast<char>(pickle::kMemoize)) {
    length = 1;
    id = memo_.size();
  }
  const bool is_new = id >= memo_.size() && id < kMaxMemo && id <= offset();
  if (length == 0 || !is_new) return false;
  next_ += length;
  memo_.Pass(id);
  if (!memo_.Keeps(id)) return false;
  number = kWaiting | static_cast<uint32_t>(id);
  ++effects_;
  return true;
}

// Containers that wait to be put into the memo are put now, as they are.
void PickleReader::PutWaiting() {
  for (PickleValue& value : stack_.From(std::min(put_below_, stack_.size()))) {
    if (value.is_container() && value.id >= kWaiting) SlotOf(value);
  }
  put_below_ = stack_.size();
}

// The cached list that has the items which follow, or null.
const PickleReader::Repeat* PickleReader::FindRepeat() const {
  const auto left = static_cast<size_t>(end_ - next_);
  if (repeats_.empty() || left < kRepeatHead || *next_ != pickle::kMark) return nullptr;
  for (const uint64_t hash : {HashLong(next_), HashShort(next_)}) {
    const Repeat* set = &repeats_[hash % kRepeatSets * kRepeatWays];
    for (size_t way = 0; way < kRepeatWays; ++way) {
      const Repeat& repeat = set[way];
      if (repeat.length == 0 || repeat.length > left) continue;
      if (std::memcmp(repeat.begin, next_, repeat.length) == 0) return &repeat;
    }
  }
  return nullptr;
}

void PickleReader::Remember(uint32_t begin, PickleValue value) {
  if (repeats_.empty()) return;
  const char* items = begin_ + begin;
  const auto length = static_cast<size_t>(next_ - items);
  if (length > kLongestRepeat || static_cast<size_t>(end_ - items) < kRepeatHead) return;
  const uint64_t hash = length >= kRepeatHead ? HashLong(items) : HashShort(items);
  Repeat* set = &repeats_[hash % kRepeatSets * kRepeatWays];
  set[victim_++ % kRepeatWays] = {items, length, value};
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
    Fold(kind, stack_.From(first), container);
  } else {
    unsettled_ = true;
  }
  stack_.Cut(first);
  return status_.ok() && Push(container);
}

// Everything above the mark goes into the container below it.
bool PickleReader::Fill(PickleKind kind) {
  size_t first = 0;
  if (!PopMark(first)) return false;
  size_t floor = marks_.empty() ? 0 : marks_.back();
  if (first <= floor) return Fail(Code::kInvalid, "items without a container");
  PickleValue& container = stack_[first - 1];
  std::span<PickleValue> items = stack_.From(first);
  if (kind == PickleKind::kDict && items.size() % 2 != 0)
    return Fail(Code::kInvalid, "a key without a value");
  if (container.is(PickleKind::kFolded)) {  // by a hostile order of opcodes only: not one of ours
    stack_.Cut(first);
    return true;
  }
  if (!container.is(kind)) return Fail(Code::kInvalid, "items for what is no such container");
  bool is_fresh = !HasSlot(container);
  auto since = static_cast<uint64_t>(container.number);
  bool may_go_on = items.size() >= (kind == PickleKind::kDict ? 2 * kBatch : kBatch);
  bool is_first = is_fresh || (slots_[container.id].count == 0 && !slots_[container.id].settled);
  if (is_first && !may_go_on) {
    const uint64_t own = container.id >= kWaiting ? container.id - kWaiting : kNoMemo;
    bool folded = Fold(kind, items, container);
    if (folded && is_fresh && effects_ == since >> 32 && kind == PickleKind::kList)
      Remember(static_cast<uint32_t>(since), container);
    if (folded && is_fresh && kind == PickleKind::kDict && !repeats_.empty()) {
      const char* bytes = begin_ + static_cast<uint32_t>(since);
      const auto effects = static_cast<uint32_t>(effects_ - (since >> 32));
      const std::string_view text(bytes, static_cast<size_t>(next_ - bytes));
      const uint32_t layout = layouts_.Learn(text, items, own, memo_, effects);
      if (layout != PickleLayouts::kNoLayout) builder_.Learned(layouts_.NumberOf(layout), items);
    }
  } else {
    Settle(items);
    unsettled_ = true;
    PickleValue piece;
    bool has_piece = kind == PickleKind::kList && builder_.FoldPiece(items, piece);
    (void)Extend(SlotOf(container), has_piece ? std::span<const PickleValue>(&piece, 1) : items);
  }
  stack_.Cut(first);
  return status_.ok();
}

// The top goes into the container below it.
bool PickleReader::FillOne(PickleKind kind) {
  size_t count = kind == PickleKind::kDict ? 2 : 1;
  size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < floor + count + 1) return Fail(Code::kInvalid, "an item without a container");
  size_t first = stack_.size() - count;
  PickleValue& container = stack_[first - 1];
  std::span<PickleValue> items = stack_.From(first);
  if (!container.is(PickleKind::kFolded)) {
    if (!container.is(kind)) return Fail(Code::kInvalid, "an item for what is no such container");
    Settle(items);
    unsettled_ = true;
    if (!Extend(SlotOf(container), items)) return false;
  }
  stack_.Cut(first);
  return true;
}

bool PickleReader::MakeTuple(size_t first) {
  PickleValue tuple{PickleKind::kTuple, 0, {}};
  Fold(PickleKind::kTuple, stack_.From(first), tuple);
  stack_.Cut(first);
  return status_.ok() && Push(tuple);
}

// Shows a complete container to the builder. `container` becomes what it folded to; otherwise its
// items are kept.
bool PickleReader::Fold(PickleKind kind, std::span<PickleValue> items, PickleValue& container) {
  Settle(items);
  PickleValue folded;
  bool is_folded = builder_.Fold(kind, items, folded);
  if (is_folded) {
    Replace(container, folded);
  } else {
    Keep(items, container);
  }
  return is_folded;
}

void PickleReader::Keep(std::span<const PickleValue> items, PickleValue& container) {
  const uint32_t slot = SlotOf(container);
  (void)Extend(slot, items);
  slots_[slot].settled = true;
}

void PickleReader::Replace(PickleValue& container, const PickleValue& folded) {
  if (HasSlot(container)) Retire(container.id, folded);
  if (container.id >= kWaiting) memo_.Put(container.id - kWaiting, folded);
  container = folded;
}

uint32_t PickleReader::SlotOf(PickleValue& container) {
  if (HasSlot(container)) return container.id;
  const uint32_t before = container.id;
  if (free_slots_.empty()) {
    container.id = static_cast<uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    container.id = free_slots_.back();
    free_slots_.pop_back();
  }
  if (before >= kWaiting) {
    slots_[container.id].memo = before - kWaiting;
    memo_.Put(before - kWaiting, container);
  }
  return container.id;
}

// The container in `slot_number` has folded. When nothing else can refer to the slot, the memo gets
// the folded value and the slot serves the next container.
void PickleReader::Retire(uint32_t slot_number, const PickleValue& folded) {
  Slot& slot = slots_[slot_number];
  slot.settled = true;
  slot.folded = folded;
  if (slot.shared) return;
  if (slot.memo != kNoMemo) {
    PickleValue put;
    const bool is_put = memo_.Find(slot.memo, put);
    if (is_put && put.is_container() && put.id == slot_number) memo_.Put(slot.memo, folded);
  }
  if (slot.capacity > 0 && size_t{slot.begin} + slot.capacity == items_.size())
    items_.resize(slot.begin);
  slot = Slot();
  free_slots_.push_back(slot_number);
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
    if (builder_.Fold(value.kind, Items(value), folded)) {
      Retire(slot, folded);
      value = folded;
      return;
    }
  }
  if (slots_[slot].folded.is(PickleKind::kFolded)) value = slots_[slot].folded;
}

std::span<const PickleValue> PickleReader::Items(PickleValue container) const {
  if (!container.is_container() || !HasSlot(container)) return {};
  const Slot& slot = slots_[container.id];
  return std::span(items_).subspan(slot.begin, slot.count);
}

std::span<const PickleValue> PickleReader::Unfinished() const {
  if (stack_.empty() || !stack_[0].is_container()) return {};
  if (auto items = Items(stack_[0]); !items.empty()) return items;
  if (marks_.empty() || marks_.front() != 1) return {};
  size_t end = marks_.size() > 1 ? marks_[1] : stack_.size();
  size_t count = end - 1;
  if (stack_[0].is(PickleKind::kDict)) count -= count % 2;
  return stack_.Range(1, count);
}

}  // namespace debrief

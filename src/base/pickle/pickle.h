// Reading Python pickles without running anything: numbers, strings, lists, tuples, dicts and sets.
//
// A pickle is a program for a small stack machine. This is that machine with every opcode left out
// that could name, import or call code (GLOBAL, REDUCE, BUILD, persistent ids, extension codes,
// out-of-band buffers): they stop the reader with a Status that names opcode and offset. Protocols
// 0 to 5 and what PyTorch's C++ pickler writes.
//
// No tree is built. When a container is complete, a PickleBuilder sees its items and may put one
// small value in its place (a frame's id, the number of a row); a list of two million dicts then
// needs as much memory as one dict and two million values of 16 bytes. What the builder does not
// want is kept and can be looked at later with Items().
//
// Dumps repeat themselves: the same stack and the same shapes, written the same way, thousands of
// times. A list whose bytes equal those of an earlier list, and which puts nothing into the memo,
// is the same list, so its folded value is taken from a small cache without reading it. This is
// what makes 1 GB/s of a loop over opcodes. Dicts repeat themselves but for some numbers; those are
// found by their layout (layouts.h).
//
// A pickle of gigabytes is read through windows of a Source. Memory is then what the builder keeps,
// the texts that differ, and 8 bytes for every number of the memo that is fetched again, which a
// look at its opcodes finds out first (fetches.h): a slot of a container is used again once the
// container has folded, and long lists fold piece by piece.
//
// Bounds: nothing recurses; a length is checked against the bytes that are left; stack, marks and
// memo have limits. A list that contains itself is a value whose number appears in its own items.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/pickle/layouts.h"
#include "base/pickle/value.h"
#include "base/pools/arena.h"
#include "base/status.h"

namespace debrief {

class PickleBuilder {
 public:
  virtual ~PickleBuilder() = default;

  // A container of `kind` is complete; `items` of a dict are key, value, key, value, ... True when
  // `folded` (of kind kFolded) is to stand for it from now on. For a list the answer must depend on
  // the items alone: it may be reused for a list of the same bytes, or of the same bytes of a dict.
  virtual bool Fold(PickleKind kind, std::span<const PickleValue> items, PickleValue& folded) = 0;

  // The dict of `items` that Fold just folded is a layout from now on (layouts.h). Layouts are
  // numbered from 0.
  virtual void Learned(uint32_t layout, std::span<const PickleValue> items) {
    (void)layout;
    (void)items;
  }

  // As Fold, for a dict that is written as an earlier one: of what Fold saw for that, only numbers
  // (kInt, kDouble) differ.
  virtual bool FoldAlike(uint32_t layout, std::span<const PickleValue> items, PickleValue& folded) {
    (void)layout;
    return Fold(PickleKind::kDict, items, folded);
  }

  // `items` are the next ones of a list so long that it is written in pieces. True when `folded` is
  // to stand for them among the items that Fold will see.
  virtual bool FoldPiece(std::span<const PickleValue> items, PickleValue& folded) {
    (void)items;
    (void)folded;
    return false;
  }
};

// The values that opcodes work on. A vector whose push the compiler puts into the loop.
class PickleStack {
 public:
  PickleStack() = default;
  PickleStack(const PickleStack&) = delete;  // top_ points into values_
  PickleStack& operator=(const PickleStack&) = delete;

  static constexpr size_t kMaxSize = size_t{1} << 24;

  size_t size() const { return static_cast<size_t>(top_ - values_.data()); }
  bool empty() const { return size() == 0; }
  PickleValue& back() { return top_[-1]; }
  PickleValue& operator[](size_t i) { return values_[i]; }
  const PickleValue& operator[](size_t i) const { return values_[i]; }
  std::span<PickleValue> From(size_t first) { return {values_.data() + first, top_}; }
  std::span<const PickleValue> Range(size_t first, size_t count) const {
    return {values_.data() + first, count};
  }
  void Cut(size_t size) { top_ = values_.data() + size; }

  // False when it is full.
  bool Push(const PickleValue& value) {
    if (top_ == values_.data() + values_.size() && !Grow()) return false;
    // Field by field: a value that was just made of its fields is not in one piece yet, and reading
    // it as one waits until it is.
    top_->kind = value.kind;
    top_->id = value.id;
    top_->number = value.number;
    ++top_;
    return true;
  }

 private:
  bool Grow();

  std::vector<PickleValue> values_ = std::vector<PickleValue>(1024);
  PickleValue* top_ = values_.data();
};

class PickleReader {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{4} << 30;  // of a text: repeats keep 32 bits
  static constexpr size_t kMaxMemo = size_t{1} << 26;
  static constexpr uint64_t kLargePickle = uint64_t{1} << 20;  // its opcodes are looked at first
  static constexpr size_t kMaxItems = size_t{1} << 25;         // of containers that were not folded
  static constexpr size_t kMaxDepth = 10'000;

  // `text` must outlive the reader, and be followed by kPadding readable bytes (ByteView has them).
  PickleReader(std::string_view text, PickleBuilder& builder);
  // Through windows of about `window_bytes`. `source` must outlive the reader. Repeated lists are
  // not looked for.
  PickleReader(const Source& source, ByteRange range, size_t window_bytes, PickleBuilder& builder);
  PickleReader(const PickleReader&) = delete;
  PickleReader& operator=(const PickleReader&) = delete;

  // Reads up to STOP. kTruncated when the bytes end before it, kUnsupported for an opcode that
  // carries code, kInvalid for bytes that are no pickle, kLimit for one that is too large; or what
  // the source says when it cannot be read.
  Status Run();

  // What the pickle is, after a Run that was ok.
  PickleValue root() const { return root_; }

  // After a Run that failed: the whole items of the outermost container so far.
  std::span<const PickleValue> Unfinished() const;

  // Of a container that was not folded.
  std::span<const PickleValue> Items(PickleValue container) const;

  // Of kString and kBytes. Equal texts may have different numbers; numbers count up from 0.
  std::string_view Text(PickleValue value) const { return texts_[value.id]; }
  size_t text_count() const { return texts_.size(); }

  size_t memo_bytes() const { return memo_.bytes(); }

  // Of the opcode being read.
  uint64_t offset() const { return base_ + static_cast<uint64_t>(opcode_ - begin_); }

 private:
  // A container that is in the memo, that is filled in steps, or that was not folded.
  static constexpr uint32_t kNoMemo = ~uint32_t{0};
  // A container without a slot has the number 0, or kWaiting and the number it has in the memo once
  // it is complete or somebody asks for it.
  static constexpr uint32_t kWaiting = uint32_t{1} << 31;
  static bool HasSlot(PickleValue container) {
    return container.id != 0 && container.id < kWaiting;
  }
  struct Slot {
    uint32_t begin = 0;  // in items_
    uint32_t count = 0;
    uint32_t capacity = 0;
    uint32_t memo = kNoMemo;  // the number it has there
    bool settled = false;     // the builder has seen it
    bool shared = false;      // more than the stack and that memo number may refer to it
    PickleValue folded;       // kNone unless folded
  };
  static constexpr size_t kRepeatSets = 128;  // a power of two
  static constexpr size_t kRepeatWays = 4;
  struct Repeat {
    const char* begin = nullptr;  // behind the opcode of the list and its memo number
    size_t length = 0;
    PickleValue value;
  };

  // All of these: true to go on, false when status_ says what is wrong.
  bool Step(uint8_t opcode);
  bool StepContainer(uint8_t opcode);
  bool StepText(uint8_t opcode);
  bool StepLine(uint8_t opcode);
  bool StepMemo(uint8_t opcode);
  bool StepOther(uint8_t opcode);

  bool Fail(Code code, std::string message);
  bool Truncated();
  bool Has(uint64_t bytes) { return static_cast<uint64_t>(end_ - next_) >= bytes || Refill(bytes); }
  bool Refill(uint64_t bytes);
  bool Skip(uint64_t bytes) {
    if (!Has(bytes)) return Truncated();
    next_ += bytes;
    return true;
  }

  bool Push(const PickleValue& value) { return stack_.Push(value) || Full(); }
  bool Full();
  bool PushText(PickleKind kind, std::string_view text);
  bool PushKept(PickleKind kind, std::string_view text);
  bool TakeCounted(size_t length_bytes, std::string_view& bytes);
  bool PushCounted(PickleKind kind, size_t length_bytes);
  bool PushLong(size_t length_bytes);
  bool TakeLine(std::string_view& line);

  bool Put(uint64_t id);
  bool Get(uint64_t id);
  bool TakePut(uint32_t& number);
  void PutWaiting();

  bool Open(PickleKind kind);
  bool OpenAlike(PickleValue& dict);
  const Repeat* FindRepeat() const;
  void Remember(uint32_t begin, PickleValue value);
  bool PopMark(size_t& first);
  bool FromMark(PickleKind kind);
  bool Fill(PickleKind kind);
  bool FillOne(PickleKind kind);
  bool MakeTuple(size_t first);
  bool Pop();
  bool Stop();

  bool Fold(PickleKind kind, std::span<PickleValue> items, PickleValue& container);
  void Keep(std::span<const PickleValue> items, PickleValue& container);
  void Replace(PickleValue& container, const PickleValue& folded);
  uint32_t SlotOf(PickleValue& container);
  bool Extend(uint32_t slot, std::span<const PickleValue> items);
  void Settle(std::span<PickleValue> items);
  void SettleOne(PickleValue& value);
  void Retire(uint32_t slot, const PickleValue& folded);

  const Source* source_ = nullptr;
  uint64_t range_end_ = 0;
  size_t window_bytes_ = 0;
  ByteView window_;
  Status window_status_;
  uint64_t base_ = 0;  // offset of begin_
  const char* begin_;
  const char* next_;
  const char* end_;
  const char* opcode_;  // the one being read
  PickleBuilder& builder_;
  PickleValue root_;
  Status status_;

  PickleStack stack_;
  std::vector<uint32_t> marks_;  // positions in stack_
  PickleMemo memo_;
  std::vector<std::string_view> texts_;
  std::vector<uint32_t> recent_texts_;  // by hash: 1 + number of a text; for windows
  std::vector<Slot> slots_;             // 0 is unused
  std::vector<uint32_t> free_slots_;
  std::vector<PickleValue> items_;
  Arena arena_;  // texts that had to be unescaped, or that outlive their window

  bool unsettled_ = false;  // some container may be complete without the builder knowing
  uint32_t effects_ = 0;    // memo puts and dicts so far
  size_t put_below_ = 0;    // no container below this position of stack_ waits to be put
  std::vector<Repeat> repeats_;
  uint8_t victim_ = 0;
  PickleLayouts layouts_;
};

}  // namespace debrief

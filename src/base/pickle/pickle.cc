#include "base/pickle/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "base/bytes/hash.h"
#include "base/pickle/ops.h"

namespace debrief {

namespace {

constexpr size_t kRecentTexts = 4096;       // a power of two
constexpr size_t kLongestRecentText = 256;  // longer ones hardly repeat

// Little-endian, of 1, 2, 4 or 8 bytes.
uint64_t LoadLength(const char* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(at[i])} << (8 * i);
  return value;
}

}  // namespace

bool PickleStack::Grow() {
  size_t size = values_.size();
  if (size >= kMaxSize) return false;
  values_.resize(2 * size);
  top_ = values_.data() + size;
  return true;
}

PickleReader::PickleReader(std::string_view text, PickleBuilder& builder)
    : begin_(text.data()),
      next_(text.data()),
      end_(text.data() + text.size()),
      opcode_(text.data()),
      builder_(builder),
      slots_(1),
      repeats_(kRepeatSets * kRepeatWays) {}

PickleReader::PickleReader(const Source& source, ByteRange range, size_t window_bytes,
                           PickleBuilder& builder)
    : source_(&source),
      range_end_(std::min(range.end, source.size())),
      window_bytes_(window_bytes),
      base_(range.begin),
      begin_(""),
      next_(begin_),
      end_(begin_),
      opcode_(begin_),
      builder_(builder),
      recent_texts_(kRecentTexts),
      slots_(1) {}

Status PickleReader::Run() {
  if (source_ == nullptr && static_cast<uint64_t>(end_ - begin_) > kMaxBytes) {
    Fail(Code::kLimit, "a pickle of more than 4 GiB");
    return status_;
  }
  if (source_ != nullptr && range_end_ - std::min(base_, range_end_) >= kLargePickle) {
    auto fetches = MemoFetches::Find(*source_, {base_, range_end_}, window_bytes_, kMaxMemo);
    if (fetches) memo_.KeepOnly(std::move(*fetches));
  }
  do {
    opcode_ = next_;
    if (!Has(1)) {
      Truncated();
      break;
    }
  } while (Step(static_cast<uint8_t>(*next_++)));
  return status_;
}

inline bool PickleReader::Get(uint64_t id) {
  PickleValue value;
  if (!memo_.Find(id, value)) [[unlikely]] {
    PutWaiting();
    if (!memo_.Find(id, value)) return Fail(Code::kInvalid, "a memo number that was not put");
  }
  if (value.is_container()) [[unlikely]] {
    Slot& slot = slots_[value.id];
    slot.shared = true;
    if (slot.folded.is(PickleKind::kFolded)) {
      value = slot.folded;
      memo_.Put(id, value);
    }
  }
  return Push(value);
}

// What PyTorch's pickler writes; the rest by family.
bool PickleReader::Step(uint8_t opcode) {
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
  switch (opcode) {
    case kBinGet:
      return Has(1) ? Get(static_cast<uint8_t>(*next_++)) : Truncated();
    case kLongBinGet:
      return Skip(4) && Get(pickle::Load<uint32_t>(next_ - 4));
    case kBinInt1:
      return Has(1) ? Push(PickleValue::Int(static_cast<uint8_t>(*next_++))) : Truncated();
    case kBinInt2:
      return Skip(2) && Push(PickleValue::Int(pickle::Load<uint16_t>(next_ - 2)));
    case kBinInt:
      return Skip(4) && Push(PickleValue::Int(pickle::Load<int32_t>(next_ - 4)));
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
    case kLongBinPut:
      return Skip(4) && Put(pickle::Load<uint32_t>(next_ - 4));
    default:
      return StepContainer(opcode);
  }
}

bool PickleReader::StepContainer(uint8_t opcode) {
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
  switch (opcode) {
    case kMark:
      if (marks_.size() >= kMaxDepth) return Fail(Code::kLimit, "nested too deeply");
      marks_.push_back(static_cast<uint32_t>(stack_.size()));
      return true;
    case kEmptyList:
      return Open(PickleKind::kList);
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
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
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
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
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
  return PushKept(PickleKind::kString, text);
}

bool PickleReader::StepMemo(uint8_t opcode) {
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
  switch (opcode) {
    case kMemoize:
      return Put(memo_.size());
    case kBinFloat: {
      if (!Skip(8)) return false;
      PickleValue value{PickleKind::kDouble, 0, {}};
      value.real = std::bit_cast<double>(__builtin_bswap64(pickle::Load<uint64_t>(next_ - 8)));
      return Push(value);
    }
    case kLong4:
      return PushLong(4);
    case kPop:
      return Pop();
    case kPopMark: {
      size_t first = 0;
      PutWaiting();
      if (!PopMark(first)) return false;
      stack_.Cut(first);
      return true;
    }
    case kDup:
      if (stack_.empty()) return Fail(Code::kInvalid, "DUP of nothing");
      if (stack_.back().is_container()) slots_[SlotOf(stack_.back())].shared = true;
      return Push(PickleValue(stack_.back()));
    default:
      return StepOther(opcode);
  }
}

bool PickleReader::StepOther(uint8_t opcode) {
  using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
  if (opcode == kStop) return Stop();
  if (opcode == kProto) {
    if (!Skip(1)) return false;
    if (static_cast<uint8_t>(next_[-1]) > 5) return Fail(Code::kInvalid, "an unknown protocol");
    return true;
  }
  if (opcode == kFrame) return Skip(8);  // how much to read ahead; we have it all
  for (const CodeBearing& code : kCodeBearing) {
    if (code.opcode != opcode) continue;
    return Fail(Code::kUnsupported,
                fmt::format("opcode {} could run code and is refused", code.name));
  }
  return Fail(Code::kInvalid, fmt::format("0x{:02x} is no opcode", opcode));
}

bool PickleReader::Fail(Code code, std::string message) {
  status_ = Status(code, std::move(message)).At({{}, static_cast<int64_t>(offset())});
  return false;
}

bool PickleReader::Truncated() {
  if (window_status_.ok()) return Fail(Code::kTruncated, "the pickle ends too early");
  status_ = window_status_;
  return false;
}

// The next window, from the opcode being read on, so that `bytes` more are there. Twice as many as
// needed: a line that outgrows windows is then searched in linear time.
bool PickleReader::Refill(uint64_t bytes) {
  if (source_ == nullptr) return false;
  uint64_t at = offset();
  auto used = static_cast<uint64_t>(next_ - opcode_);
  uint64_t left = range_end_ - std::min(range_end_, at);
  if (bytes > left || used + bytes > left) return false;
  uint64_t length = std::min(left, std::max<uint64_t>(2 * (used + bytes), window_bytes_));
  auto view = source_->View(at, length);
  if (!view.ok() || view->size() < used + bytes) {
    if (!view.ok()) window_status_ = view.status();
    return false;
  }
  window_ = std::move(view.value());
  base_ = at;
  begin_ = opcode_ = window_.data();
  next_ = begin_ + used;
  end_ = begin_ + window_.size();
  return true;
}

bool PickleReader::Full() { return Fail(Code::kLimit, "too many values at once"); }

bool PickleReader::PushText(PickleKind kind, std::string_view text) {
  texts_.push_back(text);
  return Push({kind, static_cast<uint32_t>(texts_.size() - 1), {}});
}

// Bytes behind their length, which has `length_bytes`.
bool PickleReader::TakeCounted(size_t length_bytes, std::string_view& bytes) {
  if (!Skip(length_bytes)) return false;
  const uint64_t length = LoadLength(next_ - length_bytes, length_bytes);
  if (!Skip(length)) return false;
  bytes = {next_ - length, length};
  return true;
}

bool PickleReader::PushCounted(PickleKind kind, size_t length_bytes) {
  std::string_view text;
  if (!TakeCounted(length_bytes, text)) return false;
  return source_ == nullptr ? PushText(kind, text) : PushKept(kind, text);
}

// A text that has to be copied. Python writes equal strings again and again ("" with every event);
// those of late are found.
bool PickleReader::PushKept(PickleKind kind, std::string_view text) {
  if (source_ == nullptr || text.size() > kLongestRecentText)
    return PushText(kind, arena_.Copy(text));
  uint32_t& recent = recent_texts_[HashBytes(text) % kRecentTexts];
  if (recent != 0 && texts_[recent - 1] == text) return Push({kind, recent - 1, {}});
  recent = static_cast<uint32_t>(texts_.size() + 1);
  return PushText(kind, arena_.Copy(text));
}

// Two's complement of any length; what does not fit 64 bits is a kBigInt.
bool PickleReader::PushLong(size_t length_bytes) {
  std::string_view bytes;
  if (!TakeCounted(length_bytes, bytes)) return false;
  const size_t length = bytes.size();
  if (length > 8) return Push({PickleKind::kBigInt, 0, {}});
  if (length == 8) return Push(PickleValue::Int(pickle::Load<int64_t>(next_ - 8)));
  if (length == 0) return Push(PickleValue::Int(0));
  auto unused = static_cast<int>(64 - 8 * length);
  auto bits = static_cast<int64_t>(LoadLength(next_ - length, length) << unused);
  return Push(PickleValue::Int(bits >> unused));
}

bool PickleReader::TakeLine(std::string_view& line) {
  auto find = [&] { return std::memchr(next_, '\n', static_cast<size_t>(end_ - next_)); };
  const void* newline = find();
  while (newline == nullptr && Refill(static_cast<uint64_t>(end_ - next_) + 1)) newline = find();
  if (newline == nullptr) return Truncated();
  const char* end = static_cast<const char*>(newline);
  line = {next_, static_cast<size_t>(end - next_)};
  next_ = end + 1;
  return true;
}

// A number is at most the bytes so far: writers count up from 0 or 1.
bool PickleReader::Put(uint64_t id) {
  if (stack_.empty()) return Fail(Code::kInvalid, "a memo put of nothing");
  if (id >= kMaxMemo || id > offset()) return Fail(Code::kLimit, "a memo number is too large");
  if (!memo_.Keeps(id)) {
    memo_.Pass(id);
    return true;
  }
  if (id < memo_.size()) PutWaiting();
  if (memo_.Has(id)) {  // what was read with the old meaning
    repeats_.assign(repeats_.size(), {});
    layouts_.Clear();
  }
  if (stack_.back().is_container()) {
    Slot& slot = slots_[SlotOf(stack_.back())];
    slot.shared |= slot.memo != kNoMemo;
    slot.memo = static_cast<uint32_t>(id);
  }
  memo_.Put(id, stack_.back());
  ++effects_;
  return true;
}

bool PickleReader::Pop() {
  PutWaiting();
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
    return true;
  }
  if (stack_.empty()) return Fail(Code::kInvalid, "POP of nothing");
  stack_.Cut(stack_.size() - 1);
  return true;
}

bool PickleReader::Stop() {
  if (stack_.empty() || !marks_.empty()) return Fail(Code::kInvalid, "STOP within a value");
  Settle(stack_.From(stack_.size() - 1));
  root_ = stack_.back();
  return false;
}

}  // namespace debrief

#include "base/pickle/dict_forms.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/bytes/source.h"
#include "base/pickle/forms.h"

namespace debrief {

namespace {

constexpr size_t kBlock = 32;  // bytes that are compared at a time
static_assert(kBlock <= kPadding, "the last block may reach behind the bytes");

// A block in one register, or in two.
using Block = uint64_t __attribute__((vector_size(kBlock)));

uint64_t LoadReference(const char* at, uint32_t bytes) {
  return bytes == 1 ? pickle::Load<uint8_t>(at) : pickle::Load<uint32_t>(at);
}

}  // namespace

// Where numbers and memo numbers stand, found by following how high the stack is.
class DictForm::Scan {
 public:
  Scan(std::string_view bytes, const DictPlace& place, DictForm& form)
      : bytes_(bytes), place_(place), form_(form) {}

  // False when there is anything but values, lists, tuples and sets in the dict.
  bool Run() {
    while (at_ < bytes_.size()) {
      const auto opcode = static_cast<uint8_t>(bytes_[at_]);
      const pickle::Form form = pickle::kForms[opcode];
      const size_t argument = at_ + 1;
      if (form.argument == pickle::Argument::kUnknown || form.argument == pickle::Argument::kLine ||
          bytes_.size() - at_ <= form.bytes)
        return false;
      at_ = argument + form.bytes;
      if (opcode == pickle::kBinGet || opcode == pickle::kLongBinGet) {  // keys and frames: most
        if (!Get(static_cast<uint32_t>(argument), form.bytes)) return false;
        continue;
      }
      if (form.argument == pickle::Argument::kCounted) {
        const uint64_t length = form.bytes == 1
                                    ? static_cast<uint8_t>(bytes_[argument])
                                    : pickle::LittleEndian(bytes_.substr(argument, form.bytes));
        if (length > bytes_.size() - at_) return false;
        at_ += length;
      }
      if (!Step(opcode, static_cast<uint32_t>(argument), form.bytes)) return false;
    }
    return marks_.empty();
  }

  size_t height() const { return height_; }
  size_t put_count() const { return put_count_; }

 private:
  bool Step(uint8_t opcode, uint32_t argument, uint32_t bytes) {
    using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
    switch (opcode) {
      case kMark:
        marks_.push_back(height_);
        return true;
      case kLong1:
        if (bytes_[argument] == 8) form_.numbers_.push_back({argument + 1, Top(), opcode});
        ++height_;
        return true;
      case kBinInt1:
      case kBinInt2:
      case kBinInt:
      case kBinFloat:
        form_.numbers_.push_back({argument, Top(), opcode});
        ++height_;
        return true;
      case kBinPut:
      case kLongBinPut:
      case kMemoize:
        return Put(argument, bytes);
      case kNone:
      case kNewTrue:
      case kNewFalse:
      case kShortBinString:
      case kBinString:
      case kShortBinUnicode:
      case kBinUnicode:
      case kBinUnicode8:
      case kEmptyList:
      case kEmptyTuple:
      case kEmptySet:
        ++height_;
        return true;
      default:
        return Close(opcode);
    }
  }

  bool Close(uint8_t opcode) {
    using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
    switch (opcode) {
      case kAppend:
        return height_ > 1 && Shrink(height_ - 1, 0);
      case kTuple1:
      case kTuple2:
      case kTuple3: {
        const size_t count = size_t{opcode} - kTuple1 + 1;
        return height_ > count && Shrink(height_ - count, 1);
      }
      case kAppends:
      case kAddItems:
      case kTuple:
      case kList:
      case kFrozenSet: {
        if (marks_.size() < 2) return false;
        const size_t first = marks_.back();
        marks_.pop_back();
        return Shrink(first, opcode == kAppends || opcode == kAddItems ? 0 : 1);
      }
      case kSetItems:
        if (marks_.size() != 1 || at_ != bytes_.size()) return false;
        marks_.pop_back();
        return true;
      default:
        return false;
    }
  }

  // Values from `first` on became parts of another one, so numbers among them are no items.
  bool Shrink(size_t first, size_t pushed) {
    while (!form_.numbers_.empty() && form_.numbers_.back().item >= first)
      form_.numbers_.pop_back();
    height_ = first + pushed;
    return true;
  }

  // Memo numbers of the dict count up; others are what they are.
  bool Put(uint32_t argument, uint32_t bytes) {
    const uint64_t number = put_count_++;
    if (bytes == 0) return true;
    form_.references_.push_back({argument, bytes, number});
    return LoadReference(bytes_.data() + argument, bytes) == place_.memo_begin + number;
  }
  bool Get(uint32_t argument, uint32_t bytes) {
    ++height_;
    const uint64_t id = LoadReference(bytes_.data() + argument, bytes);
    if (id >= place_.memo_begin) {
      form_.references_.push_back({argument, bytes, id - place_.memo_begin});
    } else {
      form_.old_end_ = std::max(form_.old_end_, id + 1);
    }
    return id != place_.own;
  }

  uint32_t Top() const { return static_cast<uint32_t>(height_); }

  std::string_view bytes_;
  DictPlace place_;
  size_t at_ = 0;
  size_t height_ = 0;
  size_t put_count_ = 0;
  std::vector<size_t> marks_;
  DictForm& form_;
};

std::optional<DictForm> DictForm::Of(std::string_view bytes, const DictPlace& place,
                                     size_t item_count, size_t put_count) {
  DictForm form;
  Scan scan(bytes, place, form);
  if (!scan.Run() || scan.height() != item_count || scan.put_count() != put_count)
    return std::nullopt;
  form.item_count_ = item_count;
  form.put_count_ = put_count;
  form.Copy(bytes);
  return form;
}

void DictForm::Copy(std::string_view bytes) {
  static_assert(kSpare >= kBlock);
  bytes_.assign(bytes.begin(), bytes.end());
  bytes_.resize(bytes.size() + kSpare);
  mask_.assign(bytes.size(), '\xff');
  mask_.resize(bytes.size() + kSpare);
  for (const Number& number : numbers_) {
    const uint8_t width = pickle::kForms[number.opcode].bytes;
    std::memset(mask_.data() + number.offset, 0, number.opcode == pickle::kLong1 ? 8 : width);
  }
  for (const Reference& one : references_) std::memset(mask_.data() + one.offset, 0, one.bytes);
}

bool DictForm::Matches(const char* bytes, size_t left, uint64_t memo_size) const {
  const size_t length = this->length();
  if (length > left) return false;
  // To the end, whether they differ or not: most are alike, and a test of every block costs more.
  Block differ = {};
  for (size_t at = 0; at < length; at += kBlock) {
    Block ours;
    Block theirs;
    Block mask;
    std::memcpy(&ours, bytes_.data() + at, kBlock);
    std::memcpy(&theirs, bytes + at, kBlock);
    std::memcpy(&mask, mask_.data() + at, kBlock);
    differ |= (ours ^ theirs) & mask;
  }
  if ((differ[0] | differ[1] | differ[2] | differ[3]) != 0) return false;
  return std::ranges::all_of(references_, [&](const Reference& one) {
    return LoadReference(bytes + one.offset, one.bytes) == memo_size + one.number;
  });
}

void DictForm::ReadNumbers(const char* bytes, std::span<PickleValue> items) const {
  for (const Number& number : numbers_) {
    const char* at = bytes + number.offset;
    int64_t& value = items[number.item].number;
    if (number.opcode == pickle::kBinInt1) {
      value = pickle::Load<uint8_t>(at);
    } else if (number.opcode == pickle::kBinInt2) {
      value = pickle::Load<uint16_t>(at);
    } else if (number.opcode == pickle::kBinInt) {
      value = pickle::Load<int32_t>(at);
    } else if (number.opcode == pickle::kLong1) {
      value = pickle::Load<int64_t>(at);
    } else {
      items[number.item].real =
          std::bit_cast<double>(__builtin_bswap64(pickle::Load<uint64_t>(at)));
    }
  }
}

DictForms& DictForms::OfThread() {
  static thread_local DictForms forms;
  return forms;
}

const DictForm* DictForms::Find(std::string_view bytes, const DictPlace& place, size_t item_count,
                                size_t put_count) const {
  if (by_key_.empty()) return nullptr;
  for (const DictForm* form : by_key_[KeyOf(bytes.data(), bytes.size())]) {
    if (form->length() == bytes.size() && form->Fits(place, item_count, put_count) &&
        form->Matches(bytes.data(), bytes.size(), place.memo_begin))
      return form;
  }
  return nullptr;
}

const DictForm* DictForms::Add(DictForm& form) {
  if (forms_.size() >= kMost) return nullptr;
  if (by_key_.empty()) by_key_.resize(kHeads);
  std::vector<const DictForm*>& alike = by_key_[KeyOf(form.text().data(), form.length())];
  if (alike.size() >= kMostOfKey) return nullptr;
  forms_.push_back(std::make_unique<const DictForm>(std::move(form)));
  alike.push_back(forms_.back().get());
  return alike.back();
}

size_t DictForms::KeyOf(const char* bytes, size_t left) {
  constexpr size_t kOpcodes = 12;
  constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
  uint64_t key = 0;
  size_t at = 0;
  for (size_t i = 0; i < kOpcodes && at < left; ++i) {
    const auto opcode = static_cast<uint8_t>(bytes[at]);
    const pickle::Form form = pickle::kForms[opcode];
    key = (key ^ opcode) * kMix;
    if (form.argument == pickle::Argument::kCounted) break;
    if (opcode == pickle::kBinGet) key ^= static_cast<uint8_t>(bytes[at + 1]);
    at += size_t{1} + form.bytes;
  }
  return (key * kMix >> 32) % kHeads;
}

}  // namespace debrief

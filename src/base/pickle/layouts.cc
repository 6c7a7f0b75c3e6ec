#include "base/pickle/layouts.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes/source.h"
#include "base/pickle/forms.h"

namespace debrief {

namespace {

constexpr size_t kHeads = 256;         // a power of two
constexpr size_t kMostLayouts = 1024;  // dumps have some dozens
constexpr size_t kMostTries = 32;      // of one key
constexpr size_t kLongest = 4096;
constexpr size_t kFewestItems = 16;  // smaller dicts are read as fast as they are compared
constexpr size_t kBlock = 32;        // bytes that are compared at a time
static_assert(kBlock <= kPadding, "the last block may reach behind the bytes");

// A block in one register, or in two.
using Block = uint64_t __attribute__((vector_size(kBlock)));

uint64_t LoadReference(const char* at, uint32_t bytes) {
  return bytes == 1 ? pickle::Load<uint8_t>(at) : pickle::Load<uint32_t>(at);
}

}  // namespace

// Where numbers and memo numbers stand, found by following how high the stack is.
class PickleLayouts::Scan {
 public:
  // `memo_begin` is the first number that the dict may put, `own` its own one.
  Scan(std::string_view bytes, uint64_t memo_begin, uint64_t own, Found& found)
      : bytes_(bytes), memo_begin_(memo_begin), own_(own), found_(found) {
    found_.marks.clear();
    found_.numbers.clear();
    found_.references.clear();
  }

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
    return found_.marks.empty();
  }

  size_t height() const { return height_; }
  size_t put_count() const { return put_count_; }

 private:
  bool Step(uint8_t opcode, uint32_t argument, uint32_t bytes) {
    using namespace pickle;  // NOLINT(google-build-using-namespace): its opcodes
    switch (opcode) {
      case kMark:
        found_.marks.push_back(height_);
        return true;
      case kLong1:
        if (bytes_[argument] == 8) found_.numbers.push_back({argument + 1, Top(), opcode});
        ++height_;
        return true;
      case kBinInt1:
      case kBinInt2:
      case kBinInt:
      case kBinFloat:
        found_.numbers.push_back({argument, Top(), opcode});
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
        if (found_.marks.size() < 2) return false;
        const size_t first = found_.marks.back();
        found_.marks.pop_back();
        return Shrink(first, opcode == kAppends || opcode == kAddItems ? 0 : 1);
      }
      case kSetItems:
        if (found_.marks.size() != 1 || at_ != bytes_.size()) return false;
        found_.marks.pop_back();
        return true;
      default:
        return false;
    }
  }

  // Values from `first` on became parts of another one, so numbers among them are no items.
  bool Shrink(size_t first, size_t pushed) {
    while (!found_.numbers.empty() && found_.numbers.back().item >= first)
      found_.numbers.pop_back();
    height_ = first + pushed;
    return true;
  }

  // Memo numbers of the dict count up; others are what they are.
  bool Put(uint32_t argument, uint32_t bytes) {
    const uint64_t number = put_count_++;
    if (bytes == 0) return true;
    found_.references.push_back({argument, bytes, number});
    return LoadReference(bytes_.data() + argument, bytes) == memo_begin_ + number;
  }
  bool Get(uint32_t argument, uint32_t bytes) {
    ++height_;
    const uint64_t id = LoadReference(bytes_.data() + argument, bytes);
    if (id >= memo_begin_) found_.references.push_back({argument, bytes, id - memo_begin_});
    return id != own_;
  }

  uint32_t Top() const { return static_cast<uint32_t>(height_); }

  std::string_view bytes_;
  uint64_t memo_begin_;
  uint64_t own_;
  size_t at_ = 0;
  size_t height_ = 0;
  size_t put_count_ = 0;
  Found& found_;
};

uint32_t PickleLayouts::Find(const char* bytes, size_t left, size_t memo_size) {
  if (layouts_.empty()) return kNoLayout;
  uint32_t found = last_ == kNoLayout ? kNoLayout : layouts_[last_].follower;
  if (found == kNoLayout || !Matches(layouts_[found], bytes, left, memo_size))
    found = FindByKey(bytes, left, memo_size);
  Follow(found);
  return found;
}

bool PickleLayouts::Matches(const Layout& layout, const char* bytes, size_t left,
                            size_t memo_size) const {
  if (layout.length > left) return false;
  // To the end, whether they differ or not: most are alike, and a test of every block costs more.
  const char* masks = reinterpret_cast<const char*>(masks_.data() + layout.mask);
  Block differ = {};
  for (size_t at = 0; at < layout.length; at += kBlock) {
    Block ours;
    Block theirs;
    Block mask;
    std::memcpy(&ours, layout.bytes + at, kBlock);
    std::memcpy(&theirs, bytes + at, kBlock);
    std::memcpy(&mask, masks + at, kBlock);
    differ |= (ours ^ theirs) & mask;
  }
  if ((differ[0] | differ[1] | differ[2] | differ[3]) != 0) return false;
  const auto references = std::span(references_).subspan(layout.references, layout.reference_count);
  return std::all_of(references.begin(), references.end(), [&](const Reference& one) {
    return LoadReference(bytes + one.offset, one.bytes) == memo_size + one.number;
  });
}

// The one that is found becomes the first of its key.
uint32_t PickleLayouts::FindByKey(const char* bytes, size_t left, size_t memo_size) {
  uint32_t& head = HeadOf(bytes, left);
  uint32_t before = kNoLayout;
  uint32_t at = head;
  for (size_t tries = 0; at != kNoLayout && tries < kMostTries; ++tries) {
    if (Matches(layouts_[at], bytes, left, memo_size)) {
      if (before != kNoLayout) {
        layouts_[before].next = layouts_[at].next;
        layouts_[at].next = head;
        head = at;
      }
      return at;
    }
    before = at;
    at = layouts_[at].next;
  }
  return kNoLayout;
}

// By the first opcodes and what they fetch, without numbers, which differ.
uint32_t& PickleLayouts::HeadOf(const char* bytes, size_t left) {
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
  return heads_[(key * kMix >> 32) % kHeads];
}

void PickleLayouts::Follow(uint32_t layout) {
  if (last_ != kNoLayout && layout != kNoLayout) layouts_[last_].follower = layout;
  last_ = layout;
}

std::span<PickleValue> PickleLayouts::ItemsOf(uint32_t layout, const char* bytes) {
  const Layout& found = layouts_[layout];
  const auto items = std::span(items_).subspan(found.items, found.item_count);
  for (const Number& number : std::span(numbers_).subspan(found.numbers, found.number_count)) {
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
  return items;
}

uint32_t PickleLayouts::Learn(std::string_view bytes, std::span<const PickleValue> items,
                              uint64_t own, const PickleMemo& memo, size_t put_count) {
  const auto is_container = [](const PickleValue& item) { return item.is_container(); };
  if (layouts_.size() >= kMostLayouts || bytes.size() > kLongest || items.size() < kFewestItems ||
      put_count > memo.size() || std::any_of(items.begin(), items.end(), is_container))
    return kNoLayout;
  Scan scan(bytes, memo.size() - put_count, own, found_);
  if (!scan.Run() || scan.height() != items.size() || scan.put_count() != put_count)
    return kNoLayout;
  const auto puts = memo.Newest(put_count);
  return puts.size() == put_count ? Add(bytes, items, puts) : kNoLayout;
}

uint32_t PickleLayouts::Add(std::string_view bytes, std::span<const PickleValue> items,
                            std::span<const uint64_t> puts) {
  const auto begin_of = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
  Layout layout{.bytes = bytes.data(),
                .length = static_cast<uint32_t>(bytes.size()),
                .mask = begin_of(masks_),
                .items = begin_of(items_),
                .item_count = static_cast<uint32_t>(items.size()),
                .numbers = begin_of(numbers_),
                .number_count = static_cast<uint32_t>(found_.numbers.size()),
                .references = begin_of(references_),
                .reference_count = begin_of(found_.references),
                .puts = begin_of(puts_),
                .put_count = static_cast<uint32_t>(puts.size())};
  masks_.resize(masks_.size() + (bytes.size() + kBlock - 1) / kBlock * kBlock / sizeof(uint64_t));
  char* mask = reinterpret_cast<char*>(masks_.data() + layout.mask);
  std::memset(mask, ~0, bytes.size());
  for (const Number& number : found_.numbers) {
    const uint8_t width = pickle::kForms[number.opcode].bytes;
    std::memset(mask + number.offset, 0, number.opcode == pickle::kLong1 ? 8 : width);
  }
  for (const Reference& one : found_.references) std::memset(mask + one.offset, 0, one.bytes);
  references_.insert(references_.end(), found_.references.begin(), found_.references.end());
  items_.insert(items_.end(), items.begin(), items.end());
  numbers_.insert(numbers_.end(), found_.numbers.begin(), found_.numbers.end());
  puts_.insert(puts_.end(), puts.begin(), puts.end());
  if (heads_.empty()) heads_.assign(kHeads, kNoLayout);
  uint32_t& head = HeadOf(bytes.data(), bytes.size());
  layout.next = head;
  head = begin_of(layouts_);
  layouts_.push_back(layout);
  Follow(head);
  return head;
}

void PickleLayouts::Clear() {
  const auto cleared = cleared_ + static_cast<uint32_t>(layouts_.size());
  *this = PickleLayouts();
  cleared_ = cleared;
}

}  // namespace debrief

#include "base/pickle/fetches.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/pickle/forms.h"

namespace debrief {

namespace {

// The bytes of a range, a window at a time.
class Windows {
 public:
  Windows(const Source& source, ByteRange range, size_t window_bytes)
      : source_(source),
        next_(range.begin),
        end_(std::min(range.end, source.size())),
        window_bytes_(window_bytes) {}

  // The next bytes, `wanted` at least where there are so many.
  std::string_view Peek(size_t wanted) {
    if (next_ < base_ || next_ + wanted > base_ + view_.size()) Load(wanted);
    return next_ < base_ + view_.size() ? view_.text().substr(next_ - base_) : std::string_view();
  }
  void Skip(uint64_t bytes) { next_ += std::min(bytes, end_ - std::min(end_, next_)); }
  // Moves behind the next line end; the line without it, empty when there is no end.
  std::string_view TakeLine() {
    constexpr size_t kLongestLine = size_t{16} << 20;  // numbers and names are shorter
    for (size_t wanted = 64; wanted <= kLongestLine; wanted *= 2) {
      const std::string_view text = Peek(wanted);
      const size_t line = text.find('\n');
      if (line != std::string_view::npos) {
        next_ += line + 1;
        return text.substr(0, line);
      }
      if (text.size() < wanted) {
        next_ = end_;
        return {};
      }
    }
    failed_ = true;
    next_ = end_;
    return {};
  }
  bool failed() const { return failed_; }
  uint64_t offset() const { return next_; }

 private:
  void Load(size_t wanted) {
    base_ = next_;
    const uint64_t length =
        std::min<uint64_t>(end_ - std::min(end_, next_), std::max<uint64_t>(wanted, window_bytes_));
    auto view = source_.View(next_, length);
    failed_ |= !view.ok();
    view_ = view.ok() ? std::move(view).value() : ByteView();
  }

  const Source& source_;
  uint64_t next_;
  uint64_t end_;
  size_t window_bytes_;
  uint64_t base_ = 0;  // of the view
  ByteView view_;
  bool failed_ = false;
};

}  // namespace

std::optional<MemoFetches> MemoFetches::Find(const Source& source, ByteRange range,
                                             size_t window_bytes, size_t most) {
  MemoFetches found;
  Windows bytes(source, range, window_bytes);
  constexpr size_t kLongest = 9;  // an opcode and a length
  // A number larger than the bytes before it was never put.
  const auto add = [&](uint64_t id) {
    if (id < most && id <= bytes.offset()) found.Add(id);
  };
  while (true) {
    const std::string_view head = bytes.Peek(kLongest);
    if (head.empty()) break;
    const auto opcode = static_cast<uint8_t>(head[0]);
    const pickle::Form form = pickle::kForms[opcode];
    if (form.argument == pickle::Argument::kUnknown || head.size() < size_t{1} + form.bytes) break;
    const std::string_view argument = head.substr(1, form.bytes);
    bytes.Skip(1 + argument.size());
    if (form.argument == pickle::Argument::kCounted) bytes.Skip(pickle::LittleEndian(argument));
    if (opcode == pickle::kBinGet || opcode == pickle::kLongBinGet)
      add(pickle::LittleEndian(argument));
    if (form.argument != pickle::Argument::kLine) continue;
    const std::string_view line = bytes.TakeLine();
    uint64_t id = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), id);
    if (opcode == pickle::kGet && error == std::errc()) add(id);
  }
  if (bytes.failed()) return std::nullopt;
  found.Count();
  return found;
}

void MemoFetches::Add(uint64_t id) {
  if (id / kBits >= words_.size()) words_.resize(id / kBits + 1);
  words_[id / kBits] |= uint64_t{1} << id % kBits;
}

void MemoFetches::Count() {
  before_.reserve(words_.size());
  for (const uint64_t word : words_) {
    before_.push_back(static_cast<uint32_t>(count_));
    count_ += static_cast<size_t>(std::popcount(word));
  }
}

size_t MemoFetches::PositionOf(uint64_t id) const {
  const uint64_t smaller = words_[id / kBits] & ((uint64_t{1} << id % kBits) - 1);
  return before_[id / kBits] + static_cast<size_t>(std::popcount(smaller));
}

}  // namespace debrief

// A column of a table with very many rows, as few bits a value as its neighbours allow.
//
//   pages_   1024 values each, packed:   value = zero           where the code is 0
//                                                base + code    elsewhere
//            a page of one value has codes of 0 bits; one of offsets that grow by 4 MB has 22
//   open_    the values of one page as they are: the page written last
//
// The code 0 is the null of the page, or its smallest value where there is none: nulls lie far from
// all values and would cost 64 bits. Reading costs a load, a shift and a mask; writing opens the
// page and packs the one that was open, so writing in order packs each page once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

// The bits of a page's codes, whatever the type of the column. Codes of `bits` bits lie one behind
// the other; 58 to 63 bits are taken as 64, so that eight bytes always hold a code.
class PackedCodes {
 public:
  PackedCodes() = default;
  PackedCodes(const uint64_t* codes, size_t count, uint64_t largest);

  uint64_t operator[](size_t i) const {
    if (bits_ == 0) return 0;
    size_t at = i * bits_;
    uint64_t word;
    std::memcpy(&word, bytes_.get() + at / 8, sizeof word);
    return (word >> (at % 8)) & (~uint64_t{0} >> (64 - bits_));
  }

 private:
  std::unique_ptr<uint8_t[]> bytes_;  // and eight more, for reading the last code
  uint8_t bits_ = 0;
};

inline PackedCodes::PackedCodes(const uint64_t* codes, size_t count, uint64_t largest)
    : bits_(static_cast<uint8_t>(std::bit_width(largest))) {
  constexpr uint8_t kWidestShifted = 57;  // seven bits of shift more are the word
  if (bits_ == 0) return;
  if (bits_ > kWidestShifted) bits_ = 64;
  bytes_ = std::make_unique<uint8_t[]>((count * bits_ + 7) / 8 + sizeof(uint64_t));
  for (size_t i = 0; i < count; ++i) {
    size_t at = i * bits_;
    uint64_t word;
    std::memcpy(&word, bytes_.get() + at / 8, sizeof word);
    word |= codes[i] << (at % 8);
    std::memcpy(bytes_.get() + at / 8, &word, sizeof word);
  }
}

template <typename T>
class PackedColumn {
  static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "codes are differences");

 public:
  static constexpr size_t kPageRows = 1024;  // a power of two
  using value_type = T;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  T operator[](size_t row) const {
    size_t page = row / kPageRows, at = row % kPageRows;
    if (page == open_page_) return open_[at];
    const Page& packed = pages_[page];
    uint64_t code = packed.codes[at];
    return code == 0 ? packed.zero : FromBits(packed.base + code);
  }

  // What a column that may be changed gives for a row.
  class Cell {
   public:
    Cell(PackedColumn& column, size_t row) : column_(column), row_(row) {}
    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the value
    operator T() const { return std::as_const(column_)[row_]; }
    Cell& operator=(T value) {
      column_.Set(row_, value);
      return *this;
    }
    Cell& operator=(const Cell& other) { return *this = static_cast<T>(other); }

   private:
    PackedColumn& column_;
    size_t row_;
  };
  Cell operator[](size_t row) { return Cell(*this, row); }

  void Set(size_t row, T value) {
    if (std::as_const(*this)[row] == value) return;
    Open(row / kPageRows);
    open_[row % kPageRows] = value;
  }

  void push_back(T value) {
    Open(size_ / kPageRows);
    open_.push_back(value);
    ++size_;
  }

  void reserve(size_t rows) { pages_.reserve(rows / kPageRows + 1); }

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = T;

    Iterator() = default;
    Iterator(const PackedColumn* column, size_t row)
        : column_(column), row_(static_cast<difference_type>(row)) {}
    T operator*() const { return (*column_)[static_cast<size_t>(row_)]; }
    T operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator+=(difference_type n) { return row_ += n, *this; }
    Iterator& operator-=(difference_type n) { return row_ -= n, *this; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return Iterator(column_, static_cast<size_t>(row_++)); }
    Iterator operator--(int) { return Iterator(column_, static_cast<size_t>(row_--)); }
    Iterator operator+(difference_type n) const { return Iterator(*this) += n; }
    Iterator operator-(difference_type n) const { return Iterator(*this) -= n; }
    difference_type operator-(const Iterator& other) const { return row_ - other.row_; }
    auto operator<=>(const Iterator& other) const { return row_ <=> other.row_; }
    bool operator==(const Iterator& other) const { return row_ == other.row_; }

   private:
    const PackedColumn* column_ = nullptr;
    difference_type row_ = 0;
  };
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, size_); }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size_ - 1]; }

 private:
  static constexpr size_t kNoPage = SIZE_MAX;

  struct Page {
    T zero = {};
    uint64_t base = 0;
    PackedCodes codes;
  };

  static uint64_t ToBits(T value) { return static_cast<uint64_t>(static_cast<int64_t>(value)); }
  static T FromBits(uint64_t bits) { return static_cast<T>(static_cast<int64_t>(bits)); }
  static constexpr T Null() {
    if constexpr (std::is_same_v<T, int32_t>) return kNone32;
    if constexpr (std::is_same_v<T, int64_t>) return kNone64;
    return T{};
  }

  void Open(size_t page) {
    if (page == open_page_) return;
    if (open_page_ != kNoPage) pages_[open_page_] = Pack(open_);
    open_page_ = kNoPage;
    if (page == pages_.size()) pages_.emplace_back();
    open_.resize(std::min(kPageRows, size_ - page * kPageRows));
    for (size_t i = 0; i < open_.size(); ++i) open_[i] = std::as_const(*this)[page * kPageRows + i];
    open_page_ = page;
    pages_[page] = {};
  }

  static Page Pack(const std::vector<T>& values) {
    bool has_null = false;
    int64_t least = INT64_MAX;
    for (T value : values) {
      if (value == Null()) {
        has_null = true;
      } else {
        least = std::min(least, static_cast<int64_t>(ToBits(value)));
      }
    }
    // Without a null the smallest value is the code 0, with one the code 1.
    Page page{.zero = has_null ? Null() : FromBits(static_cast<uint64_t>(least)),
              .base = static_cast<uint64_t>(least) - (has_null ? 1 : 0),
              .codes = {}};
    uint64_t codes[kPageRows];
    uint64_t largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      bool null = has_null && values[i] == Null();
      codes[i] = null ? 0 : ToBits(values[i]) - page.base;
      largest = std::max(largest, codes[i]);
    }
    page.codes = PackedCodes(codes, values.size(), largest);
    return page;
  }

  std::vector<Page> pages_;
  std::vector<T> open_;
  size_t open_page_ = kNoPage;
  size_t size_ = 0;
};

}  // namespace debrief

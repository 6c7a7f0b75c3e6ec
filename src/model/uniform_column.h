// A column that mostly has one value in all of its rows: the job of entries, their time limit, a
// peer that none of them has. As long as that holds, it is that value and a number of rows; from
// the first other value on it is a vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace debrief {

template <typename T>
class UniformColumn {
 public:
  using value_type = T;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  T operator[](size_t row) const { return is_uniform() ? value_ : values_[row]; }
  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size_ - 1]; }

  void Set(size_t row, T value) {
    if (is_uniform() && value == value_) return;
    if (is_uniform()) Spread();
    values_[row] = value;
  }

  void push_back(T value) {
    if (size_ == 0) value_ = value;
    if (is_uniform() && value != value_) Spread();
    if (!is_uniform()) values_.push_back(value);
    ++size_;
  }

  // The rows of `part`, each as `map` makes it.
  template <typename Map>
  void Append(const UniformColumn& part, const Map& map) {
    if (part.empty()) return;
    const T value = map(part.value_);
    if (!part.is_uniform() || !is_uniform() || (size_ > 0 && value != value_)) {
      for (size_t row = 0; row < part.size_; ++row) push_back(map(part[row]));
      return;
    }
    value_ = value;
    size_ += part.size_;
  }

  // Each value becomes what `map` makes of it.
  template <typename Map>
  void Translate(const Map& map) {
    if (size_ > 0) value_ = map(value_);
    for (T& value : values_) value = map(value);
  }

  void reserve(size_t rows) {
    room_ = std::max(room_, rows);
    if (!is_uniform()) values_.reserve(rows);
  }

 private:
  bool is_uniform() const { return values_.empty(); }

  void Spread() {
    values_.reserve(std::max(room_, size_ + 1));
    values_.assign(size_, value_);
  }

  std::vector<T> values_;  // empty as long as all are value_
  T value_ = {};
  size_t size_ = 0;
  size_t room_ = 0;
};

}  // namespace debrief

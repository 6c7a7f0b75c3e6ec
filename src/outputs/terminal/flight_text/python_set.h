// A set of small whole numbers that is walked in the order in which CPython walks the same set.
//
// PyTorch's analyzer prints rank sets, takes ranks out of sets and walks them while it matches, so
// the order of its text and of its decisions is the order of CPython's hash table. This is that
// table for whole numbers >= 0, whose hash is the number itself: open addressing, ten slots probed
// in a row, then a jump. A sorted set would be simpler and would print {5, 12} where the analyzer
// prints {12, 5}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace debrief::outputs::flight_text {

class PythonSet {
 public:
  PythonSet() : slots_(kSmallest, kEmpty) {}
  explicit PythonSet(std::span<const int32_t> numbers);

  bool Has(int32_t number) const;
  void Add(int32_t number);
  // set.update(other)
  void Merge(const PythonSet& other);
  // set.pop(); the set must not be empty.
  int32_t Pop();
  void Clear() { *this = PythonSet(); }

  size_t size() const { return used_; }
  bool empty() const { return used_ == 0; }
  std::vector<int32_t> Items() const;
  bool SubsetOf(const PythonSet& other) const;
  bool operator==(const PythonSet& other) const;

  // {5, 7}; set() when empty.
  std::string Text() const;

 private:
  static constexpr size_t kSmallest = 8;
  static constexpr int32_t kEmpty = -1;
  static constexpr int32_t kRemoved = -2;

  // The slot that holds `number`, or the empty one where it belongs.
  size_t Find(int32_t number) const;
  void Resize(size_t least);
  void Remove(int32_t number);
  friend PythonSet Minus(const PythonSet& a, const PythonSet& b);

  std::vector<int32_t> slots_;
  size_t fill_ = 0;  // used and removed slots
  size_t used_ = 0;
  size_t finger_ = 0;  // where Pop goes on
};

PythonSet Minus(const PythonSet& a, const PythonSet& b);         // a - b
PythonSet Union(const PythonSet& a, const PythonSet& b);         // a | b
PythonSet Intersection(const PythonSet& a, const PythonSet& b);  // a.intersection(b)

}  // namespace debrief::outputs::flight_text

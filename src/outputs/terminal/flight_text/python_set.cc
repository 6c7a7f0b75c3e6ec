#include "outputs/terminal/flight_text/python_set.h"

#include <fmt/format.h>

#include <algorithm>

namespace debrief::outputs::flight_text {

namespace {

constexpr size_t kProbes = 9;  // slots after the first that are tried in a row
constexpr int kShift = 5;
constexpr size_t kLarge = 50000;  // from here on a table grows less

}  // namespace

PythonSet::PythonSet(std::span<const int32_t> numbers) : PythonSet() {
  for (int32_t number : numbers) Add(number);
}

size_t PythonSet::Find(int32_t number) const {
  size_t mask = slots_.size() - 1;
  size_t perturb = static_cast<size_t>(number);
  for (size_t at = perturb & mask;; at = (at * 5 + 1 + perturb) & mask) {
    size_t last = at + kProbes <= mask ? at + kProbes : at;
    for (size_t slot = at; slot <= last; ++slot) {
      if (slots_[slot] == kEmpty || slots_[slot] == number) return slot;
    }
    perturb >>= kShift;
  }
}

bool PythonSet::Has(int32_t number) const { return number >= 0 && slots_[Find(number)] == number; }

void PythonSet::Add(int32_t number) {
  if (number < 0) return;
  size_t slot = Find(number);
  if (slots_[slot] == number) return;
  slots_[slot] = number;
  ++used_;
  if (++fill_ * 5 >= (slots_.size() - 1) * 3) Resize(used_ > kLarge ? used_ * 2 : used_ * 4);
}

void PythonSet::Resize(size_t least) {
  std::vector<int32_t> items = Items();
  size_t size = kSmallest;
  while (size <= least) size *= 2;
  slots_.assign(size, kEmpty);
  for (int32_t item : items) slots_[Find(item)] = item;
  fill_ = used_ = items.size();
}

void PythonSet::Merge(const PythonSet& other) {
  if (other.empty() || &other == this) return;
  if ((fill_ + other.used_) * 5 >= (slots_.size() - 1) * 3) Resize((used_ + other.used_) * 2);
  if (fill_ == 0 && slots_.size() == other.slots_.size() && other.fill_ == other.used_) {
    slots_ = other.slots_;
    fill_ = used_ = other.used_;
    return;
  }
  for (int32_t item : other.Items()) Add(item);
}

int32_t PythonSet::Pop() {
  size_t slot = finger_ & (slots_.size() - 1);
  while (slots_[slot] < 0) slot = (slot + 1) & (slots_.size() - 1);
  int32_t number = slots_[slot];
  slots_[slot] = kRemoved;
  --used_;
  finger_ = slot + 1;
  return number;
}

void PythonSet::Remove(int32_t number) {
  if (!Has(number)) return;
  slots_[Find(number)] = kRemoved;
  --used_;
}

std::vector<int32_t> PythonSet::Items() const {
  std::vector<int32_t> items;
  items.reserve(used_);
  std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(items),
               [](int32_t slot) { return slot >= 0; });
  return items;
}

bool PythonSet::SubsetOf(const PythonSet& other) const {
  return std::all_of(slots_.begin(), slots_.end(),
                     [&](int32_t slot) { return slot < 0 || other.Has(slot); });
}

bool PythonSet::operator==(const PythonSet& other) const {
  return used_ == other.used_ && SubsetOf(other);
}

std::string PythonSet::Text() const {
  return empty() ? "set()" : fmt::format("{{{}}}", fmt::join(Items(), ", "));
}

PythonSet Minus(const PythonSet& a, const PythonSet& b) {
  PythonSet result;
  if (a.used_ / 4 > b.used_) {
    result.Merge(a);
    for (int32_t item : b.Items()) result.Remove(item);
    return result;
  }
  for (int32_t item : a.Items()) {
    if (!b.Has(item)) result.Add(item);
  }
  return result;
}

PythonSet Union(const PythonSet& a, const PythonSet& b) {
  PythonSet result;
  result.Merge(a);
  result.Merge(b);
  return result;
}

PythonSet Intersection(const PythonSet& a, const PythonSet& b) {
  const PythonSet& walked = b.size() > a.size() ? a : b;
  const PythonSet& asked = b.size() > a.size() ? b : a;
  PythonSet result;
  for (int32_t item : walked.Items()) {
    if (asked.Has(item)) result.Add(item);
  }
  return result;
}

}  // namespace debrief::outputs::flight_text

#include "model/accel/iterations.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace debrief::accel {
namespace {

constexpr size_t kCandidates = 8;  // distances tried a length of pieces

// Small numbers for pairs of numbers, in the order of first sight. Open addressing: a node a pair,
// as in unordered_map, would be most of the cost.
class PairNumbers {
 public:
  explicit PairNumbers(size_t most)
      : slots_(std::bit_ceil(2 * most + 16)),
        shift_(64 - static_cast<int>(std::bit_width(slots_.size() - 1))) {}

  uint32_t Number(uint32_t first, uint32_t second) {
    const uint64_t key = uint64_t{first} << 32 | second;
    // Every bit of the key reaches the highest bits of the product.
    size_t at = (key * 0x9E3779B97F4A7C15u) >> shift_;
    for (;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.number == 0) {
        slot = {key, ++count_};
        return count_ - 1;
      }
      if (slot.key == key) return slot.number - 1;
    }
  }

  uint32_t count() const { return count_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t number = 0;  // plus one; 0 is free
  };
  std::vector<Slot> slots_;
  int shift_;
  uint32_t count_ = 0;
};

// A sequence of numbers below `distinct`, one for the piece that begins at each place.
struct Pieces {
  std::vector<uint32_t> numbers;
  uint32_t distinct = 0;
};

Pieces SingleNames(std::span<const uint32_t> names) {
  PairNumbers numbers(names.size());
  Pieces pieces;
  for (const uint32_t name : names) pieces.numbers.push_back(numbers.Number(name, 0));
  pieces.distinct = numbers.count();
  return pieces;
}

// Pieces twice as long: each is two of the shorter ones, `length` apart.
Pieces Double(const Pieces& pieces, size_t length) {
  Pieces doubled;
  if (pieces.numbers.size() <= length) return doubled;
  const size_t count = pieces.numbers.size() - length;
  PairNumbers numbers(count);
  doubled.numbers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    doubled.numbers[i] = numbers.Number(pieces.numbers[i], pieces.numbers[i + length]);
  }
  doubled.distinct = numbers.count();
  return doubled;
}

// The most frequent distances between a piece and its last occurrence, short ones first among
// equals. A long distance that comes seldom counts as much as a short one that comes often: both
// cover as many names.
std::vector<size_t> FrequentDistances(const Pieces& pieces) {
  std::vector<size_t> last(pieces.distinct, SIZE_MAX);
  std::vector<uint32_t> counts(pieces.numbers.size(), 0);
  for (size_t i = 0; i < pieces.numbers.size(); ++i) {
    size_t& before = last[pieces.numbers[i]];
    if (before != SIZE_MAX) ++counts[i - before];
    before = i;
  }
  std::vector<std::pair<uint64_t, size_t>> weighted;
  for (size_t distance = 1; distance < counts.size(); ++distance) {
    if (counts[distance] > 0)
      weighted.emplace_back(uint64_t{counts[distance]} * distance, distance);
  }
  const size_t kept = std::min(kCandidates, weighted.size());
  std::partial_sort(weighted.begin(), weighted.begin() + static_cast<std::ptrdiff_t>(kept),
                    weighted.end(), [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  std::vector<size_t> distances;
  for (size_t i = 0; i < kept; ++i) distances.push_back(weighted[i].second);
  return distances;
}

// names[first .. first + length) repeats itself with this period.
struct Stretch {
  size_t period = 0;
  size_t first = 0;
  size_t length = 0;
};

Stretch LongestStretch(std::span<const uint32_t> names, size_t period) {
  Stretch best{period, 0, 0};
  size_t run = 0;
  for (size_t i = 0; i + period < names.size(); ++i) {
    run = names[i] == names[i + period] ? run + 1 : 0;
    if (run > best.length) best = {period, i + 1 - run, run};
  }
  best.length += best.length > 0 ? period : 0;
  return best;
}

// Two whole iterations make a repetition. A longer stretch wins; a stretch that is hardly longer
// is a multiple of the same period.
bool Better(const Stretch& stretch, const Stretch& best) {
  if (stretch.length < 2 * stretch.period) return false;
  if (best.period == 0) return true;
  const bool shorter_period = stretch.period < best.period;
  const size_t slack = std::max(stretch.period, best.period);
  return shorter_period ? stretch.length + slack >= best.length
                        : stretch.length > best.length + slack;
}

Stretch FindStretch(std::span<const uint32_t> names) {
  Stretch best;
  std::vector<size_t> tried;
  Pieces pieces = SingleNames(names);
  for (size_t length = 1; pieces.distinct < pieces.numbers.size(); length *= 2) {
    for (const size_t distance : FrequentDistances(pieces)) {
      if (std::find(tried.begin(), tried.end(), distance) != tried.end()) continue;
      tried.push_back(distance);
      const Stretch stretch = LongestStretch(names, distance);
      if (Better(stretch, best)) best = stretch;
    }
    if (best.length * 10 >= names.size() * 9) break;
    pieces = Double(pieces, length);
  }
  return best;
}

// Knuth, Morris and Pratt: places where `word` stands, apart from each other.
std::vector<size_t> Places(std::span<const uint32_t> names, std::span<const uint32_t> word) {
  std::vector<size_t> fallback(word.size() + 1, 0);
  for (size_t i = 1, k = 0; i < word.size(); ++i) {
    while (k > 0 && word[i] != word[k]) k = fallback[k];
    if (word[i] == word[k]) ++k;
    fallback[i + 1] = k;
  }
  std::vector<size_t> places;
  for (size_t i = 0, k = 0; i < names.size(); ++i) {
    while (k > 0 && names[i] != word[k]) k = fallback[k];
    if (names[i] == word[k]) ++k;
    if (k < word.size()) continue;
    places.push_back(i + 1 - word.size());
    k = 0;
  }
  return places;
}

std::string_view WhyNot(std::span<const uint32_t> names) {
  if (names.empty()) return "no kernel was recorded";
  const Pieces single = SingleNames(names);
  if (single.distinct == names.size()) return "no kernel runs twice";
  return "kernels repeat, but no sequence of them runs twice in a row";
}

}  // namespace

Iterations FindIterations(std::span<const uint32_t> names) {
  Iterations found;
  const Stretch stretch = FindStretch(names);
  if (stretch.period == 0) {
    found.why_not = WhyNot(names);
    return found;
  }
  found.period = stretch.period;
  found.starts = Places(names, names.subspan(stretch.first, stretch.period));
  return found;
}

}  // namespace debrief::accel

// Iterations of a job, found in the order of its kernels: the longest stretch that repeats itself.
//
//   names   s t | a b b c | a b b c | a b b c | e
//   period  4, first at 2, three iterations
//
// Candidates for the period are the distances between equal pieces of the sequence: single names
// first, then pieces of 2, 4, 8 ... names, numbered by pairs of numbers (exact: nothing is hashed
// to a letter). A piece that is longer than every repetition inside of an iteration comes back
// after exactly one period. For the most frequent distances of each length the longest stretch with
// names[i] == names[i + distance] is measured; pieces grow no further once a stretch covers nearly
// all, or when no piece comes twice.
//
// Then all places where the word of one period stands, in order and apart from each other, are the
// iterations: a run that is interrupted and goes on is found again.
//
// Cost: O(n) a length of pieces, at most log2(n) lengths; a sequence in which nothing repeats takes
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace debrief::accel {

struct Iterations {
  size_t period = 0;           // names in an iteration; 0: none found
  std::vector<size_t> starts;  // index of the first name of each
  std::string_view why_not;    // none found: a clause ("no kernel runs twice")
};

Iterations FindIterations(std::span<const uint32_t> names);

}  // namespace debrief::accel

// Which numbers of its memo a pickle ever asks for.
//
// Python puts every string and every container into the memo and fetches few of them again; a
// snapshot of 1 GB puts 15 million and fetches some thousands. A look at the opcodes alone, before
// the values are read, tells which: what is never fetched need not be kept. Cost: a pass over the
// bytes, and 1.5 bits for every number up to the largest that is fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/source.h"

namespace debrief {

class MemoFetches {
 public:
  // Up to STOP, or to the first byte that is no opcode: the reader gets no farther, either. None
  // when the source cannot be read, or has lines of megabytes. Numbers from `most` on are left out.
  static std::optional<MemoFetches> Find(const Source& source, ByteRange range, size_t window_bytes,
                                         size_t most);

  bool Has(uint64_t id) const {
    return id / kBits < words_.size() && (words_[id / kBits] >> id % kBits & 1) != 0;
  }
  // How many smaller ones are fetched. Only where Has().
  size_t PositionOf(uint64_t id) const;
  size_t count() const { return count_; }
  size_t bytes() const { return words_.capacity() * 8 + before_.capacity() * 4; }

 private:
  static constexpr size_t kBits = 64;

  void Add(uint64_t id);
  void Count();

  std::vector<uint64_t> words_;   // a bit a number
  std::vector<uint32_t> before_;  // bits that are set before each word
  size_t count_ = 0;
};

}  // namespace debrief

#include "inputs/flight_recorder/member_lists.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/bytes/hash.h"

namespace debrief::inputs::flight_recorder {

struct MemberList::Kept {
  std::string text;
  std::vector<int64_t> ranks;  // in order
  uint32_t hash = 0;           // of `ranks`, as pools want it
};

namespace {

constexpr size_t kShortText = 512;            // parsing it is as cheap as looking it up
constexpr size_t kMostKeptBytes = 256 << 20;  // of texts; hostile dumps may have any number

// False when the text is no list of numbers.
bool ParseMembers(std::string_view text, std::vector<int64_t>& ranks) {
  if (!text.starts_with('[') || !text.ends_with(']')) return false;
  constexpr ptrdiff_t kSafeDigits = 18;  // as many fit into 64 bits
  ranks.reserve(text.size() / 6 + 1);
  const char* next = text.data() + 1;
  const char* end = text.data() + text.size() - 1;
  while (next < end) {
    if (*next == ' ' || *next == ',') {
      ++next;
      continue;
    }
    const char* digits = next;
    int64_t rank = 0;
    while (next < end && *next >= '0' && *next <= '9' && next - digits < kSafeDigits)
      rank = rank * 10 + (*next++ - '0');
    if (next == digits || (next < end && *next != ' ' && *next != ',')) return false;
    ranks.push_back(rank);
  }
  return true;
}

std::vector<int64_t> MembersOf(std::string_view text) {
  std::vector<int64_t> ranks;
  if (!ParseMembers(text, ranks)) ranks.clear();
  if (!std::is_sorted(ranks.begin(), ranks.end())) std::sort(ranks.begin(), ranks.end());
  return ranks;
}

class KeptLists {
 public:
  // Null when there is no room for it.
  const MemberList::Kept* Find(std::string_view text) {
    const uint64_t key = KeyOf(text);
    for (const MemberList::Kept* kept : Candidates(key)) {
      if (kept->text == text) return kept;
    }
    return Add(key, text);
  }

 private:
  // All bytes are compared anyway: lists that differ do so in length, at their ends or on the way.
  static uint64_t KeyOf(std::string_view text) {
    constexpr size_t kPiece = 64;
    uint64_t key = text.size();
    for (size_t quarter = 0; quarter <= 4; ++quarter) {
      const std::string_view piece = text.substr((text.size() - kPiece) * quarter / 4, kPiece);
      key = key * 31 + HashBytes(piece);
    }
    return key;
  }

  std::vector<const MemberList::Kept*> Candidates(uint64_t key) {
    const std::lock_guard lock(mutex_);
    const auto found = lists_.equal_range(key);
    std::vector<const MemberList::Kept*> candidates;
    for (auto at = found.first; at != found.second; ++at) candidates.push_back(at->second.get());
    return candidates;
  }

  // Two threads may add the same list; both copies serve.
  const MemberList::Kept* Add(uint64_t key, std::string_view text) {
    auto kept = std::make_unique<MemberList::Kept>();
    kept->text = text;
    kept->ranks = MembersOf(text);
    kept->hash = SequencePool<int64_t, ListId>::HashOf(kept->ranks);
    const std::lock_guard lock(mutex_);
    if (bytes_ + text.size() > kMostKeptBytes) return nullptr;
    bytes_ += text.size();
    return lists_.emplace(key, std::move(kept))->second.get();
  }

  std::mutex mutex_;
  std::unordered_multimap<uint64_t, std::unique_ptr<MemberList::Kept>> lists_;
  size_t bytes_ = 0;
};

}  // namespace

MemberList::MemberList(std::vector<int64_t> ranks) : ranks_(std::move(ranks)) {
  if (!std::is_sorted(ranks_.begin(), ranks_.end())) std::sort(ranks_.begin(), ranks_.end());
}

MemberList MemberList::OfText(std::string_view text) {
  static KeptLists lists;
  MemberList list;
  if (text.size() > kShortText) list.kept_ = lists.Find(text);
  if (list.kept_ == nullptr) list.ranks_ = MembersOf(text);
  return list;
}

ListId MemberList::InternInto(Pools& pools) const {
  return kept_ == nullptr ? pools.lists.Intern(ranks_)
                          : pools.lists.InternKept(kept_->ranks, kept_->hash);
}

}  // namespace debrief::inputs::flight_recorder

#include "inputs/job_text/rows/rank_map.h"

namespace debrief::inputs::job_text {

namespace {

template <typename Map, typename Key>
void LearnOrForget(Map& map, const Key& key, int32_t rank) {
  auto [known, is_new] = map.try_emplace(key, rank);
  if (!is_new && known->second != rank) known->second = kNone32;
}

template <typename Map, typename Key>
int32_t FindOrNone(const Map& map, const Key& key) {
  auto known = map.find(key);
  return known == map.end() ? kNone32 : known->second;
}

}  // namespace

void RankMap::Learn(uint32_t host, int32_t local_rank, int32_t rank) {
  if (local_rank == kNone32 || rank == kNone32) return;
  LearnOrForget(by_local_, std::pair(host, local_rank), rank);
  LearnOrForget(first_rank_, host, rank - local_rank);
}

void RankMap::LearnProcess(int64_t pid, int32_t rank) {
  if (pid != kNone64 && rank != kNone32) LearnOrForget(by_pid_, pid, rank);
}

void RankMap::LearnHost(uint32_t host, int32_t rank) {
  if (host != 0 && rank != kNone32) LearnOrForget(by_host_, host, rank);
}

int32_t RankMap::RankOfHost(uint32_t host) const {
  bool one_each = by_host_.size() > 1;
  for (const auto& [other, rank] : by_host_) one_each &= rank != kNone32;
  return host != 0 && one_each ? FindOrNone(by_host_, host) : kNone32;
}

int32_t RankMap::RankOfProcess(int64_t pid) const {
  return pid == kNone64 ? kNone32 : FindOrNone(by_pid_, pid);
}

int32_t RankMap::RankOf(const Owner& owner, int32_t rank_of_text) const {
  if (owner.rank != kNone32) return owner.rank;
  // Processes of an engine that are no workers are of no rank.
  if (owner.engine != 0 && !by_engine_.empty()) return FindOrNone(by_engine_, owner.engine);
  if (owner.pid != kNone64) {
    int32_t known = RankOfProcess(owner.pid);
    return known != kNone32 ? known : rank_of_text;
  }
  if (owner.local_rank == kNone32) {
    int32_t known = RankOfHost(owner.host);
    return known != kNone32 ? known : rank_of_text;
  }
  return RankOfLocal(owner.host, owner.local_rank, rank_of_text);
}

// The ranks of a host follow each other; without any word on them a text is that of one host.
int32_t RankMap::RankOfLocal(uint32_t host, int32_t local_rank, int32_t rank_of_text) const {
  if (by_local_.contains({host, local_rank})) return by_local_.at({host, local_rank});
  auto first = first_rank_.find(host);
  if (first != first_rank_.end() && first->second != kNone32 && first->second >= 0)
    return first->second + local_rank;
  if (rank_of_text != kNone32) return rank_of_text;
  bool several = host != 0 || (first != first_rank_.end() && first->second == kNone32);
  return several ? kNone32 : local_rank;
}

}  // namespace debrief::inputs::job_text

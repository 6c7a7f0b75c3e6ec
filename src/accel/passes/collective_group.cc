#include "accel/passes/collective_group.h"

#include <algorithm>

namespace debrief::accel {

void CollectiveGroup::Add(const FlowStep& step) {
  const double end = step.slice.end();
  start_ = steps_.empty() ? step.slice.ts : std::min(start_, step.slice.ts);
  end_ = steps_.empty() ? end : std::max(end_, end);
  Sync& sync = syncs_[step.sync];
  sync.ranks.insert(step.slice.pid.integer);
  sync.ranks.insert(step.peers.begin(), step.peers.end());
  sync.has_list |= step.kind == StepKind::kList || step.kind == StepKind::kMulticast;
  if (step.kind == StepKind::kDone) {
    ++sync.closed;
    first_done_.try_emplace({step.sync, step.slice.pid.integer}, steps_.size());
  } else {
    sync.opened += step.kind == StepKind::kList ? step.peers.size() : 1;
  }
  steps_.push_back(&step);
}

bool CollectiveGroup::IsClosed(const Sync& sync) {
  const size_t ranks = sync.ranks.size();
  if (ranks < 2 || sync.closed != ranks - 1) return false;
  const bool multicast = ranks > 2 || sync.has_list;
  return multicast ? sync.opened == 2 * ranks - 1 : sync.opened > 0;
}

bool CollectiveGroup::IsComplete() const {
  return syncs_.size() >= 2 && std::all_of(syncs_.begin(), syncs_.end(), [](const auto& entry) {
           return IsClosed(entry.second);
         });
}

int64_t CollectiveGroup::ReceiveOf(size_t index) const {
  const FlowStep& send = *steps_[index];
  if (send.kind != StepKind::kSend || send.peers.empty()) return -1;
  const auto at = first_done_.find({send.sync, send.peers[0]});
  return at == first_done_.end() ? -1 : static_cast<int64_t>(at->second);
}

std::set<int64_t> CollectiveGroup::Ranks() const {
  std::set<int64_t> ranks;
  for (const auto& [id, sync] : syncs_) ranks.insert(sync.ranks.begin(), sync.ranks.end());
  return ranks;
}

}  // namespace debrief::accel

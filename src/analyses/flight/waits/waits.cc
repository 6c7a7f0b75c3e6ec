#include "analyses/flight/waits/waits.h"

#include <algorithm>

namespace debrief::analyses::flight {

namespace {

// Tarjan's strongly connected components, with an own stack: a chain of 100,000 ranks must not
// overflow ours.
class Components {
 public:
  Components(const Waits& waits, size_t ranks)
      : waits_(waits), order_(ranks, -1), low_(ranks), on_stack_(ranks) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      if (order_[rank] < 0) Visit(static_cast<int32_t>(rank));
    }
  }

  std::vector<std::vector<int32_t>> found;

 private:
  struct Step {
    int32_t rank;
    size_t next;  // edge to look at
  };

  void Visit(int32_t root) {
    std::vector<Step> path;
    Enter(root, path);
    while (!path.empty()) {
      Step& step = path.back();
      const auto& edges = waits_.Of(step.rank);
      if (step.next < edges.size()) {
        int32_t to = edges[step.next++].on;
        if (order_[At(to)] < 0) {
          Enter(to, path);
        } else if (on_stack_[At(to)]) {
          low_[At(step.rank)] = std::min(low_[At(step.rank)], order_[At(to)]);
        }
      } else {
        Leave(path);
      }
    }
  }

  void Enter(int32_t rank, std::vector<Step>& path) {
    order_[At(rank)] = low_[At(rank)] = next_++;
    stack_.push_back(rank);
    on_stack_[At(rank)] = true;
    path.push_back({rank, 0});
  }

  void Leave(std::vector<Step>& path) {
    int32_t rank = path.back().rank;
    path.pop_back();
    if (!path.empty())
      low_[At(path.back().rank)] = std::min(low_[At(path.back().rank)], low_[At(rank)]);
    if (low_[At(rank)] != order_[At(rank)]) return;
    std::vector<int32_t> component;
    int32_t member;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[At(member)] = false;
      component.push_back(member);
    } while (member != rank);
    std::sort(component.begin(), component.end());
    if (component.size() > 1) found.push_back(std::move(component));
  }

  static size_t At(int32_t rank) { return static_cast<size_t>(rank); }

  const Waits& waits_;
  std::vector<int32_t> order_;
  std::vector<int32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<int32_t> stack_;
  int32_t next_ = 0;
};

}  // namespace

Waits::Waits(const Index& index)
    : index_(index), waits_(index.ranks.size()), waiting_(index.ranks.size()) {
  for (size_t rank = 0; rank < index.ranks.size(); ++rank) {
    const Unit* unit = At(static_cast<int32_t>(rank));
    if (unit == nullptr) continue;
    waits_[rank] = WaitsAt(*unit);
    // What it is really in has fallen out. That others never issued even this one holds all the
    // same.
    if (index.ranks[rank].lost)
      std::erase_if(waits_[rank],
                    [](const Wait& wait) { return wait.kind == WaitKind::kHeadOfLine; });
    for (const Wait& wait : waits_[rank])
      waiting_[static_cast<size_t>(wait.on)].push_back(static_cast<int32_t>(rank));
  }
}

const Unit* Waits::At(int32_t rank) const {
  const auto& pending = index_.RankAt(rank).pending;
  return pending.empty() ? nullptr : &index_.UnitAt(pending.front());
}

bool Waits::IsAt(int32_t rank, const Unit& unit) const {
  const Unit* at = At(rank);
  if (at == nullptr || at == &unit) return at == &unit;
  return at->p2p && unit.p2p && at->group == unit.group && at->seq == unit.seq;
}

void Waits::AddWait(int32_t rank, const Unit* theirs, Index::Issued issued,
                    std::vector<Wait>& waits) const {
  const RankInfo& info = index_.RankAt(rank);
  if (!info.has_dump) {
    waits.push_back({rank, WaitKind::kNoDump});
  } else if (theirs != nullptr) {
    if (!theirs->completed() && !IsAt(rank, *theirs) && !info.lost)
      waits.push_back({rank, WaitKind::kHeadOfLine});
  } else if (issued != Index::Issued::kYes) {
    waits.push_back(
        {rank, issued == Index::Issued::kNo ? WaitKind::kNotIssued : WaitKind::kCutDump});
  }
}

void Waits::AddPartner(const Unit& unit, std::vector<Wait>& waits) const {
  if (unit.partner < 0 || unit.fell_out) return;
  const Unit* theirs = unit.peer < 0 ? nullptr : &index_.UnitAt(unit.peer);
  bool whole = index_.RankAt(unit.partner).whole;
  AddWait(unit.partner, theirs, whole ? Index::Issued::kNo : Index::Issued::kUnknown, waits);
}

// A batch of sends and receives is one operation: its rank waits for all partners.
std::vector<Wait> Waits::WaitsAt(const Unit& unit) const {
  std::vector<Wait> waits;
  if (!unit.p2p) {
    const Group& group = index_.GroupOf(unit);
    for (int32_t rank : group.members) {
      if (rank != unit.rank)
        AddWait(rank, index_.FindUnit(group, unit.seq, rank),
                index_.HasIssued(group, unit.seq, rank), waits);
    }
    return waits;
  }
  for (int32_t at : index_.RankAt(unit.rank).pending) {
    const Unit& other = index_.UnitAt(at);
    if (!other.p2p || other.group != unit.group || other.seq != unit.seq) break;
    AddPartner(other, waits);
  }
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Wait& a, const Wait& b) { return a.on < b.on; });
  auto same = [](const Wait& a, const Wait& b) { return a.on == b.on; };
  waits.erase(std::unique(waits.begin(), waits.end(), same), waits.end());
  return waits;
}

std::vector<std::vector<int32_t>> Waits::Cycles() const {
  return Components(*this, waits_.size()).found;
}

std::vector<int32_t> Waits::Behind(const std::vector<int32_t>& ranks) const {
  std::vector<bool> seen(waits_.size());
  std::vector<int32_t> queue = ranks, behind;
  for (int32_t rank : ranks) seen[static_cast<size_t>(rank)] = true;
  while (!queue.empty()) {
    int32_t rank = queue.back();
    queue.pop_back();
    for (int32_t waiter : On(rank)) {
      if (seen[static_cast<size_t>(waiter)]) continue;
      seen[static_cast<size_t>(waiter)] = true;
      behind.push_back(waiter);
      queue.push_back(waiter);
    }
  }
  std::sort(behind.begin(), behind.end());
  return behind;
}

}  // namespace debrief::analyses::flight

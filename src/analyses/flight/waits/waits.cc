#include "analyses/flight/waits/waits.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace debrief::analyses::flight {

// Tarjan's strongly connected components over ranks and places (a rank leads to its place, a place
// to those who are waited for), with an own stack: a chain of 100,000 ranks must not overflow ours.
class Waits::Components {
 public:
  explicit Components(const Waits& waits)
      : waits_(waits), ranks_(static_cast<int32_t>(waits.place_of_.size())) {
    const size_t nodes = waits.place_of_.size() + waits.places_.size();
    order_.assign(nodes, -1);
    low_.resize(nodes);
    on_stack_.resize(nodes);
    for (int32_t rank = 0; rank < ranks_; ++rank) {
      if (order_[At(rank)] < 0) Visit(rank);
    }
  }

  std::vector<std::vector<int32_t>> found;

 private:
  struct Step {
    int32_t node;  // a rank, or ranks_ + a place
    size_t next;   // edge to look at
  };

  // -1 behind the last.
  int32_t Edge(int32_t node, size_t number) const {
    if (node < ranks_) {
      const int32_t place = waits_.PlaceOf(node);
      return number == 0 && place >= 0 ? ranks_ + place : -1;
    }
    const std::vector<Wait>& waits = waits_.PlaceAt(node - ranks_).waits;
    return number < waits.size() ? waits[number].on : -1;
  }

  void Visit(int32_t root) {
    std::vector<Step> path;
    Enter(root, path);
    while (!path.empty()) {
      Step& step = path.back();
      const int32_t to = Edge(step.node, step.next++);
      if (to < 0) {
        Leave(path);
      } else if (order_[At(to)] < 0) {
        Enter(to, path);
      } else if (on_stack_[At(to)]) {
        low_[At(step.node)] = std::min(low_[At(step.node)], order_[At(to)]);
      }
    }
  }

  void Enter(int32_t node, std::vector<Step>& path) {
    order_[At(node)] = low_[At(node)] = next_++;
    stack_.push_back(node);
    on_stack_[At(node)] = true;
    path.push_back({node, 0});
  }

  void Leave(std::vector<Step>& path) {
    int32_t node = path.back().node;
    path.pop_back();
    if (!path.empty())
      low_[At(path.back().node)] = std::min(low_[At(path.back().node)], low_[At(node)]);
    if (low_[At(node)] != order_[At(node)]) return;
    std::vector<int32_t> component;
    int32_t member;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[At(member)] = false;
      if (member < ranks_) component.push_back(member);
    } while (member != node);
    std::sort(component.begin(), component.end());
    if (component.size() > 1) found.push_back(std::move(component));
  }

  static size_t At(int32_t node) { return static_cast<size_t>(node); }

  const Waits& waits_;
  int32_t ranks_;
  std::vector<int32_t> order_;
  std::vector<int32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<int32_t> stack_;
  int32_t next_ = 0;
};

Waits::Waits(const Index& index)
    : index_(index), place_of_(index.ranks.size(), -1), awaited_at_(index.ranks.size()) {
  AddPlaces();
  for (size_t place = 0; place < places_.size(); ++place) {
    for (const Wait& wait : places_[place].waits)
      awaited_at_[static_cast<size_t>(wait.on)].push_back(static_cast<int32_t>(place));
  }
}

// Whom a rank waits for in a collective does not depend on the rank, unless two of its entries have
// the same sequence number.
void Waits::AddPlaces() {
  std::map<std::tuple<int32_t, int32_t, bool>, int32_t> known;  // by group, sequence and `lost`
  for (int32_t rank = 0; rank < index_.rank_count(); ++rank) {
    const Unit* unit = At(rank);
    if (unit == nullptr) continue;
    const bool is_lost = index_.RankAt(rank).lost;
    const bool is_shared =
        !unit->p2p && index_.FindUnit(index_.GroupOf(*unit), unit->seq, rank) == unit;
    int32_t place = -1;
    if (is_shared) {
      auto [at, is_new] = known.try_emplace({unit->group, unit->seq, is_lost}, -1);
      if (is_new) at->second = AddPlace(WaitsAt(*unit), is_lost);
      place = at->second;
    } else {
      place = AddPlace(WaitsAt(*unit), is_lost);
    }
    place_of_[static_cast<size_t>(rank)] = place;
    if (place >= 0) places_[static_cast<size_t>(place)].waiters.push_back(rank);
  }
}

// What a lost rank is really in has fallen out. That others never issued even this one holds all
// the same.
int32_t Waits::AddPlace(std::vector<Wait> waits, bool is_lost) {
  if (is_lost)
    std::erase_if(waits, [](const Wait& wait) { return wait.kind == WaitKind::kHeadOfLine; });
  if (waits.empty()) return -1;
  places_.push_back({std::move(waits), {}});
  return static_cast<int32_t>(places_.size()) - 1;
}

const std::vector<Wait>& Waits::Of(int32_t rank) const {
  static const std::vector<Wait> kNobody;
  const int32_t place = PlaceOf(rank);
  return place < 0 ? kNobody : PlaceAt(place).waits;
}

std::vector<int32_t> Waits::On(int32_t rank) const {
  std::vector<int32_t> waiters;
  for (int32_t place : awaited_at_[static_cast<size_t>(rank)]) {
    const std::vector<int32_t>& here = PlaceAt(place).waiters;
    waiters.insert(waiters.end(), here.begin(), here.end());
  }
  std::sort(waiters.begin(), waiters.end());
  return waiters;
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

std::vector<std::vector<int32_t>> Waits::Cycles() const { return Components(*this).found; }

std::vector<int32_t> Waits::Behind(const std::vector<int32_t>& ranks) const {
  std::vector<bool> seen(place_of_.size());
  std::vector<bool> seen_place(places_.size());
  std::vector<int32_t> queue = ranks, behind;
  for (int32_t rank : ranks) seen[static_cast<size_t>(rank)] = true;
  while (!queue.empty()) {
    int32_t rank = queue.back();
    queue.pop_back();
    for (int32_t place : awaited_at_[static_cast<size_t>(rank)]) {
      if (seen_place[static_cast<size_t>(place)]) continue;
      seen_place[static_cast<size_t>(place)] = true;
      for (int32_t waiter : PlaceAt(place).waiters) {
        if (seen[static_cast<size_t>(waiter)]) continue;
        seen[static_cast<size_t>(waiter)] = true;
        behind.push_back(waiter);
        queue.push_back(waiter);
      }
    }
  }
  std::sort(behind.begin(), behind.end());
  return behind;
}

}  // namespace debrief::analyses::flight

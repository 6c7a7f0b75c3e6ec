#include "inputs/torch_trace/untangle/search.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace debrief::inputs::torch_trace {

namespace {

constexpr int32_t kSlack = 40 * kBit;       // states worse than the best by more are not followed
constexpr int32_t kNobody = 30 * kBit;      // a line that belongs to no payload
constexpr int32_t kUnfit = 20 * kBit;       // complete JSON, but not what the digest says
constexpr uint32_t kAstray = ~uint32_t{0};  // a position in a known payload that takes no line
constexpr size_t kTrails = size_t{1} << 20;

uint64_t PartOfKey(int32_t lane, uint32_t position) {
  return Mix(static_cast<uint64_t>(lane) + 1, position);
}

}  // namespace

Search::Search(Knowledge* knowledge, const UntangleLimits& limits, int32_t beam)
    : know_(*knowledge),
      limits_(limits),
      beam_(static_cast<size_t>(std::max(beam, 1))),
      width_(static_cast<size_t>(knowledge->lane_count)),
      lanes_(width_),
      states_(1),
      positions_(width_, 0),
      trails_(1, Step{0, -1}),
      trail_limit_(kTrails) {}

// What follows a header goes to its lane.
void Search::TakeInOrder(size_t from, std::vector<int32_t>& taken) const {
  int32_t lane = -1;
  for (size_t i = from; i < taken.size(); ++i) {
    if (know_.lanes[i] >= 0) {
      lane = know_.lanes[i];
    } else {
      taken[i] = lane;
    }
  }
}

std::vector<int32_t> Search::Run() {
  size_t end = 0;
  for (size_t i = 0; i < know_.items.size() && !gave_up_; ++i, ++end) {
    gave_up_ = know_.WorkLeft(limits_) < 0;
    if (know_.lanes[i] >= 0) {
      TakeHeader(i);
    } else {
      TakeLine(i);
    }
  }
  for (int32_t lane = 0; lane < know_.lane_count; ++lane) CloseLane(lane);
  std::vector<int32_t> taken(know_.items.size(), -1);
  TakeInOrder(end, taken);
  uint32_t at = states_[0].trail;
  for (size_t i = end; i-- > 0;) {
    if (know_.lanes[i] >= 0) continue;
    taken[i] = trails_[at].lane;
    at = trails_[at].before;
  }
  return taken;
}

void Search::TakeHeader(size_t item) {
  int32_t lane = know_.lanes[item];
  CloseLane(lane);
  know_.model.LearnTurn(states_[0].last, states_[0].run, lane);
  for (State& state : states_) {
    state.run = state.last == lane ? state.run + 1 : 1;
    state.last = lane;
  }
  OpenLane(lane, item);
}

bool Search::IsWhole(int32_t lane, uint32_t position) const {
  const Payload* payload = lanes_[static_cast<size_t>(lane)].payload.get();
  if (payload == nullptr) return true;
  if (payload->known == nullptr) return false;
  const std::vector<uint32_t>& known = *payload->known;
  // The empty payload is written as one empty line or as none.
  bool empty = known.size() == 1 && know_.items[known[0]].text.empty();
  return position == known.size() || (empty && position == 0);
}

// States in which the payload is whole outlive the others; without any, it is lost for this pass.
void Search::CloseLane(int32_t lane) {
  std::shared_ptr<Payload>& payload = lanes_[static_cast<size_t>(lane)].payload;
  if (payload == nullptr) return;
  std::vector<uint32_t> whole;
  for (uint32_t s = 0; s < states_.size(); ++s) {
    if (IsWhole(lane, Position(s, lane))) whole.push_back(s);
  }
  if (!whole.empty()) KeepStates(whole);
  payload.reset();
  std::erase(open_, lane);
  for (size_t s = 0; s < states_.size(); ++s)
    positions_[s * width_ + static_cast<size_t>(lane)] = 0;
  Rekey();
  MergeEqual();
}

void Search::OpenLane(int32_t lane, size_t item) {
  const TangledItem& header = know_.items[item];
  if (!header.has_payload) return;
  lanes_[static_cast<size_t>(lane)].end = know_.ends[item];
  std::shared_ptr<Payload>& payload = lanes_[static_cast<size_t>(lane)].payload;
  for (int32_t other : open_) {
    const std::shared_ptr<Payload>& peer = lanes_[static_cast<size_t>(other)].payload;
    if (peer->digest == header.md5) payload = peer;
  }
  open_.push_back(lane);
  Rekey();
  if (payload != nullptr) return;
  payload = std::make_shared<Payload>();
  payload->digest = header.md5;
  auto known = know_.payloads.find(header.md5);
  if (known != know_.payloads.end()) {
    payload->known = &known->second;
  } else {
    payload->tree = std::make_unique<PrefixTree>(header.md5, static_cast<size_t>(limits_.prefixes));
  }
}

void Search::TakeLine(size_t item) {
  candidates_.clear();
  settled_ = false;
  for (uint32_t s = 0; s < states_.size(); ++s) Propose(item, s);
  const bool is_guess = std::any_of(open_.begin(), open_.end(), [&](int32_t lane) {
    return lanes_[static_cast<size_t>(lane)].payload->known == nullptr;
  });
  Spend(states_.size() * (width_ / 8 + open_.size() * (is_guess ? open_.size() + 8 : 8)));
  steps_ += static_cast<int64_t>(candidates_.size());
  int32_t best = candidates_[0].cost;
  for (const Candidate& candidate : candidates_) best = std::min(best, candidate.cost);
  std::erase_if(candidates_, [&](const Candidate& c) { return c.cost > best + kSlack; });
  Extend(item);
  if (settled_) DropDisagreeing();
  int32_t from = states_[0].last;
  int32_t run = states_[0].run;
  KeepBest(item);
  Adopt(candidates_);
  if (settled_) Settle();
  if (states_[0].last >= 0) know_.model.LearnTurn(from, run, states_[0].last);
  if (trails_.size() > trail_limit_) CollectTrails();
}

void Search::Propose(size_t item, uint32_t s) {
  const State& state = states_[s];
  const Line& line = know_.lines[item];
  int32_t skip = 0;
  for (int32_t lane : open_) skip += LaneOdds(item, s, lane).skip;
  for (int32_t lane : open_) {
    std::optional<int32_t> price = Price(item, s, lane);
    if (!price) continue;
    Odds odds = LaneOdds(item, s, lane);
    int32_t cost = *price + know_.model.TurnCost(state.last, state.run, lane);
    cost += skip + odds.take - odds.skip;
    if (lanes_[static_cast<size_t>(lane)].payload->known == nullptr) {
      cost += know_.model.LaneCost(line, lane);
    }
    candidates_.push_back({state.cost + cost, s, lane, 0, 0});
  }
  candidates_.push_back({state.cost + skip + kNobody, s, -1, 0, 0});
}

void Search::Extend(size_t item) {
  // A checksum of the line for each candidate.
  Spend(candidates_.size() * (100 + open_.size() + know_.items[item].text.size() / 2));
  std::erase_if(candidates_, [&](Candidate& candidate) {
    const State& state = states_[candidate.state];
    candidate.key = state.key;
    if (candidate.lane < 0) return false;
    uint32_t old = Position(candidate.state, candidate.lane);
    Payload& payload = *lanes_[static_cast<size_t>(candidate.lane)].payload;
    candidate.position = old;
    if (payload.known != nullptr) {
      candidate.position = old + 1;
    } else if (!payload.full && !ExtendPrefix(item, &candidate)) {
      return true;
    }
    candidate.key += PartOfKey(candidate.lane, candidate.position) - PartOfKey(candidate.lane, old);
    return false;
  });
}

bool Search::ExtendPrefix(size_t item, Candidate* candidate) {
  Payload& payload = *lanes_[static_cast<size_t>(candidate->lane)].payload;
  PrefixTree& tree = *payload.tree;
  uint32_t child = tree.Child(candidate->position, know_.lines[item], static_cast<uint32_t>(item));
  if (child == PrefixTree::kNone) {
    payload.full = true;
    return true;
  }
  for (int32_t other : open_) {
    if (other == candidate->lane || lanes_[static_cast<size_t>(other)].payload.get() != &payload) {
      continue;
    }
    uint32_t peer = Position(candidate->state, other);
    bool ahead = tree.At(peer).depth >= tree.At(child).depth;
    if (ahead ? !tree.IsPrefixOf(child, peer) : !tree.IsPrefixOf(peer, child)) return false;
  }
  candidate->position = child;
  const PrefixTree::Node& node = tree.At(child);
  if (payload.fits == child || (node.json.IsJson() && !node.json.IsComplete())) return true;
  if (payload.fits == PrefixTree::kNone && tree.Fits(child, know_.items)) {
    payload.fits = child;
    settled_ = true;
    know_.Prove(payload.digest, tree.Items(child), candidate->lane);
  } else if (node.json.IsJson()) {
    candidate->cost += kUnfit;
  }
  return true;
}

bool Search::Agrees(const Candidate& candidate) const {
  for (int32_t lane : open_) {
    const Payload& payload = *lanes_[static_cast<size_t>(lane)].payload;
    if (payload.fits == PrefixTree::kNone) continue;
    uint32_t position =
        lane == candidate.lane ? candidate.position : Position(candidate.state, lane);
    if (!payload.tree->IsPrefixOf(position, payload.fits)) return false;
  }
  return true;
}

// When no state agrees with all that was proved, the right one had been dropped before: the others
// go on, astray in the lanes that they got wrong.
void Search::DropDisagreeing() {
  auto agrees = [&](const Candidate& c) { return Agrees(c); };
  if (std::none_of(candidates_.begin(), candidates_.end(), agrees)) return;
  std::erase_if(candidates_, [&](const Candidate& c) { return !Agrees(c); });
}

// Wide only where a payload is open that is not known yet, and within the budget.
size_t Search::BeamNow(size_t item) const {
  bool spent = steps_ > limits_.steps_per_item * static_cast<int64_t>(item + 1);
  bool guessing = std::any_of(open_.begin(), open_.end(), [&](int32_t lane) {
    return lanes_[static_cast<size_t>(lane)].payload->known == nullptr;
  });
  if (guessing && !spent) return beam_;
  return std::min(beam_, static_cast<size_t>(std::max(limits_.beams[0], 1)));
}

// Best first, equal positions once, no more than the beam.
void Search::KeepBest(size_t item) {
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.state, a.lane) < std::tie(b.cost, b.state, b.lane);
  });
  size_t beam = BeamNow(item);
  std::vector<Candidate> kept;
  std::vector<uint64_t> keys;
  size_t mask = 63;
  while (mask < 4 * std::min(beam, candidates_.size())) mask = mask * 2 + 1;
  keys.assign(mask + 1, 0);
  for (const Candidate& candidate : candidates_) {
    if (kept.size() == beam) break;
    uint64_t key = candidate.key | 1;
    size_t at = (key >> 8) & mask;
    while (keys[at] != 0 && keys[at] != key) at = (at + 1) & mask;
    if (keys[at] == key) continue;
    keys[at] = key;
    kept.push_back(candidate);
  }
  candidates_ = std::move(kept);
}

void Search::Adopt(const std::vector<Candidate>& kept) {
  std::vector<State> states;
  std::vector<uint32_t> positions(kept.size() * width_);
  for (size_t i = 0; i < kept.size(); ++i) {
    const Candidate& from = kept[i];
    State state = states_[from.state];
    std::copy_n(positions_.begin() + static_cast<ptrdiff_t>(from.state * width_), width_,
                positions.begin() + static_cast<ptrdiff_t>(i * width_));
    trails_.push_back({state.trail, from.lane});
    state.trail = static_cast<uint32_t>(trails_.size() - 1);
    state.cost = from.cost - kept[0].cost;
    state.key = from.key;
    if (from.lane >= 0) {
      positions[i * width_ + static_cast<size_t>(from.lane)] = from.position;
      state.run = state.last == from.lane ? state.run + 1 : 1;
      state.last = from.lane;
    }
    states.push_back(state);
  }
  states_ = std::move(states);
  positions_ = std::move(positions);
}

// Payloads proved in this step: from here on their positions are counts of lines.
void Search::Settle() {
  for (int32_t lane : open_) {
    Payload& payload = *lanes_[static_cast<size_t>(lane)].payload;
    if (payload.fits == PrefixTree::kNone) continue;
    for (size_t s = 0; s < states_.size(); ++s) {
      uint32_t& position = positions_[s * width_ + static_cast<size_t>(lane)];
      bool agrees = payload.tree->IsPrefixOf(position, payload.fits);
      position = agrees ? payload.tree->At(position).depth : kAstray;
    }
    payload.known = &know_.payloads.find(payload.digest)->second;
  }
  for (int32_t lane : open_) {
    Payload& payload = *lanes_[static_cast<size_t>(lane)].payload;
    if (payload.known == nullptr) continue;
    payload.tree.reset();
    payload.fits = PrefixTree::kNone;
  }
  Rekey();
  MergeEqual();
}

void Search::Rekey() {
  Spend(states_.size() * (open_.size() + 1));
  for (uint32_t s = 0; s < states_.size(); ++s) {
    states_[s].key = 0;
    for (int32_t lane : open_) states_[s].key += PartOfKey(lane, Position(s, lane));
  }
}

void Search::MergeEqual() {
  std::vector<uint32_t> kept;
  std::set<uint64_t> seen;
  for (uint32_t s = 0; s < states_.size(); ++s) {
    if (seen.insert(states_[s].key).second) kept.push_back(s);
  }
  KeepStates(kept);
}

// `kept` ascends, so each state moves towards the front.
void Search::KeepStates(const std::vector<uint32_t>& kept) {
  for (size_t to = 0; to < kept.size(); ++to) {
    states_[to] = states_[kept[to]];
    std::copy_n(positions_.begin() + static_cast<ptrdiff_t>(kept[to] * width_), width_,
                positions_.begin() + static_cast<ptrdiff_t>(to * width_));
  }
  states_.resize(kept.size());
  positions_.resize(kept.size() * width_);
}

// Forgets steps that lead to no living state.
void Search::CollectTrails() {
  std::vector<uint32_t> place(trails_.size(), 0);
  for (const State& state : states_) place[state.trail] = 1;
  for (size_t i = trails_.size(); i-- > 1;) {
    if (place[i] != 0) place[trails_[i].before] = 1;
  }
  place[0] = 0;
  uint32_t next = 1;
  for (size_t i = 1; i < trails_.size(); ++i) {
    if (place[i] == 0) continue;
    trails_[next] = {place[trails_[i].before], trails_[i].lane};
    place[i] = next++;
  }
  trails_.resize(next);
  for (State& state : states_) state.trail = place[state.trail];
  trail_limit_ = std::max(kTrails, trails_.size() * 2);
}

}  // namespace debrief::inputs::torch_trace

// What it costs an assignment to give a line to a lane, before the rhythm of the stream.
#include <algorithm>

#include "inputs/torch_trace/untangle/search.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr int32_t kHopeless = 16 * kBit;  // a known payload that can no longer become whole
constexpr int32_t kAbandoned = 8 * kBit;
constexpr int32_t kOtherwise = 6 * kBit;  // a lane with the same lines so far went on otherwise
constexpr int32_t kPeerShape = 1 * kBit;  // ... went on with the same shape

}  // namespace

// A known payload that needs `left` of the `room` lines before its lane's next header gets the next
// line with probability left / room.
Search::Odds Search::LaneOdds(size_t item, uint32_t s, int32_t lane) const {
  const Lane& open = lanes_[static_cast<size_t>(lane)];
  if (open.payload->known == nullptr) return {kBit, 0};
  uint32_t position = Position(s, lane);
  auto size = static_cast<uint32_t>(open.payload->known->size());
  if (position >= size) return {kHopeless, 0};
  uint32_t left = size - position;
  uint32_t room = know_.lines_to[open.end] - know_.lines_to[item];
  if (left > room) return {kHopeless, 0};
  return {CostOf(left, room), left == room ? kHopeless : CostOf(room - left, room)};
}

std::optional<int32_t> Search::Price(size_t item, uint32_t s, int32_t lane) {
  const Payload& payload = *lanes_[static_cast<size_t>(lane)].payload;
  uint32_t position = Position(s, lane);
  const Line& line = know_.lines[item];
  if (payload.known != nullptr) {
    const std::vector<uint32_t>& known = *payload.known;
    if (position >= known.size() || know_.lines[known[position]].text != line.text) return {};
    return 0;
  }
  if (payload.full) return kAbandoned;
  return PeerPrice(line, s, lane, PriceOfPrefix(item, lane, position));
}

int32_t Search::PriceOfPrefix(size_t item, int32_t lane, uint32_t position) {
  PrefixTree::Node& node = lanes_[static_cast<size_t>(lane)].payload->tree->At(position);
  if (node.priced == item) return node.price;
  const Line& line = know_.lines[item];
  JsonShape json = node.json;
  node.priced = static_cast<uint32_t>(item);
  node.price = know_.model.FollowCost(node.context, line) + json.Step(line);
  return node.price;
}

// Ranks log nearly the same: what a lane ahead of this one, with the same lines so far, got next is
// what this lane should get.
int32_t Search::PeerPrice(const Line& line, uint32_t s, int32_t lane, int32_t price) const {
  const PrefixTree& tree = *lanes_[static_cast<size_t>(lane)].payload->tree;
  const PrefixTree::Node& node = tree.At(Position(s, lane));
  int32_t best = price;
  bool otherwise = false;
  for (int32_t other : open_) {
    const Payload& payload = *lanes_[static_cast<size_t>(other)].payload;
    if (other == lane || payload.tree == nullptr) continue;
    const PrefixTree::Node& peer = payload.tree->At(Position(s, other));
    if (peer.depth <= node.depth || (node.depth > 0 && peer.first != node.first)) continue;
    const PrefixTree::Node& next =
        payload.tree->At(payload.tree->Ancestor(Position(s, other), node.depth + 1));
    if (payload.tree->At(next.parent).shapes != node.shapes) continue;
    if (next.text == line.text) return 0;
    if (next.shape == line.shape) {
      best = std::min(best, kPeerShape);
    } else {
      otherwise = true;
    }
  }
  return best == price && otherwise ? price + kOtherwise : best;
}

}  // namespace debrief::inputs::torch_trace

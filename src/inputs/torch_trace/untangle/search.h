// One pass of the beam search over the items. An assignment ("state") is, for each lane, a position
// in the lane's open payload: a prefix in its tree, or a count of lines when the payload is known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "inputs/torch_trace/untangle.h"
#include "inputs/torch_trace/untangle/model.h"
#include "inputs/torch_trace/untangle/prefix_tree.h"

namespace debrief::inputs::torch_trace {

class Search {
 public:
  Search(Knowledge* knowledge, const UntangleLimits& limits, int32_t beam);
  // Per item the lane that each line went to, -1 none.
  std::vector<int32_t> Run();
  // The budget was used up.
  bool gave_up() const { return gave_up_; }

 private:
  struct State {
    int32_t cost = 0;
    uint32_t trail = 0;  // the last step in trails_
    uint64_t key = 0;    // equal for equal positions
    int32_t last = -1;   // the lane that wrote last, and how many lines in a row
    int32_t run = 0;
  };
  struct Step {
    uint32_t before;
    int32_t lane;
  };
  struct Candidate {
    int32_t cost;
    uint32_t state;
    int32_t lane;  // -1: the line belongs to nobody
    uint32_t position;
    uint64_t key;
  };
  // A payload that is open in one lane, or in several when the digests are equal.
  struct Payload {
    Digest digest;
    const std::vector<uint32_t>* known = nullptr;
    std::unique_ptr<PrefixTree> tree;   // while it is not known
    uint32_t fits = PrefixTree::kNone;  // the prefix that was found to be the whole, in this step
    bool full = false;
  };
  struct Lane {
    std::shared_ptr<Payload> payload;  // null: nothing open; shared by lanes with one digest
    uint32_t end = 0;                  // the item that closes it
  };

  void Spend(size_t comparisons) { know_.work += static_cast<int64_t>(comparisons); }
  void TakeInOrder(size_t from, std::vector<int32_t>& taken) const;
  void TakeHeader(size_t item);
  void TakeLine(size_t item);

  void CloseLane(int32_t lane);
  void OpenLane(int32_t lane, size_t item);
  bool IsWhole(int32_t lane, uint32_t position) const;

  struct Odds {
    int32_t take;
    int32_t skip;
  };
  void Propose(size_t item, uint32_t state);
  Odds LaneOdds(size_t item, uint32_t state, int32_t lane) const;
  std::optional<int32_t> Price(size_t item, uint32_t state, int32_t lane);
  int32_t PriceOfPrefix(size_t item, int32_t lane, uint32_t node);
  int32_t PeerPrice(const Line& line, uint32_t state, int32_t lane, int32_t price) const;
  void Extend(size_t item);
  bool ExtendPrefix(size_t item, Candidate* candidate);
  bool Agrees(const Candidate& candidate) const;
  void DropDisagreeing();
  void KeepBest(size_t item);
  void Adopt(const std::vector<Candidate>& kept);
  void Settle();
  void Rekey();
  void MergeEqual();
  void KeepStates(const std::vector<uint32_t>& kept);

  uint32_t Position(uint32_t state, int32_t lane) const {
    return positions_[state * width_ + static_cast<size_t>(lane)];
  }
  size_t BeamNow(size_t item) const;
  void CollectTrails();

  Knowledge& know_;
  const UntangleLimits& limits_;
  size_t beam_;
  size_t width_;  // lanes
  int64_t steps_ = 0;
  std::vector<Lane> lanes_;
  std::vector<int32_t> open_;        // lanes with a payload
  std::vector<State> states_;        // best first
  std::vector<uint32_t> positions_;  // of each state, width_ each
  std::vector<Candidate> candidates_;
  std::vector<Step> trails_;
  size_t trail_limit_;
  bool settled_ = false;  // a payload was proved in this step
  bool gave_up_ = false;
};

}  // namespace debrief::inputs::torch_trace

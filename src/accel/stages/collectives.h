// Collectives and their steps, which flow_prepare_event_data finds: sends, receives and what goes
// with them, by the id that their names carry ("[sync=...]").
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "accel/run.h"

namespace debrief::accel {

enum class StepKind : uint8_t { kSend, kMulticast, kList, kDone };

struct FlowStep {
  Event slice;          // as it was, its arguments shared with the original
  size_t position = 0;  // in the list of events
  StringId sync = StringId::kNone;
  StringId group = StringId::kNone;  // CollGroup
  StepKind kind = StepKind::kSend;
  std::vector<int64_t> peers;
};

struct FlowSteps {
  std::vector<FlowStep> steps;
};

// One collective: its steps, when it is complete, and which receive belongs to which send.
//
// Per sync id: n ranks take part (those that recorded a step and their peers). A send or multicast
// opens one transfer, a list of receivers one for each; a "done" closes one. It is closed when
// n - 1 are done and something was sent: with more than two ranks exactly 2n - 1 openings, the
// list, one part to each receiver and the data itself. A collective is complete when it has two
// sync ids or more and all are closed.

class CollectiveGroup {
 public:
  void Add(const FlowStep& step);
  bool IsComplete() const;

  // Index of the "done" in steps() that ends the send at `index`; -1 when there is none.
  int64_t ReceiveOf(size_t index) const;

  const std::vector<const FlowStep*>& steps() const { return steps_; }
  double start() const { return start_; }
  double end() const { return end_; }
  // Ranks that take part in any of it.
  std::set<int64_t> Ranks() const;

 private:
  struct Sync {
    std::set<int64_t> ranks;
    size_t opened = 0;
    size_t closed = 0;
    bool has_list = false;
  };
  static bool IsClosed(const Sync& sync);

  std::vector<const FlowStep*> steps_;
  std::map<StringId, Sync> syncs_;
  std::map<std::pair<StringId, int64_t>, size_t> first_done_;  // by sync and rank
  double start_ = 0, end_ = 0;
};

}  // namespace debrief::accel

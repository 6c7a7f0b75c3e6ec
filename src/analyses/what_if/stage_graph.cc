#include "analyses/what_if/stage_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace debrief::analyses::what_if {

namespace {

constexpr int64_t kToleranceNs = 50'000;  // of comparisons of times
constexpr size_t kNoMatch = SIZE_MAX;

using enum OpType;

struct Direction {
  OpType compute, send, recv;
};
constexpr Direction kForwards = {kForward, kForwardSend, kForwardRecv};
constexpr Direction kBackwards = {kBackward, kBackwardSend, kBackwardRecv};

std::string NameOf(const StageJob& job, uint32_t op) {
  const StageOp& each = job.ops[op];
  return fmt::format("{} {} of stage {}", InfoOf(each.type).name, each.number, each.stage);
}

// The ops of some types on a stage, as they come in time in one lane.
std::vector<uint32_t> InTime(const StageJob& job, size_t lane, size_t stage,
                             std::initializer_list<OpType> types) {
  std::vector<uint32_t> ops;
  for (OpType type : types) {
    const StageJob::Range range = job.Of(type, stage);
    for (size_t i = 0; i < range.count; ++i) ops.push_back(static_cast<uint32_t>(range.begin + i));
  }
  std::ranges::stable_sort(ops, {}, [&](uint32_t op) {
    return std::pair(job.start_ns[job.At(op, lane)], job.ops[op].number);
  });
  return ops;
}

// Which lane the graph is built from: the first of those whose order is the most frequent.
size_t UsualLane(const StageJob& job, size_t& odd_lanes) {
  std::map<std::vector<uint32_t>, std::pair<size_t, size_t>> orders;  // times, first lane
  for (size_t lane = 0; lane < job.lanes(); ++lane) {
    std::vector<uint32_t> order;
    for (size_t stage = 0; stage < job.stages; ++stage) {
      for (uint32_t op : InTime(job, lane, stage, {kForward, kBackward})) order.push_back(op);
      for (uint32_t op : InTime(job, lane, stage, {kParamsGather, kGradsScatter}))
        order.push_back(op);
    }
    ++orders.try_emplace(std::move(order), 0, lane).first->second.first;
  }
  std::pair<size_t, size_t> usual = {0, 0};
  for (const auto& [order, times_and_lane] : orders) {
    const auto& [times, lane] = times_and_lane;
    if (times > usual.first || (times == usual.first && lane < usual.second))
      usual = times_and_lane;
  }
  odd_lanes = job.lanes() - usual.first;
  return usual.second;
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const StageJob& job) : job_(job), partners_(job.stages * kOpTypes) {
    graph_.waits_for.resize(job.ops.size());
    graph_.meets.resize(job.ops.size());
    lane_ = UsualLane(job, graph_.odd_lanes);
    for (const StageOp& op : job.ops) chunks_ = std::max(chunks_, op.chunk + 1);
    for (size_t stage = 0; stage < job.stages; ++stage) {
      const bool separate = job.Of(kSeparateGrads, stage).count > 0;
      overlaps_ = overlaps_ || separate;
      syncs_replicas_ = syncs_replicas_ || LastsAny(kParamsGather, stage) ||
                        LastsAny(kGradsScatter, stage) || LastsAny(kSeparateGrads, stage);
    }
    syncs_replicas_ = syncs_replicas_ || job.replicas > 1;
  }

  std::optional<StageGraph> Build(std::string& why_not) {
    for (size_t stage = 0; stage < job_.stages; ++stage) {
      compute_ = InTime(job_, lane_, stage, {kForward, kBackward});
      Chain(compute_);
      for (OpType type : {kForwardSend, kForwardRecv, kBackwardSend, kBackwardRecv})
        Chain(OpsOf(type, stage));
      JoinTransfers(kForwards, stage);
      JoinTransfers(kBackwards, stage);
      FirstBackward(stage);
      if (syncs_replicas_) JoinReplicaSync(stage);
      JoinTail(stage);
    }
    AddMeetings();
    if (!Order()) {
      why_not = why_not_;
      return std::nullopt;
    }
    FindLast();
    return std::move(graph_);
  }

 private:
  std::vector<uint32_t> OpsOf(OpType type, size_t stage) const {
    const StageJob::Range range = job_.Of(type, stage);
    std::vector<uint32_t> ops(range.count);
    for (size_t i = 0; i < ops.size(); ++i) ops[i] = static_cast<uint32_t>(range.begin + i);
    return ops;
  }

  bool LastsAny(OpType type, size_t stage) const {
    const StageJob::Range range = job_.Of(type, stage);
    for (size_t i = 0; i < range.count; ++i) {
      if (job_.length_ns[job_.At(range.begin + i, lane_)] > 0) return true;
    }
    return false;
  }

  int64_t StartOf(uint32_t op) const { return job_.start_ns[job_.At(op, lane_)]; }
  int64_t EndOf(uint32_t op) const { return job_.EndNs(op, lane_); }
  void WaitsFor(uint32_t op, uint32_t other) { graph_.waits_for[op].push_back(other); }
  void Chain(const std::vector<uint32_t>& ops) {
    for (size_t i = 1; i < ops.size(); ++i) WaitsFor(ops[i], ops[i - 1]);
  }

  // Recorders log sends and receives that were never launched: those before or behind all
  // computing of their direction.
  std::vector<uint32_t> Live(OpType type, size_t stage, const std::vector<uint32_t>& compute) {
    std::vector<uint32_t> live;
    if (compute.empty()) return live;
    const bool is_recv = type == kForwardRecv || type == kBackwardRecv;
    const int64_t last_start =
        StartOf(*std::ranges::max_element(compute, {}, [&](uint32_t op) { return StartOf(op); }));
    const int64_t first_end =
        EndOf(*std::ranges::min_element(compute, {}, [&](uint32_t op) { return EndOf(op); }));
    for (uint32_t op : OpsOf(type, stage)) {
      const bool is_empty =
          is_recv ? StartOf(op) > last_start + kToleranceNs : EndOf(op) < first_end - kToleranceNs;
      if (!is_empty) live.push_back(op);
    }
    return live;
  }

  // Live sends and receives of a direction, each with the computing that it serves.
  void JoinTransfers(const Direction& direction, size_t stage) {
    const std::vector<uint32_t> compute = OpsOf(direction.compute, stage);
    for (OpType type : {direction.send, direction.recv}) {
      const std::vector<uint32_t> live = Live(type, stage, compute);
      const bool is_end = stage == 0 || stage + 1 == job_.stages;
      if (live.empty() && is_end && chunks_ == 1) continue;
      const size_t first = FirstServed(type, stage, live.size(), compute.size());
      if (first == kNoMatch) return;
      for (size_t i = 0; i < live.size(); ++i) {
        const size_t served = i + first;
        if (type == direction.send) WaitsFor(live[i], compute[served]);
        if (type == direction.recv) {
          WaitsFor(compute[served], live[i]);
          if (served > 0) WaitsFor(live[i], compute[served - 1]);
        }
        AddPartner(live[i], compute[served]);
      }
    }
  }

  // The computing that the first live op serves: of a receive that is not there, the first.
  size_t FirstServed(OpType type, size_t stage, size_t live, size_t computes) {
    if (live == computes) return 0;
    const bool is_end = stage == 0 || stage + 1 == job_.stages;
    if (is_end && live + 1 == computes)
      return type == kForwardRecv || type == kBackwardRecv ? 1 : 0;
    why_not_ = fmt::format("stage {} has {} ops {} for {} of computing", stage, live,
                           InfoOf(type).name, computes);
    return kNoMatch;
  }

  void AddPartner(uint32_t op, uint32_t compute) {
    const OpType type = job_.ops[op].type;
    const auto stages = static_cast<int64_t>(job_.stages);
    const int64_t at = job_.ops[compute].chunk * stages + static_cast<int64_t>(job_.ops[op].stage);
    const int64_t peer = at + (type == kForwardSend || type == kBackwardRecv ? 1 : -1);
    if (peer < 0 || peer >= chunks_ * stages) return;
    partners_[job_.ops[op].stage * kOpTypes + IndexOf(type)].push_back(op);
  }

  // The first gradients come and go when the forward pass that fills the pipeline is done.
  void FirstBackward(size_t stage) {
    const auto first =
        std::ranges::find_if(compute_, [&](uint32_t op) { return job_.ops[op].type == kBackward; });
    if (first == compute_.end() || first - compute_.begin() < 2) return;
    for (OpType type : {kBackwardSend, kBackwardRecv}) {
      const StageJob::Range range = job_.Of(type, stage);
      if (range.count > 0) WaitsFor(static_cast<uint32_t>(range.begin), *(first - 2));
    }
  }

  void JoinReplicaSync(size_t stage) {
    const std::vector<uint32_t> sync = InTime(job_, lane_, stage, {kParamsGather, kGradsScatter});
    Chain(sync);
    std::map<int32_t, uint32_t> last_gather, first_forward, first_scatter, last_backward;
    for (uint32_t op : sync) {
      const int32_t chunk = job_.ops[op].chunk;
      if (job_.ops[op].type == kParamsGather) last_gather[chunk] = op;
      if (job_.ops[op].type == kGradsScatter) first_scatter.try_emplace(chunk, op);
    }
    for (uint32_t op : compute_) {
      const int32_t chunk = job_.ops[op].chunk;
      if (job_.ops[op].type == kForward) first_forward.try_emplace(chunk, op);
      if (job_.ops[op].type != kBackward) continue;
      const auto [last, is_new] = last_backward.try_emplace(chunk, op);
      if (!is_new && EndOf(op) > EndOf(last->second)) last->second = op;
    }
    for (const auto& [chunk, gather] : last_gather) {
      if (first_forward.contains(chunk)) WaitsFor(first_forward[chunk], gather);
    }
    for (const auto& [chunk, scatter] : first_scatter) {
      if (overlaps_ && last_backward.contains(chunk)) WaitsFor(scatter, last_backward[chunk]);
    }
  }

  // What follows on the last computing, one after the other.
  void JoinTail(size_t stage) {
    std::vector<uint32_t> tail;
    if (!compute_.empty()) tail.push_back(compute_.back());
    auto append = [&](OpType type) {
      for (uint32_t op : OpsOf(type, stage)) tail.push_back(op);
    };
    append(kGc);
    append(kLayernormGrads);
    append(kEmbeddingGrads);
    if (syncs_replicas_) append(overlaps_ ? kSeparateGrads : kGradsScatter);
    append(kClip);
    append(kOptimizer);
    Chain(tail);
    const StageJob::Range scatters = job_.Of(kGradsScatter, stage);
    const StageJob::Range layernorm = job_.Of(kLayernormGrads, stage);
    if (overlaps_ && scatters.count > 0 && layernorm.count > 0)
      WaitsFor(static_cast<uint32_t>(layernorm.begin),
               static_cast<uint32_t>(scatters.begin + scatters.count - 1));
  }

  // ---- who begins together ----

  void AddMeetings() {
    meeting_of_.assign(job_.ops.size(), kNoMatch);
    for (size_t stage = 0; stage < job_.stages; ++stage) {
      PairUp(kForwardSend, stage, kForwardRecv, (stage + 1) % job_.stages);
      PairUp(kBackwardSend, stage, kBackwardRecv, (stage + job_.stages - 1) % job_.stages);
    }
    JoinEnds();
    JoinAll();
    for (uint32_t op = 0; op < job_.ops.size(); ++op) {
      if (meeting_of_[op] != kNoMatch) continue;
      const bool across = InfoOf(job_.ops[op].type).meets == Meets::kReplicas;
      AddMeeting({{op}, across});
    }
  }

  void AddMeeting(Meeting meeting) {
    for (uint32_t op : meeting.ops) {
      meeting_of_[op] = meetings_.size();
      graph_.meets[op] = meeting.ops.size() > 1 || meeting.across_replicas;
    }
    meetings_.push_back(std::move(meeting));
  }

  void PairUp(OpType send, size_t from, OpType recv, size_t to) {
    const auto& sends = partners_[from * kOpTypes + IndexOf(send)];
    const auto& recvs = partners_[to * kOpTypes + IndexOf(recv)];
    if (sends.size() != recvs.size() && why_not_.empty())
      why_not_ = fmt::format("{} ops {} of stage {} meet {} ops {} of stage {}", sends.size(),
                             InfoOf(send).name, from, recvs.size(), InfoOf(recv).name, to);
    for (size_t i = 0; i < std::min(sends.size(), recvs.size()); ++i)
      AddMeeting({{sends[i], recvs[i]}, false});
  }

  // Tied embeddings: the first and the last stage.
  void JoinEnds() {
    size_t most = 0;
    for (size_t stage = 0; stage < job_.stages; ++stage)
      most = std::max(most, job_.Of(kEmbeddingGrads, stage).count);
    for (size_t i = 0; i < most; ++i) {
      Meeting meeting;
      for (size_t stage = 0; stage < job_.stages; ++stage) {
        const StageJob::Range range = job_.Of(kEmbeddingGrads, stage);
        if (i < range.count) meeting.ops.push_back(static_cast<uint32_t>(range.begin + i));
      }
      AddMeeting(std::move(meeting));
    }
  }

  void JoinAll() {
    size_t most = 0;
    for (size_t stage = 0; stage < job_.stages; ++stage)
      most = std::max(most, job_.Of(kClip, stage).count);
    for (size_t i = 0; i < most; ++i) {
      Meeting meeting{{}, true};
      for (size_t stage = 0; stage < job_.stages; ++stage) {
        const StageJob::Range range = job_.Of(kClip, stage);
        if (i < range.count) meeting.ops.push_back(static_cast<uint32_t>(range.begin + i));
      }
      AddMeeting(std::move(meeting));
    }
  }

  // Meetings so that every one comes behind those it waits for; false when they go in a circle.
  bool Order() {
    if (!why_not_.empty()) return false;
    std::vector<std::vector<size_t>> followers(meetings_.size());
    std::vector<size_t> open(meetings_.size());
    for (uint32_t op = 0; op < job_.ops.size(); ++op) {
      for (uint32_t before : graph_.waits_for[op]) {
        followers[meeting_of_[before]].push_back(meeting_of_[op]);
        ++open[meeting_of_[op]];
      }
    }
    std::vector<size_t> ready;
    for (size_t i = 0; i < meetings_.size(); ++i) {
      if (open[i] == 0) ready.push_back(i);
    }
    for (size_t next = 0; next < ready.size(); ++next) {
      for (size_t follower : followers[ready[next]]) {
        if (--open[follower] == 0) ready.push_back(follower);
      }
      graph_.meetings.push_back(meetings_[ready[next]]);
    }
    if (ready.size() == meetings_.size()) return true;
    const auto stuck = std::ranges::find_if(open, [](size_t count) { return count > 0; });
    const Meeting& meeting = meetings_[static_cast<size_t>(stuck - open.begin())];
    why_not_ = fmt::format("{} waits for itself", NameOf(job_, meeting.ops.front()));
    return false;
  }

  void FindLast() {
    for (uint32_t op = 0; op < job_.ops.size(); ++op) {
      if (job_.ops[op].type == kOptimizer) graph_.last.push_back(op);
    }
    if (!graph_.last.empty()) return;
    for (uint32_t op = 0; op < job_.ops.size(); ++op) graph_.last.push_back(op);
  }

  const StageJob& job_;
  size_t lane_ = 0;
  int32_t chunks_ = 1;
  bool overlaps_ = false;
  bool syncs_replicas_ = false;
  std::vector<uint32_t> compute_;                // of the stage at hand, in time
  std::vector<std::vector<uint32_t>> partners_;  // by stage and type: ops that have another end
  std::vector<Meeting> meetings_;
  std::vector<size_t> meeting_of_;  // by op
  std::string why_not_;
  StageGraph graph_;
};

}  // namespace

std::optional<StageGraph> BuildStageGraph(const StageJob& job, std::string& why_not) {
  return GraphBuilder(job).Build(why_not);
}

}  // namespace debrief::analyses::what_if

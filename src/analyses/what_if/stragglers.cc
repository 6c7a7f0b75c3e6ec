#include "analyses/what_if/stragglers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "analyses/what_if/replay.h"
#include "base/stats/statistics.h"

namespace debrief::analyses::what_if {

namespace {

constexpr double kWrongByNs = -10e6;    // a transfer or delay this far below 0 is no measurement
constexpr double kWorstShare = 0.03;    // of the workers
constexpr double kNoDifference = 0.02;  // of the share that goes away with them
constexpr size_t kWorkersReplayed = 16;
constexpr double kEnough = 0.5;    // of what is lost, to be called the cause
constexpr double kTogether = 0.9;  // correlation of forward and backward
constexpr double kMuchSpread = 0.1;

double MeanOf(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Weights of a job: what every op took, and what ops of its type typically take.
class Weights {
 public:
  Weights(const StageJob& job, const StageGraph& graph) : job_(job) {
    own_.reserve(job.start_ns.size());
    for (int64_t length : job.length_ns) own_.push_back(static_cast<double>(length));
    for (const Meeting& meeting : graph.meetings) {
      if (graph.meets[meeting.ops.front()]) CutWaiting(meeting);
    }
    FindTypical();
  }

  size_t negative() const { return negative_; }
  double Own(size_t op, size_t lane) const { return own_[job_.At(op, lane)]; }
  double Typical(size_t op) const { return typical_[IndexOf(job_.ops[op].type)]; }
  double TypicalOf(OpType type) const { return typical_[IndexOf(type)]; }

 private:
  // A transfer begins when the last of its members has come; what is before is waiting.
  void CutWaiting(const Meeting& meeting) {
    const size_t width = meeting.across_replicas ? job_.replicas : 1;
    for (size_t first = 0; first < job_.lanes(); first += width) {
      int64_t begin = kNone64;
      for (uint32_t op : meeting.ops) {
        for (size_t lane = first; lane < first + width; ++lane)
          begin = std::max(begin, job_.start_ns[job_.At(op, lane)]);
      }
      for (uint32_t op : meeting.ops) {
        for (size_t lane = first; lane < first + width; ++lane) {
          const int64_t transfer = job_.EndNs(op, lane) - begin;
          if (transfer < 0) ++negative_;
          own_[job_.At(op, lane)] = static_cast<double>(std::max<int64_t>(0, transfer));
        }
      }
    }
  }

  // Means of computing, so that the ideal job does the same work, evenly spread; medians of the
  // rest.
  void FindTypical() {
    std::array<std::vector<double>, kOpTypes> of_type;
    for (size_t op = 0; op < job_.ops.size(); ++op) {
      auto& values = of_type[IndexOf(job_.ops[op].type)];
      const auto begin = own_.begin() + static_cast<std::ptrdiff_t>(job_.At(op, 0));
      values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(job_.lanes()));
    }
    for (size_t type = 0; type < kOpTypes; ++type) {
      const bool is_mean = InfoOf(static_cast<OpType>(type)).typical_is_mean;
      typical_[type] = is_mean ? MeanOf(of_type[type]) : Median(std::move(of_type[type]));
    }
  }

  const StageJob& job_;
  std::vector<double> own_;  // by op * lanes + lane
  std::array<double, kOpTypes> typical_ = {};
  size_t negative_ = 0;
};

class StragglerFinder {
 public:
  StragglerFinder(const StageJob& job, const StageGraph& graph)
      : job_(job), graph_(graph), weights_(job, graph) {}

  Stragglers Find(const std::vector<Setting>& settings) {
    found_.negative_transfers = weights_.negative();
    FindBase();
    found_.step_ns = ReplayAll([&](size_t op, size_t lane) { return weights_.Own(op, lane); });
    found_.replayed = MeanOf(found_.step_ns);
    found_.ideal =
        Replay(graph_, 1, 1, [&](size_t op, size_t, size_t) { return weights_.Typical(op); })[0];
    if (found_.replayed <= 0 || found_.ideal <= 0) return std::move(found_);
    found_.slowdown = found_.replayed / found_.ideal;
    found_.gap = found_.base / found_.replayed;
    CheckReplay();
    FindParts();
    FindWorst();
    FindShares();
    FindSpread();
    found_.faster_links_ns = StepWithTransfers(0.5);
    found_.overlap_ns = StepWithTransfers(0);
    if (!settings.empty()) found_.set_ns = MeanOf(ReplayWith(settings));
    return std::move(found_);
  }

 private:
  // Step times with weights `weight(op, lane)`.
  template <typename Weight>
  std::vector<double> ReplayAll(const Weight& weight) const {
    return Replay(graph_, job_.steps.size(), job_.replicas,
                  [&](size_t op, size_t step, size_t lane) {
                    return weight(op, step * job_.replicas + lane);
                  });
  }

  // Mean step time when only ops that `is_own(op, lane)` keep their own weights.
  template <typename IsOwn>
  double MeanWith(const IsOwn& is_own) const {
    return MeanOf(ReplayAll([&](size_t op, size_t lane) {
      return is_own(op, lane) ? weights_.Own(op, lane) : weights_.Typical(op);
    }));
  }

  void FindBase() {
    for (size_t step = 0; step < job_.steps.size(); ++step) {
      int64_t first = std::numeric_limits<int64_t>::max(), last = kNone64;
      for (size_t op = 0; op < job_.ops.size(); ++op) {
        for (size_t lane = step * job_.replicas; lane < (step + 1) * job_.replicas; ++lane) {
          first = std::min(first, job_.start_ns[job_.At(op, lane)]);
          last = std::max(last, job_.EndNs(op, lane));
        }
      }
      first_ns_.push_back(first);
      found_.base_ns.push_back(static_cast<double>(last - first));
    }
    found_.base = MeanOf(found_.base_ns);
  }

  // With the delays that ops really had, the replay must give back the recording.
  void CheckReplay() {
    std::vector<double> delays(job_.start_ns.size());
    for (size_t op = 0; op < job_.ops.size(); ++op) {
      for (size_t lane = 0; lane < job_.lanes(); ++lane) {
        int64_t ready = first_ns_[lane / job_.replicas];
        for (uint32_t before : graph_.waits_for[op])
          ready = std::max(ready, job_.EndNs(before, lane));
        auto delay = static_cast<double>(job_.start_ns[job_.At(op, lane)] - ready);
        if (delay <= kWrongByNs) ++found_.zeroed_delays, delay = 0;
        delays[job_.At(op, lane)] = delay;
      }
    }
    const std::vector<double> again = Replay(
        graph_, job_.steps.size(), job_.replicas,
        [&](size_t op, size_t step, size_t lane) {
          return weights_.Own(op, step * job_.replicas + lane);
        },
        delays.data());
    for (size_t step = 0; step < again.size(); ++step) {
      int64_t last = kNone64;
      for (uint32_t op : graph_.last) {
        for (size_t lane = step * job_.replicas; lane < (step + 1) * job_.replicas; ++lane)
          last = std::max(last, job_.EndNs(op, lane));
      }
      const auto recorded = static_cast<double>(last - first_ns_[step]);
      if (recorded > 0)
        found_.replay_error = std::max(found_.replay_error, std::abs(again[step] / recorded - 1));
    }
  }

  void FindParts() {
    for (size_t type = 0; type < kOpTypes; ++type) {
      const std::string_view family = InfoOf(static_cast<OpType>(type)).family;
      const bool is_new = found_.families.empty() || found_.families.back().family != family;
      const bool is_used = std::ranges::any_of(
          job_.ops, [&](const StageOp& op) { return InfoOf(op.type).family == family; });
      if (!is_new || !is_used) continue;
      found_.families.push_back({family, CostOf([&](size_t op, size_t) {
                                   return InfoOf(job_.ops[op].type).family == family;
                                 })});
    }
    for (size_t stage = 0; stage < job_.stages; ++stage) {
      found_.stages.push_back(
          CostOf([&](size_t op, size_t) { return job_.ops[op].stage == stage; }));
    }
    FindReplicas();
  }

  template <typename IsPart>
  PartCost CostOf(const IsPart& is_part) const {
    return {MeanWith(is_part) / found_.ideal,
            MeanWith([&](size_t op, size_t lane) { return !is_part(op, lane); })};
  }

  // One ideal lane stands for all other replicas, so that all of them cost two replays.
  void FindReplicas() {
    const size_t beside = job_.replicas > 1 ? 2 : 1;
    const std::vector<double> times =
        Replay(graph_, job_.lanes(), beside, [&](size_t op, size_t lane, size_t which) {
          return which == 0 ? weights_.Own(op, lane) : weights_.Typical(op);
        });
    for (size_t replica = 0; replica < job_.replicas; ++replica) {
      double sum = 0;
      for (size_t lane = replica; lane < times.size(); lane += job_.replicas) sum += times[lane];
      found_.replicas.push_back(sum / static_cast<double>(job_.steps.size()) / found_.ideal);
    }
  }

  void FindWorst() {
    const size_t workers = job_.ranks.size();
    std::vector<size_t> order(workers);
    for (size_t worker = 0; worker < workers; ++worker) {
      order[worker] = worker;
      found_.workers.push_back(std::min(found_.replicas[worker / job_.stages],
                                        found_.stages[worker % job_.stages].slowdown));
    }
    std::ranges::sort(order, {}, [&](size_t worker) {
      return std::pair(-found_.workers[worker], job_.ranks[worker]);
    });
    const auto count = static_cast<size_t>(std::ceil(kWorstShare * static_cast<double>(workers)));
    found_.worst.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    found_.named = found_.worst;
    order.resize(std::min(order.size(), kWorkersReplayed));
    found_.worker_fixed_ns.assign(workers, kNoDouble);
    for (size_t worker : order) found_.worker_fixed_ns[worker] = StepWithTypical(worker);
  }

  size_t WorkerOf(size_t op, size_t lane) const {
    return lane % job_.replicas * job_.stages + job_.ops[op].stage;
  }

  // A step of the job as it was, but with one worker typical.
  double StepWithTypical(size_t worker) const {
    return MeanWith([&](size_t op, size_t lane) { return WorkerOf(op, lane) != worker; });
  }

  // A step with transfers that take this share of their time.
  double StepWithTransfers(double share) const {
    return MeanOf(ReplayAll([&](size_t op, size_t lane) {
      return weights_.Own(op, lane) * (graph_.meets[op] ? share : 1);
    }));
  }

  Share ShareOf(const PartCost& cost) const {
    const double lost = found_.replayed - found_.ideal;
    return {(found_.replayed - cost.fixed_ns) / lost, found_.ideal * (cost.slowdown - 1) / lost};
  }

  std::vector<bool> AmongWorkers(const std::vector<size_t>& workers) const {
    std::vector<bool> is_among(job_.ranks.size());
    for (size_t worker : workers) is_among[worker] = true;
    return is_among;
  }

  // The worst workers are a fixed share of all, and the score of a worker is that of its replica or
  // stage: a neighbour of a slow one has it too. Those whose being typical changes nothing are not
  // named.
  void FindNamed() {
    const double all = found_.worst_workers.removed;
    for (size_t worker : found_.worst) {
      std::vector<size_t> rest = found_.named;
      std::erase(rest, worker);
      if (rest.empty()) break;
      const std::vector<bool> is_left = AmongWorkers(rest);
      const double step =
          MeanWith([&](size_t op, size_t lane) { return !is_left[WorkerOf(op, lane)]; });
      const double share = (found_.replayed - step) / (found_.replayed - found_.ideal);
      if (share >= all - kNoDifference * std::abs(all)) found_.named = rest;
    }
  }

  void FindShares() {
    if (found_.slowdown < kLeastSlowdown) return;
    if (job_.ranks.size() > 1) {
      std::vector<bool> is_worst = AmongWorkers(found_.worst);
      found_.worst_workers =
          ShareOf(CostOf([&](size_t op, size_t lane) { return is_worst[WorkerOf(op, lane)]; }));
      FindNamed();
    }
    if (job_.stages > 1) {
      found_.last_stage = ShareOf(found_.stages.back());
      found_.division = ShareWithout(ByStage());
    }
    found_.variation = ShareWithout(ByWorker());
  }

  // Of computing, by type and place.
  using Means = std::map<std::pair<OpType, size_t>, double>;
  template <typename PlaceOf>
  Means MeansBy(const PlaceOf& place_of) const {
    std::map<std::pair<OpType, size_t>, std::pair<double, double>> sums;
    for (size_t op = 0; op < job_.ops.size(); ++op) {
      if (!IsCompute(job_.ops[op].type)) continue;
      for (size_t lane = 0; lane < job_.lanes(); ++lane) {
        auto& [sum, count] = sums[{job_.ops[op].type, place_of(op, lane)}];
        sum += weights_.Own(op, lane);
        ++count;
      }
    }
    Means means;
    for (const auto& [key, sum] : sums) means[key] = sum.first / sum.second;
    return means;
  }

  // Weights of computing when every worker does the same in each micro-batch.
  std::vector<double> ByWorker() const {
    auto worker = [&](size_t op, size_t lane) {
      return lane % job_.replicas * job_.stages + job_.ops[op].stage;
    };
    const Means means = MeansBy(worker);
    return ComputeWeights(
        [&](size_t op, size_t lane) { return means.at({job_.ops[op].type, worker(op, lane)}); });
  }

  // Weights of computing when all stages have the same work.
  std::vector<double> ByStage() const {
    const Means means = MeansBy([&](size_t op, size_t) { return job_.ops[op].stage; });
    return ComputeWeights([&](size_t op, size_t lane) {
      const StageOp& each = job_.ops[op];
      const double mean = means.at({each.type, each.stage});
      return mean > 0 ? weights_.Own(op, lane) * weights_.TypicalOf(each.type) / mean : 0;
    });
  }

  template <typename Weight>
  std::vector<double> ComputeWeights(const Weight& weight) const {
    std::vector<double> weights(job_.start_ns.size());
    for (size_t op = 0; op < job_.ops.size(); ++op) {
      for (size_t lane = 0; lane < job_.lanes(); ++lane)
        weights[job_.At(op, lane)] =
            IsCompute(job_.ops[op].type) ? weight(op, lane) : weights_.Own(op, lane);
    }
    return weights;
  }

  double ShareWithout(const std::vector<double>& weights) const {
    const double time =
        MeanOf(ReplayAll([&](size_t op, size_t lane) { return weights[job_.At(op, lane)]; }));
    return (found_.replayed - time) / (found_.replayed - found_.ideal);
  }

  // Parts that settings name are typical, transfers as fast as they say.
  std::vector<double> ReplayWith(const std::vector<Setting>& settings) const {
    std::vector<bool> ops(job_.ops.size()), workers(job_.ranks.size());
    double speed = 1;
    for (const Setting& each : settings) {
      for (size_t op = 0; op < ops.size(); ++op) {
        const OpTypeInfo& type = InfoOf(job_.ops[op].type);
        const bool is_type =
            each.kind == "type" && (each.value == type.name || each.value == type.family);
        if (is_type || each.Is("stage", job_.ops[op].stage)) ops[op] = true;
      }
      for (size_t worker = 0; worker < workers.size(); ++worker) {
        const bool is_rank = each.kind == "rank" && each.Number() == job_.ranks[worker];
        if (is_rank || each.Is("replica", worker / job_.stages)) workers[worker] = true;
      }
      if (each.kind == "link" && each.Number() > 0) speed *= each.Number();
    }
    return ReplayAll([&](size_t op, size_t lane) {
      const bool is_typical = ops[op] || workers[WorkerOf(op, lane)];
      const double weight = is_typical ? weights_.Typical(op) : weights_.Own(op, lane);
      return graph_.meets[op] ? weight / speed : weight;
    });
  }

  // Whether the forward and backward of a micro-batch rise together, and how much they vary.
  void FindSpread() {
    std::vector<double> correlations, spreads;
    for (size_t worker = 0; worker < job_.ranks.size(); ++worker) {
      std::vector<std::pair<double, double>> pairs = PairsOf(worker);
      if (pairs.size() < 2) continue;
      double mean_f = 0, mean_b = 0, ff = 0, bb = 0, fb = 0;
      for (const auto& [forward, backward] : pairs) mean_f += forward, mean_b += backward;
      mean_f /= static_cast<double>(pairs.size());
      mean_b /= static_cast<double>(pairs.size());
      for (const auto& [forward, backward] : pairs) {
        ff += (forward - mean_f) * (forward - mean_f);
        bb += (backward - mean_b) * (backward - mean_b);
        fb += (forward - mean_f) * (backward - mean_b);
      }
      correlations.push_back(ff > 0 && bb > 0 ? fb / std::sqrt(ff * bb) : 0);
      const double deviation = std::sqrt(bb / static_cast<double>(pairs.size()));
      spreads.push_back(mean_b > 0 ? deviation / mean_b : 0);
    }
    found_.correlation = Median(std::move(correlations));
    found_.spread = Median(std::move(spreads));
  }

  std::vector<std::pair<double, double>> PairsOf(size_t worker) const {
    const size_t stage = worker % job_.stages, replica = worker / job_.stages;
    std::map<std::pair<int32_t, int32_t>, size_t> forward;  // by chunk and micro-batch
    const StageJob::Range forwards = job_.Of(OpType::kForward, stage);
    for (size_t op = forwards.begin; op < forwards.begin + forwards.count; ++op)
      forward[{job_.ops[op].chunk, job_.ops[op].microbatch}] = op;
    std::vector<std::pair<double, double>> pairs;
    const StageJob::Range backwards = job_.Of(OpType::kBackward, stage);
    for (size_t op = backwards.begin; op < backwards.begin + backwards.count; ++op) {
      const auto found = forward.find({job_.ops[op].chunk, job_.ops[op].microbatch});
      if (found == forward.end()) continue;
      for (size_t lane = replica; lane < job_.lanes(); lane += job_.replicas)
        pairs.emplace_back(weights_.Own(found->second, lane), weights_.Own(op, lane));
    }
    return pairs;
  }

  const StageJob& job_;
  const StageGraph& graph_;
  Weights weights_;
  std::vector<int64_t> first_ns_;  // by step
  Stragglers found_;
};

}  // namespace

Stragglers FindStragglers(const StageJob& job, const StageGraph& graph,
                          const std::vector<Setting>& settings) {
  return StragglerFinder(job, graph).Find(settings);
}

std::vector<size_t> LastStage(const StageJob& job) {
  std::vector<size_t> workers;
  for (size_t worker = job.stages - 1; worker < job.ranks.size(); worker += job.stages)
    workers.push_back(worker);
  return workers;
}

std::string_view CauseName(Cause cause) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "none",       "slow_workers",   "uneven_work", "sequence_lengths",
      "last_stage", "stage_division", "several"};
  return kNames[static_cast<size_t>(cause)];
}

std::vector<Cause> CausesOf(const StageJob& job, const Stragglers& found) {
  if (found.slowdown < kLeastSlowdown) return {Cause::kNone};
  std::vector<Cause> causes;
  // A slow worker on the last stage raises both: it goes first.
  if (job.ranks.size() > 1 && found.worst_workers.removed >= kEnough)
    causes.push_back(Cause::kWorkers);
  if (found.variation >= kEnough) {
    const bool are_lengths = found.correlation >= kTogether && found.spread >= kMuchSpread;
    causes.push_back(are_lengths ? Cause::kSequenceLengths : Cause::kVariation);
  }
  if (job.stages > 1 && found.last_stage.removed >= kEnough) causes.push_back(Cause::kLastStage);
  if (causes.empty()) causes.push_back(Cause::kSeveral);
  return causes;
}

}  // namespace debrief::analyses::what_if

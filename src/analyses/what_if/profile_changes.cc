#include "analyses/what_if/profile_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "base/stats/statistics.h"
#include "tables/profile_collective_match.h"

namespace debrief::analyses::what_if {

namespace {

constexpr size_t kMostMoments = 40'000'000;  // in all replays together
constexpr size_t kFewestReplays = 4;
constexpr size_t kMostReplays = 16;
constexpr double kLongFirst =
    1.5;  // times the median: the start of the recording, no step like others

bool IsComparable(Moment kind) {
  return kind == Moment::kHost || kind == Moment::kCall || kind == Moment::kWork;
}

double MeanNs(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class GainFinder {
 public:
  GainFinder(const Model& model, const ProfileGraph& graph)
      : model_(model), graph_(graph), own_(graph.own_ns.begin(), graph.own_ns.end()) {}

  ProfileGains Find(const std::vector<Setting>& settings) {
    FindRecorded();
    if (gains_.steps.empty()) return std::move(gains_);
    CompareLanes();
    ChangeRanks();
    ChangeCollectives();
    ChangeHost();
    Set(settings);
    return std::move(gains_);
  }

 private:
  // Step times by step, means over lanes: a step lasts until its host ends it or the last work that
  // it launched, whichever is later, and begins where the one before ended.
  template <typename Times>
  std::vector<double> StepTimes(const Times& times) const {
    const size_t steps = graph_.steps.size(), lanes = graph_.lanes.size();
    std::vector<double> ends(lanes * steps, -1), sums(steps);
    for (size_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.step_of[moment] < 0) continue;
      double& end =
          ends[graph_.lane_of[moment] * steps + static_cast<size_t>(graph_.step_of[moment])];
      end = std::max(end, static_cast<double>(times[moment]));
    }
    for (size_t lane = 0; lane < lanes; ++lane) {
      double before = -1;
      for (size_t step = 0; step < steps; ++step) {
        const uint32_t begin = graph_.lanes[lane].step_begins[step];
        const double start =
            begin == kNoMoment ? before : std::max(before, static_cast<double>(times[begin]));
        before = std::max(start, ends[lane * steps + step]);
        sums[step] += (before - start) / static_cast<double>(lanes);
      }
    }
    return sums;
  }

  std::vector<double> Counted(const std::vector<double>& by_step) const {
    return {by_step.begin() + static_cast<std::ptrdiff_t>(gains_.steps_left_out), by_step.end()};
  }

  double MeanStep(const std::vector<double>& own) const {
    return MeanNs(Counted(StepTimes(ReplayMoments(graph_, own))));
  }

  void FindRecorded() {
    const int64_t start = *std::ranges::min_element(graph_.time_ns);
    std::vector<double> recorded(graph_.size());
    for (size_t i = 0; i < recorded.size(); ++i)
      recorded[i] = static_cast<double>(graph_.time_ns[i] - start);
    const std::vector<double> by_step = StepTimes(recorded);
    if (by_step.size() > 2 &&
        by_step[0] > kLongFirst * Median(std::vector(by_step.begin() + 1, by_step.end())))
      gains_.steps_left_out = 1;
    gains_.steps.assign(graph_.steps.begin() + static_cast<std::ptrdiff_t>(gains_.steps_left_out),
                        graph_.steps.end());
    const std::vector<double> replayed = ReplayMoments(graph_, own_);
    for (size_t i = 0; i < recorded.size(); ++i)
      gains_.replay_error = std::max(gains_.replay_error, std::abs(replayed[i] - recorded[i]));
    gains_.recorded_ns = Counted(by_step);
    gains_.replayed_ns = Counted(StepTimes(replayed));
    gains_.recorded = MeanNs(gains_.recorded_ns);
    gains_.replayed = MeanNs(gains_.replayed_ns);
    if (gains_.recorded > 0) gains_.replay_error /= gains_.recorded;
  }

  // What each moment takes on the other lanes: of those in the same place of the same step.
  void CompareLanes() {
    std::vector<uint32_t> moments;
    for (uint32_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.step_of[moment] >= 0 && IsComparable(graph_.kinds[moment]))
        moments.push_back(moment);
    }
    std::ranges::stable_sort(moments, {}, [&](uint32_t moment) { return graph_.place[moment]; });
    typical_ = own_;
    for (size_t begin = 0, end = 0; begin < moments.size(); begin = end) {
      const uint64_t place = graph_.place[moments[begin]];
      for (end = begin; end < moments.size() && graph_.place[moments[end]] == place; ++end) {
      }
      ComparePlace(std::span(moments).subspan(begin, end - begin));
    }
  }

  void ComparePlace(std::span<const uint32_t> moments) {
    std::vector<double> sorted;
    for (uint32_t moment : moments) sorted.push_back(own_[moment]);
    std::ranges::sort(sorted);
    const size_t others = graph_.lanes.size() - 1;
    for (uint32_t moment : moments) {
      // Extra work: most others do not have it.
      double usual = 0;
      if (2 * (moments.size() - 1) > others || (others == 1 && moments.size() == 2))
        usual = MedianOfOthers(sorted, own_[moment]);
      typical_[moment] = std::min(own_[moment], usual);
    }
  }

  static double MedianOfOthers(const std::vector<double>& sorted, double own) {
    const auto taken = static_cast<size_t>(std::ranges::lower_bound(sorted, own) - sorted.begin());
    auto at = [&](size_t i) { return sorted[i < taken ? i : i + 1]; };
    const size_t left = sorted.size() - 1;
    return left % 2 == 1 ? at(left / 2) : (at(left / 2 - 1) + at(left / 2)) / 2;
  }

  size_t Replays() const {
    return std::clamp(kMostMoments / std::max<size_t>(1, graph_.size()), kFewestReplays,
                      kMostReplays);
  }

  void ChangeRanks() {
    std::map<int32_t, double> excess;
    for (size_t moment = 0; moment < graph_.size(); ++moment)
      excess[graph_.lanes[graph_.lane_of[moment]].rank] += own_[moment] - typical_[moment];
    std::vector<std::pair<double, int32_t>> order;
    for (const auto& [rank, ns] : excess) order.emplace_back(-ns, rank);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), Replays()));
    for (const auto& [ns, rank] : order) {
      std::vector<double> changed = own_;
      LikeOthers(rank, changed);
      const double step = MeanStep(changed), gain = gains_.replayed - step;
      gains_.changes.push_back({"rank", fmt::format("rank {}", rank), rank, step});
      if (gains_.worst_rank == kNone32 || gain > gains_.worst_gain) {
        gains_.next_gain = gains_.worst_gain;
        gains_.worst_gain = gain;
        gains_.worst_rank = rank;
      } else {
        gains_.next_gain = std::max(gains_.next_gain, gain);
      }
    }
    gains_.typical = MeanStep(typical_);
    gains_.changes.push_back({"all", "all ranks", kNone32, gains_.typical});
  }

  void LikeOthers(int32_t rank, std::vector<double>& own) const {
    for (size_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.lanes[graph_.lane_of[moment]].rank == rank) own[moment] = typical_[moment];
    }
  }

  // ---- transfers ----

  // Transfers of one op in groups of one description.
  struct Transfers {
    double ns = 0;
    std::vector<uint32_t> moments;
  };

  // By what makes the wire time: group, members, op, bytes.
  using Size = std::tuple<StringId, ListId, StringId, int64_t>;
  Size SizeOf(uint32_t match) const {
    const auto& matches = model_.tables.Get<ProfileCollectiveMatchTable>();
    return {matches.group_name[match], matches.members[match], matches.op[match],
            matches.bytes[match]};
  }

  // "all_reduce of mesh_dp"
  std::string KindOf(uint32_t match) const {
    const auto& matches = model_.tables.Get<ProfileCollectiveMatchTable>();
    const StringId described = matches.group_desc[match];
    const StringId group = described == StringId::kNone ? matches.group_name[match] : described;
    std::string name(model_.pools.Text(matches.op[match]));
    if (group != StringId::kNone) name += fmt::format(" of {}", model_.pools.Text(group));
    return name;
  }

  void GatherTransfers() {
    for (uint32_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.kinds[moment] != Moment::kTransfer) continue;
      const uint32_t match = graph_.match[moment];
      Transfers& kind = transfers_[KindOf(match)];
      kind.ns += own_[moment];
      kind.moments.push_back(moment);
      const auto [fastest, is_new] = wire_.try_emplace(SizeOf(match), own_[moment]);
      if (!is_new) fastest->second = std::min(fastest->second, own_[moment]);
    }
  }

  void AtWireTime(const Transfers& kind, std::vector<double>& own) const {
    for (uint32_t moment : kind.moments)
      own[moment] = std::min(own[moment], wire_.at(SizeOf(graph_.match[moment])));
  }

  void FasterLinks(double times, std::vector<double>& own) const {
    for (size_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.kinds[moment] == Moment::kTransfer) own[moment] /= times;
    }
  }

  void ChangeCollectives() {
    GatherTransfers();
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, kind] : transfers_) order.emplace_back(-kind.ns, name);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), Replays()));
    for (const auto& [ns, name] : order) {
      std::vector<double> changed = own_;
      AtWireTime(transfers_[name], changed);
      gains_.changes.push_back({"collective", name, kNone32, MeanStep(changed)});
    }
    std::vector<double> changed = own_;
    FasterLinks(2, changed);
    gains_.changes.push_back({"link", "links twice as fast", kNone32, MeanStep(changed)});
  }

  // ---- hosts ----

  void ChangeHost() {
    std::vector<double> changed = own_;
    if (WithoutGaps(&ProfileLane::loading, changed))
      gains_.changes.push_back({"data", "no waiting for data", kNone32, MeanStep(changed)});
    changed = own_;
    if (WithoutGaps(&ProfileLane::compiling, changed))
      gains_.changes.push_back({"compile", "no compiling in steps", kNone32, MeanStep(changed)});
  }

  // Takes the time of `times` out of what hosts do between calls; whether there was any.
  bool WithoutGaps(IntervalSet ProfileLane::* times, std::vector<double>& own) const {
    bool is_any = false;
    for (size_t moment = 0; moment < graph_.size(); ++moment) {
      if (graph_.kinds[moment] != Moment::kHost && graph_.kinds[moment] != Moment::kMark) continue;
      const IntervalSet& set = graph_.lanes[graph_.lane_of[moment]].*times;
      if (set.empty() || graph_.own_ns[moment] <= 0) continue;
      const Interval gap = {graph_.time_ns[moment] - graph_.own_ns[moment], graph_.time_ns[moment]};
      auto first = std::ranges::upper_bound(set, gap.begin, {}, &Interval::end);
      for (; first != set.end() && first->begin < gap.end; ++first) {
        own[moment] =
            std::max(0.0, own[moment] - static_cast<double>(std::min(first->end, gap.end) -
                                                            std::max(first->begin, gap.begin)));
        is_any = true;
      }
    }
    return is_any;
  }

  // ---- what the user asks for ----

  void Set(const std::vector<Setting>& settings) {
    if (settings.empty()) return;
    std::vector<double> changed = own_;
    for (const Setting& each : settings) {
      if (each.kind == "rank") LikeOthers(static_cast<int32_t>(each.Number()), changed);
      if (each.kind == "link" && each.Number() > 0) FasterLinks(each.Number(), changed);
      if (each.kind == "data") WithoutGaps(&ProfileLane::loading, changed);
      if (each.kind == "compile") WithoutGaps(&ProfileLane::compiling, changed);
      if (each.kind != "collective") continue;
      for (const auto& [name, kind] : transfers_) {
        if (name.find(each.value) != std::string::npos) AtWireTime(kind, changed);
      }
    }
    gains_.changes.push_back({"set", InWords(settings), kNone32, MeanStep(changed)});
  }

  const Model& model_;
  const ProfileGraph& graph_;
  std::vector<double> own_, typical_;
  std::map<std::string, Transfers> transfers_;  // by kind
  std::map<Size, double> wire_;                 // the fastest of each
  ProfileGains gains_;
};

}  // namespace

ProfileGains FindGains(const Model& model, const ProfileGraph& graph,
                       const std::vector<Setting>& settings) {
  return GainFinder(model, graph).Find(settings);
}

}  // namespace debrief::analyses::what_if

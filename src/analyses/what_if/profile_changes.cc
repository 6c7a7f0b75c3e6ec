#include "analyses/what_if/profile_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/stats/statistics.h"
#include "torch/kernel_names.h"

namespace debrief::analyses::what_if {

namespace {

constexpr size_t kMostMoments = 40'000'000;  // in all replays together
constexpr size_t kFewestReplays = 4;
constexpr size_t kMostReplays = 16;
constexpr size_t kRanksByPart = 3;
constexpr size_t kKernelNames = 4;
constexpr double kLeastDivided = 0.005;  // of a step
constexpr double kLongFirst =
    1.5;  // times the median: the start of the recording, no step like others

double MeanNs(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class GainFinder {
 public:
  GainFinder(const Model& model, const std::vector<timeline::TimelineView>& views,
             const ProfileGraph& graph)
      : model_(model), graph_(graph), edits_(model, views, graph) {}

  ProfileGains Find(const std::vector<Setting>& settings) {
    FindRecorded();
    if (gains_.steps.empty()) return std::move(gains_);
    ChangeRanks();
    ChangeTypes();
    ChangeShares();
    ChangeCollectives();
    ChangeHosts();
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

  double MeanStep(const OwnTimes& own, Syncs syncs = Syncs::kWait) const {
    return MeanNs(Counted(StepTimes(ReplayMoments(graph_, own, syncs))));
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
    const std::vector<double> replayed = ReplayMoments(graph_, edits_.recorded());
    for (size_t i = 0; i < recorded.size(); ++i)
      gains_.replay_error = std::max(gains_.replay_error, std::abs(replayed[i] - recorded[i]));
    gains_.recorded_ns = Counted(by_step);
    gains_.replayed_ns = Counted(StepTimes(replayed));
    gains_.recorded = MeanNs(gains_.recorded_ns);
    gains_.replayed = MeanNs(gains_.replayed_ns);
    if (gains_.recorded > 0) gains_.replay_error /= gains_.recorded;
  }

  size_t Replays() const {
    return std::clamp(kMostMoments / std::max<size_t>(1, graph_.size()), kFewestReplays,
                      kMostReplays);
  }

  void Add(ProfileChange change) { gains_.changes.push_back(std::move(change)); }

  // ---- ranks ----

  // The moments that `includes(moment)`, no longer than on the other ranks.
  template <typename Includes>
  double StepLikeOthers(const Includes& includes) const {
    OwnTimes changed = edits_.recorded();
    edits_.LikeOthers(changed, includes);
    return MeanStep(changed);
  }

  // Ranks by what they take beyond the others.
  std::vector<int32_t> RanksByExcess() const {
    std::map<int32_t, double> excess;
    for (size_t moment = 0; moment < graph_.size(); ++moment)
      excess[edits_.RankOf(moment)] += edits_.recorded()[moment] - edits_.typical()[moment];
    std::vector<std::pair<double, int32_t>> order;
    for (const auto& [rank, ns] : excess) order.emplace_back(-ns, rank);
    std::ranges::sort(order);
    std::vector<int32_t> ranks;
    for (const auto& [ns, rank] : order) ranks.push_back(rank);
    ranks.resize(std::min(ranks.size(), Replays()));
    return ranks;
  }

  void ChangeRanks() {
    std::vector<std::pair<double, int32_t>> gains;
    for (int32_t rank : RanksByExcess()) {
      const double step = StepLikeOthers([&](size_t each) { return edits_.RankOf(each) == rank; });
      Add({.kind = "rank", .name = fmt::format("rank {}", rank), .step_ns = step, .rank = rank});
      gains.emplace_back(step - gains_.replayed, rank);
    }
    std::ranges::stable_sort(gains, {}, [](const auto& each) { return each.first; });
    if (!gains.empty()) gains_.worst_rank = gains[0].second;
    if (!gains.empty()) gains_.worst_gain = -gains[0].first;
    if (gains.size() > 1) gains_.next_gain = std::max(0.0, -gains[1].first);
    gains.resize(std::min(gains.size(), kRanksByPart));
    for (const auto& [change, rank] : gains) {
      if (IsWorthDividing(-change)) ChangePartsOf(rank);
    }
    gains_.typical = MeanStep(edits_.typical());
    Add({.kind = "all", .name = "all ranks", .step_ns = gains_.typical});
  }

  // Parts of a change that gains next to nothing are not replayed.
  bool IsWorthDividing(double gain_ns) const { return gain_ns >= kLeastDivided * gains_.replayed; }

  void ChangePartsOf(int32_t rank) {
    for (const auto& [part, name] :
         {std::pair(OwnPart::kHost, "host"), std::pair(OwnPart::kKernel, "kernels")}) {
      const double step = StepLikeOthers(
          [&](size_t each) { return edits_.RankOf(each) == rank && edits_.PartOf(each) == part; });
      Add({.kind = "rank_part",
           .name = fmt::format("{} of rank {}", name, rank),
           .step_ns = step,
           .rank = rank,
           .part = name});
    }
  }

  // ---- types ----

  // A step in which only the moments that `includes(moment)` are not typical.
  template <typename Includes>
  double SlowdownOf(const Includes& includes) const {
    OwnTimes changed = edits_.typical();
    for (size_t moment = 0; moment < changed.size(); ++moment) {
      if (includes(moment)) changed[moment] = edits_.recorded()[moment];
    }
    return gains_.typical > 0 ? MeanStep(changed) / gains_.typical : kNoDouble;
  }

  void ChangeTypes() {
    double kernels_gain = 0;
    for (const auto& [part, name] :
         {std::pair(OwnPart::kHost, "hosts"), std::pair(OwnPart::kKernel, "kernels"),
          std::pair(OwnPart::kCopy, "copies")}) {
      auto includes = [&](size_t each) { return edits_.PartOf(each) == part; };
      const double step = StepLikeOthers(includes);
      if (part == OwnPart::kKernel) kernels_gain = gains_.replayed - step;
      Add({.kind = "type",
           .name = fmt::format("{} of all ranks", name),
           .step_ns = step,
           .slowdown = SlowdownOf(includes)});
    }
    OwnTimes changed = edits_.recorded();
    for (const auto& [name, kind] : edits_.transfers()) edits_.AtWireTime(kind, changed);
    Add({.kind = "type", .name = "transfers at their wire time", .step_ns = MeanStep(changed)});
    if (IsWorthDividing(kernels_gain) && Replays() == kMostReplays) ChangeKernels();
  }

  // One by one.
  void ChangeKernels() {
    for (StringId name : KernelsByExcess()) {
      auto includes = [&](size_t each) {
        return edits_.PartOf(each) == OwnPart::kKernel && edits_.NameOf(each) == name;
      };
      Add({.kind = "type",
           .name = ShortKernelName(model_.pools.Text(name)),
           .step_ns = StepLikeOthers(includes),
           .slowdown = SlowdownOf(includes)});
    }
  }

  std::vector<StringId> KernelsByExcess() const {
    std::map<StringId, double> excess;
    for (size_t moment = 0; moment < graph_.size(); ++moment) {
      if (edits_.PartOf(moment) != OwnPart::kKernel) continue;
      const double more = edits_.recorded()[moment] - edits_.typical()[moment];
      if (more > 0) excess[edits_.NameOf(moment)] += more;
    }
    std::vector<std::pair<double, StringId>> order;
    for (const auto& [name, ns] : excess) order.emplace_back(-ns, name);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), kKernelNames));
    std::vector<StringId> names;
    for (const auto& [ns, name] : order) names.push_back(name);
    return names;
  }

  // How computing is shared out among ranks and stages.
  void ChangeShares() {
    OwnTimes changed = edits_.recorded();
    edits_.EvenRanks(changed);
    const double even = MeanStep(changed);
    gains_.even_gain = gains_.replayed - even;
    gains_.variation = edits_.FindVariation();
    Add({.kind = "even", .name = "computing shared out evenly over ranks", .step_ns = even});
    if (edits_.stages().empty()) return;
    gains_.stages = static_cast<size_t>(*std::ranges::max_element(edits_.stages())) + 1;
    for (size_t stage = 0; stage < std::min(gains_.stages, Replays()); ++stage) {
      const auto number = static_cast<int32_t>(stage);
      changed = edits_.recorded();
      edits_.EvenStages(number, changed);
      Add({.kind = "stage",
           .name = fmt::format("stage {} as long as the mean of the stages", stage),
           .step_ns = MeanStep(changed),
           .stage = number});
    }
    FindLongestStage();
    changed = edits_.recorded();
    edits_.EvenStages(ProfileEdits::kAllStages, changed);
    const double step = MeanStep(changed);
    gains_.stages_gain = gains_.replayed - step;
    Add({.kind = "stage", .name = "all stages equally long", .step_ns = step});
  }

  // The stage whose ranks compute longest, against the next one.
  void FindLongestStage() {
    const std::vector<double> times = edits_.StageTimes();
    const auto longest = std::ranges::max_element(times);
    double next = 0;
    for (auto each = times.begin(); each != times.end(); ++each) {
      if (each != longest) next = std::max(next, *each);
    }
    if (next <= 0) return;
    gains_.longest_stage = static_cast<int32_t>(longest - times.begin());
    gains_.longest_by = *longest / next;
    for (size_t lane = 0; lane < graph_.lanes.size(); ++lane) {
      if (edits_.stages()[lane] == gains_.longest_stage)
        gains_.longest_ranks.push_back(graph_.lanes[lane].rank);
    }
    std::ranges::sort(gains_.longest_ranks);
  }

  // ---- transfers ----

  void ChangeCollectives() {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, kind] : edits_.transfers()) order.emplace_back(-kind.ns, name);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), Replays()));
    for (const auto& [ns, name] : order) {
      OwnTimes changed = edits_.recorded();
      edits_.AtWireTime(edits_.transfers().at(name), changed);
      Add({.kind = "collective", .name = name, .step_ns = MeanStep(changed)});
    }
    OwnTimes changed = edits_.recorded();
    edits_.FasterLinks(2, changed);
    Add({.kind = "link", .name = "links twice as fast", .step_ns = MeanStep(changed)});
    Add({.kind = "overlap", .name = "communication hidden", .step_ns = StepWithOverlap()});
  }

  // Transfers take no time, but a step takes no less than the transfers of any lane.
  double StepWithOverlap() const {
    OwnTimes changed = edits_.recorded();
    for (size_t moment = 0; moment < changed.size(); ++moment) {
      if (graph_.kinds[moment] == Moment::kTransfer) changed[moment] = 0;
    }
    std::vector<double> by_step = StepTimes(ReplayMoments(graph_, changed));
    const std::vector<double> transfers = edits_.TransferTimes();
    for (size_t i = 0; i < transfers.size(); ++i) {
      double& step = by_step[i % by_step.size()];
      step = std::max(step, transfers[i]);
    }
    return std::min(gains_.replayed, MeanNs(Counted(by_step)));
  }

  // ---- hosts ----

  void ChangeHosts() {
    struct Busy {
      std::string_view kind, name;
      IntervalSet ProfileLane::* times;
    };
    for (const Busy& each : {Busy{"data", "no waiting for data", &ProfileLane::loading},
                             Busy{"compile", "no compiling in steps", &ProfileLane::compiling},
                             Busy{"allocation", "no allocation of device memory in steps",
                                  &ProfileLane::allocating}}) {
      OwnTimes changed = edits_.recorded();
      if (edits_.Without(each.times, kNone32, changed))
        Add({.kind = each.kind, .name = std::string(each.name), .step_ns = MeanStep(changed)});
    }
    OwnTimes changed = edits_.recorded();
    edits_.HostsAhead(changed);
    Add({.kind = "host", .name = "hosts take no time", .step_ns = MeanStep(changed)});
    Add({.kind = "sync",
         .name = "hosts do not wait for their devices",
         .step_ns = MeanStep(edits_.recorded(), Syncs::kPass)});
  }

  // ---- what the user asks for ----

  void Set(const std::vector<Setting>& settings) {
    if (settings.empty()) return;
    OwnTimes changed = edits_.recorded();
    Syncs syncs = Syncs::kWait;
    for (const Setting& each : settings) {
      const auto number = static_cast<int32_t>(each.Number());
      if (each.kind == "rank")
        edits_.LikeOthers(changed, [&](size_t at) { return edits_.RankOf(at) == number; });
      if (each.kind == "stage") edits_.EvenStages(number, changed);
      if (each.kind == "link" && each.Number() > 0) edits_.FasterLinks(each.Number(), changed);
      if (each.kind == "data") edits_.Without(&ProfileLane::loading, kNone32, changed);
      if (each.kind == "compile") edits_.Without(&ProfileLane::compiling, kNone32, changed);
      if (each.kind == "host") edits_.HostsAhead(changed);
      if (each.kind == "even") edits_.EvenRanks(changed);
      if (each.kind == "sync") syncs = Syncs::kPass;
      if (each.kind == "type") SetType(each.value, changed);
      if (each.kind != "collective") continue;
      for (const auto& [name, kind] : edits_.transfers()) {
        if (name.find(each.value) != std::string::npos) edits_.AtWireTime(kind, changed);
      }
    }
    Add({.kind = "set", .name = InWords(settings), .step_ns = MeanStep(changed, syncs)});
  }

  // Hosts, kernels, copies, or kernels with a part of this name, like the other ranks.
  void SetType(std::string_view name, OwnTimes& changed) const {
    edits_.LikeOthers(changed, [&](size_t each) {
      const OwnPart part = edits_.PartOf(each);
      if (name == "host" || name == "hosts") return part == OwnPart::kHost;
      if (name == "kernels") return part == OwnPart::kKernel;
      if (name == "copies") return part == OwnPart::kCopy;
      return part == OwnPart::kKernel &&
             model_.pools.Text(edits_.NameOf(each)).find(name) != std::string_view::npos;
    });
  }

  const Model& model_;
  const ProfileGraph& graph_;
  ProfileEdits edits_;
  ProfileGains gains_;
};

}  // namespace

ProfileGains FindGains(const Model& model, const std::vector<timeline::TimelineView>& views,
                       const ProfileGraph& graph, const std::vector<Setting>& settings) {
  return GainFinder(model, views, graph).Find(settings);
}

}  // namespace debrief::analyses::what_if

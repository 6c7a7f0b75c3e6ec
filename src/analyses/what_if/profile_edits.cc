#include "analyses/what_if/profile_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/stats/statistics.h"
#include "tables/profile_collective_match.h"

namespace debrief::analyses::what_if {

namespace {

// What is before the mark of a step is the host's: of steps that were found by their period, all
// that it does before it launches anything.
bool IsOfHost(Moment kind) {
  return kind == Moment::kMark || kind == Moment::kHost || kind == Moment::kCall;
}

bool IsComparable(Moment kind) { return IsOfHost(kind) || kind == Moment::kWork; }

double MedianOfOthers(const std::vector<double>& sorted, double own) {
  const auto taken = static_cast<size_t>(std::ranges::lower_bound(sorted, own) - sorted.begin());
  auto at = [&](size_t i) { return sorted[i < taken ? i : i + 1]; };
  const size_t left = sorted.size() - 1;
  return left % 2 == 1 ? at(left / 2) : (at(left / 2 - 1) + at(left / 2)) / 2;
}

OwnPart PartOfWork(timeline::DeviceClass device_class) {
  switch (device_class) {
    case timeline::DeviceClass::kMemcpy:
    case timeline::DeviceClass::kMemset:
      return OwnPart::kCopy;
    case timeline::DeviceClass::kCommunication:
      return OwnPart::kTransfer;
    default:
      return OwnPart::kKernel;
  }
}

}  // namespace

ProfileEdits::ProfileEdits(const Model& model, const std::vector<timeline::TimelineView>& views,
                           const ProfileGraph& graph)
    : model_(model),
      views_(views),
      graph_(graph),
      own_(graph.own_ns.begin(), graph.own_ns.end()),
      stages_(PipelineStages(model, graph)) {
  FindParts(views);
  CompareLanes();
  GatherTransfers();
}

void ProfileEdits::FindParts(const std::vector<timeline::TimelineView>& views) {
  const timeline::DeviceClasses classes(model_);
  parts_.assign(graph_.size(), OwnPart::kNone);
  for (size_t moment = 0; moment < graph_.size(); ++moment) {
    const Moment kind = graph_.kinds[moment];
    if (IsOfHost(kind)) parts_[moment] = OwnPart::kHost;
    if (kind == Moment::kTransfer) parts_[moment] = OwnPart::kTransfer;
    if (kind != Moment::kWork) continue;
    parts_[moment] = PartOfWork(classes.Of(views[graph_.lane_of[moment]], graph_.slice[moment]));
  }
}

StringId ProfileEdits::NameOf(size_t moment) const {
  const int32_t slice = graph_.slice[moment];
  if (slice == kNone32) return StringId::kNone;
  return views_[graph_.lane_of[moment]].name[timeline::TimelineView::At(slice)];
}

// What each moment takes on the other lanes: of those in the same place of the same step. Stages of
// a pipeline hold different layers and are compared each for itself.
void ProfileEdits::CompareLanes() {
  typical_ = own_;
  std::map<int32_t, size_t> lanes_of;  // by stage
  for (size_t lane = 0; lane < graph_.lanes.size(); ++lane) ++lanes_of[StageOf(lane)];
  for (const auto& [stage, lanes] : lanes_of) CompareStage(stage, lanes);
}

// A stage of one lane is like no other: its steps are compared with each other.
void ProfileEdits::CompareStage(int32_t stage, size_t lanes) {
  std::vector<uint32_t> moments;
  for (uint32_t moment = 0; moment < graph_.size(); ++moment) {
    const bool is_first = graph_.first_wait[moment] == graph_.first_wait[moment + 1];
    if (graph_.step_of[moment] >= 0 && IsComparable(graph_.kinds[moment]) && !is_first &&
        StageOf(graph_.lane_of[moment]) == stage)
      moments.push_back(moment);
  }
  const auto place_of = [&](uint32_t moment) {
    return std::pair(lanes > 1 ? graph_.step_of[moment] : 0, graph_.place[moment]);
  };
  const size_t others = (lanes > 1 ? lanes : graph_.steps.size()) - 1;
  std::ranges::stable_sort(moments, {}, place_of);
  for (size_t begin = 0, end = 0; begin < moments.size(); begin = end) {
    const auto place = place_of(moments[begin]);
    for (end = begin; end < moments.size() && place_of(moments[end]) == place; ++end) {
    }
    ComparePlace(std::span(moments).subspan(begin, end - begin), others);
  }
}

void ProfileEdits::ComparePlace(std::span<const uint32_t> moments, size_t others) {
  std::vector<double> sorted;
  for (uint32_t moment : moments) sorted.push_back(own_[moment]);
  std::ranges::sort(sorted);
  for (uint32_t moment : moments) {
    // Extra work: most others do not have it.
    double usual = 0;
    if (2 * (moments.size() - 1) > others || (others == 1 && moments.size() == 2))
      usual = MedianOfOthers(sorted, own_[moment]);
    typical_[moment] = std::min(own_[moment], usual);
  }
}

// ---- computing ----

std::vector<double> ProfileEdits::ComputeTimes() const {
  std::vector<double> times(graph_.lanes.size() * graph_.steps.size());
  for (size_t moment = 0; moment < graph_.size(); ++moment) {
    if (parts_[moment] != OwnPart::kKernel || graph_.step_of[moment] < 0) continue;
    times[graph_.lane_of[moment] * graph_.steps.size() +
          static_cast<size_t>(graph_.step_of[moment])] += own_[moment];
  }
  return times;
}

// Each stage for itself: ranks of one have the same layers.
void ProfileEdits::EvenRanks(OwnTimes& own) const {
  const size_t steps = graph_.steps.size(), lanes = graph_.lanes.size();
  const std::vector<double> times = ComputeTimes();
  std::map<std::pair<int32_t, size_t>, std::pair<double, size_t>> sums;  // by stage and step
  for (size_t lane = 0; lane < lanes; ++lane) {
    for (size_t step = 0; step < steps; ++step) {
      auto& [sum, count] = sums[{StageOf(lane), step}];
      sum += times[lane * steps + step];
      ++count;
    }
  }
  for (size_t moment = 0; moment < own.size(); ++moment) {
    if (parts_[moment] != OwnPart::kKernel || graph_.step_of[moment] < 0) continue;
    const auto step = static_cast<size_t>(graph_.step_of[moment]);
    const size_t lane = graph_.lane_of[moment];
    const auto& [sum, count] = sums[{StageOf(lane), step}];
    const double time = times[lane * steps + step];
    if (time > 0) own[moment] *= sum / static_cast<double>(count) / time;
  }
}

std::vector<double> ProfileEdits::StageTimes() const {
  if (stages_.empty()) return {};
  const size_t steps = graph_.steps.size();
  const std::vector<double> times = ComputeTimes();
  const auto stages = static_cast<size_t>(*std::ranges::max_element(stages_)) + 1;
  std::vector<double> sums(stages), ranks(stages);
  for (size_t lane = 0; lane < stages_.size(); ++lane) {
    const auto stage = static_cast<size_t>(stages_[lane]);
    ++ranks[stage];
    for (size_t step = 0; step < steps; ++step) sums[stage] += times[lane * steps + step];
  }
  for (size_t stage = 0; stage < stages; ++stage)
    sums[stage] /= std::max(1.0, ranks[stage]) * static_cast<double>(steps);
  return sums;
}

void ProfileEdits::EvenStages(int32_t stage, OwnTimes& own) const {
  if (stages_.empty()) return;
  const size_t steps = graph_.steps.size();
  const std::vector<double> times = ComputeTimes();
  const auto stages = static_cast<size_t>(*std::ranges::max_element(stages_)) + 1;
  std::vector<double> sums(stages);
  double all = 0;
  for (size_t lane = 0; lane < stages_.size(); ++lane) {
    for (size_t step = 0; step < steps; ++step) {
      sums[static_cast<size_t>(stages_[lane])] += times[lane * steps + step];
      all += times[lane * steps + step];
    }
  }
  for (size_t moment = 0; moment < own.size(); ++moment) {
    const int32_t of_moment = stages_[graph_.lane_of[moment]];
    if (parts_[moment] != OwnPart::kKernel || (stage != kAllStages && stage != of_moment)) continue;
    const double sum = sums[static_cast<size_t>(of_moment)];
    if (sum > 0) own[moment] *= all / static_cast<double>(stages) / sum;
  }
}

ProfileEdits::Variation ProfileEdits::FindVariation() const {
  const size_t steps = graph_.steps.size(), lanes = graph_.lanes.size();
  std::vector<double> forward(lanes * steps), backward(lanes * steps);
  for (size_t moment = 0; moment < graph_.size(); ++moment) {
    if (parts_[moment] != OwnPart::kKernel || graph_.step_of[moment] < 0) continue;
    auto& times = graph_.is_backward[moment] ? backward : forward;
    times[graph_.lane_of[moment] * steps + static_cast<size_t>(graph_.step_of[moment])] +=
        own_[moment];
  }
  double both = 0, of_forward = 0, of_backward = 0;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const auto of_lane = [&](const std::vector<double>& times) {
      return std::span(times).subspan(lane * steps, steps);
    };
    double mean_forward = 0, mean_backward = 0;
    for (double ns : of_lane(forward)) mean_forward += ns / static_cast<double>(steps);
    for (double ns : of_lane(backward)) mean_backward += ns / static_cast<double>(steps);
    if (mean_forward <= 0 || mean_backward <= 0) return {};
    for (size_t step = 0; step < steps; ++step) {
      const double x = of_lane(forward)[step] / mean_forward - 1;
      const double y = of_lane(backward)[step] / mean_backward - 1;
      both += x * y;
      of_forward += x * x;
      of_backward += y * y;
    }
  }
  const double scale = std::sqrt(of_forward * of_backward);
  return {.correlation = scale > 0 ? both / scale : 0,
          .spread = std::sqrt(of_backward / static_cast<double>(lanes * steps))};
}

// ---- transfers ----

ProfileEdits::WireKey ProfileEdits::WireKeyOf(uint32_t match) const {
  const auto& matches = model_.tables.Get<ProfileCollectiveMatchTable>();
  return {matches.group_name[match], matches.members[match], matches.op[match],
          matches.bytes[match]};
}

std::string ProfileEdits::KindOf(uint32_t match) const {
  const auto& matches = model_.tables.Get<ProfileCollectiveMatchTable>();
  const StringId described = matches.group_desc[match];
  const StringId group = described == StringId::kNone ? matches.group_name[match] : described;
  std::string name(model_.pools.Text(matches.op[match]));
  if (group != StringId::kNone) name += fmt::format(" of {}", model_.pools.Text(group));
  return name;
}

void ProfileEdits::GatherTransfers() {
  for (uint32_t moment = 0; moment < graph_.size(); ++moment) {
    if (graph_.kinds[moment] != Moment::kTransfer) continue;
    const uint32_t match = graph_.match[moment];
    Transfers& kind = transfers_[KindOf(match)];
    kind.ns += own_[moment];
    kind.moments.push_back(moment);
    const auto [fastest, is_new] = wire_.try_emplace(WireKeyOf(match), own_[moment]);
    if (!is_new) fastest->second = std::min(fastest->second, own_[moment]);
  }
}

double ProfileEdits::WireTimeOf(uint32_t moment) const {
  return std::min(own_[moment], wire_.at(WireKeyOf(graph_.match[moment])));
}

void ProfileEdits::AtWireTime(const Transfers& kind, OwnTimes& own) const {
  for (uint32_t moment : kind.moments) own[moment] = std::min(own[moment], WireTimeOf(moment));
}

void ProfileEdits::FasterLinks(double times, OwnTimes& own) const {
  for (size_t moment = 0; moment < own.size(); ++moment) {
    if (graph_.kinds[moment] == Moment::kTransfer) own[moment] /= times;
  }
}

std::vector<double> ProfileEdits::TransferTimes() const {
  std::vector<double> times(graph_.lanes.size() * graph_.steps.size());
  for (size_t moment = 0; moment < graph_.size(); ++moment) {
    if (graph_.kinds[moment] != Moment::kTransfer || graph_.step_of[moment] < 0) continue;
    times[graph_.lane_of[moment] * graph_.steps.size() +
          static_cast<size_t>(graph_.step_of[moment])] += own_[moment];
  }
  return times;
}

// ---- hosts ----

bool ProfileEdits::Without(IntervalSet ProfileLane::* times, int32_t rank, OwnTimes& own) const {
  bool is_any = false;
  for (size_t moment = 0; moment < graph_.size(); ++moment) {
    if (graph_.kinds[moment] != Moment::kHost && graph_.kinds[moment] != Moment::kMark) continue;
    if (rank != kNone32 && RankOf(moment) != rank) continue;
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

void ProfileEdits::HostsAhead(OwnTimes& own) const {
  for (size_t moment = 0; moment < own.size(); ++moment) {
    if (parts_[moment] == OwnPart::kHost) own[moment] = std::min(own[moment], 0.0);
  }
}

}  // namespace debrief::analyses::what_if

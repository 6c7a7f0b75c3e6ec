#include "analyses/what_if/profile_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "analyses/what_if/profile_lane.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::what_if {

namespace {

// Labels of the whole steps that all timelines have.
std::vector<int64_t> CommonSteps(const Model& model,
                                 const std::vector<timeline::TimelineView>& views) {
  const auto& steps = model.tables.Get<TimelineStepTable>();
  std::map<int64_t, size_t> times;
  for (const timeline::TimelineView& view : views) {
    const timeline::RowRange rows = timeline::RowsOf(steps, view.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (steps.whole[row] == 0) continue;
      ++times[steps.label[row] == kNone64 ? int64_t{steps.step[row]} : steps.label[row]];
    }
  }
  std::vector<int64_t> common;
  for (const auto& [label, count] : times) {
    if (count == views.size()) common.push_back(label);
  }
  return common;
}

class ProfileGraphBuilder {
 public:
  ProfileGraphBuilder(const Model& model, const std::vector<timeline::TimelineView>& views)
      : model_(model), views_(views), marks_(model) {}

  ProfileGraph Build() {
    graph_.steps = CommonSteps(model_, views_);
    if (graph_.steps.empty()) {
      for (const timeline::TimelineView& view : views_)
        graph_.lanes.push_back({.rank = view.who.rank, .input = view.who.input});
      return WithoutReplay("no step that all ranks recorded");
    }
    for (const timeline::TimelineView& view : views_) {
      lane_of_[view.who.input] = readers_.size();
      readers_.emplace_back(view, marks_, graph_, edges_).Read();
    }
    if (!std::ranges::all_of(readers_, &LaneReader::HasLaunches))
      return WithoutReplay("calls that launch work are not recorded");
    if (JoinCollectives() == 0)
      return WithoutReplay("no collective on devices that several ranks recorded");
    PackEdges();
    if (!Order()) return WithoutReplay("what waits for what goes in a circle");
    FindOwnTimes();
    return std::move(graph_);
  }

 private:
  ProfileGraph WithoutReplay(std::string why) {
    graph_.why_not = std::move(why);
    return std::move(graph_);
  }

  // Members of a collective end when all have begun it. Returns how many were joined.
  size_t JoinCollectives() {
    const auto& matches = model_.tables.Get<ProfileCollectiveMatchTable>();
    const auto& waits = model_.tables.Get<ProfileCollectiveWaitTable>();
    const auto& collectives = model_.tables.Get<ProfileCollectiveTable>();
    size_t joined = 0;
    for (size_t begin = 0, end = 0; begin < waits.size(); begin = end) {
      std::vector<LaneReader::WorkMoments> members;
      for (end = begin; end < waits.size() && waits.match[end] == waits.match[begin]; ++end) {
        const auto lane = lane_of_.find(waits.input[end]);
        const auto collective = static_cast<size_t>(waits.collective[end]);
        if (lane == lane_of_.end() || collectives.on_device[collective] == 0) continue;
        const auto moments = readers_[lane->second].MomentsOf(collectives.slice[collective]);
        if (moments.end != kNoMoment) members.push_back(moments);
      }
      if (members.empty()) continue;
      const auto match = static_cast<size_t>(waits.match[begin]);
      const bool synchronises =
          matches.synchronises[match] != 0 || model_.pools.Text(matches.op[match]) == "send_recv";
      if (synchronises && members.size() > 1) {
        Join(members, static_cast<uint32_t>(match));
        ++joined;
      } else {
        graph_.unmatched += static_cast<int64_t>(members.size());
      }
    }
    return joined;
  }

  void Join(const std::vector<LaneReader::WorkMoments>& members, uint32_t match) {
    int64_t last = kNone64;
    for (const auto& member : members) last = std::max(last, graph_.time_ns[member.begin]);
    const auto meeting = static_cast<uint32_t>(graph_.size());
    graph_.time_ns.push_back(last);
    graph_.kinds.push_back(Moment::kMeeting);
    graph_.lane_of.push_back(graph_.lane_of[members.front().begin]);
    graph_.step_of.push_back(-1);
    graph_.place.push_back(0);
    graph_.slice.push_back(kNone32);
    graph_.is_backward.push_back(false);
    graph_.match.push_back(match);
    for (const auto& member : members) {
      edges_.emplace_back(meeting, member.begin);
      // One that ended before the last began did not wait for it, whatever its name says.
      if (graph_.time_ns[member.end] < last) continue;
      edges_.emplace_back(member.end, meeting);
      graph_.kinds[member.end] = Moment::kTransfer;
      graph_.match[member.end] = match;
    }
  }

  void PackEdges() {
    graph_.first_wait.assign(graph_.size() + 1, 0);
    for (const auto& [moment, before] : edges_) ++graph_.first_wait[moment + 1];
    for (size_t i = 0; i < graph_.size(); ++i) graph_.first_wait[i + 1] += graph_.first_wait[i];
    graph_.waits_for.resize(edges_.size());
    std::vector<uint32_t> next(graph_.first_wait.begin(), graph_.first_wait.end() - 1);
    for (const auto& [moment, before] : edges_) graph_.waits_for[next[moment]++] = before;
  }

  bool Order() {
    std::vector<uint32_t> open(graph_.size()), first(graph_.size() + 1), followers(edges_.size());
    for (const auto& [moment, before] : edges_) {
      ++open[moment];
      ++first[before + 1];
    }
    for (size_t i = 0; i < graph_.size(); ++i) first[i + 1] += first[i];
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (const auto& [moment, before] : edges_) followers[next[before]++] = moment;
    for (uint32_t i = 0; i < graph_.size(); ++i) {
      if (open[i] == 0) graph_.order.push_back(i);
    }
    for (size_t at = 0; at < graph_.order.size(); ++at) {
      const uint32_t moment = graph_.order[at];
      for (uint32_t i = first[moment]; i < first[moment + 1]; ++i) {
        if (--open[followers[i]] == 0) graph_.order.push_back(followers[i]);
      }
    }
    edges_.clear();
    return graph_.order.size() == graph_.size();
  }

  void FindOwnTimes() {
    const int64_t start = *std::ranges::min_element(graph_.time_ns);
    graph_.own_ns.resize(graph_.size());
    for (size_t moment = 0; moment < graph_.size(); ++moment) {
      int64_t ready = start;
      const uint32_t begin = graph_.first_wait[moment], end = graph_.first_wait[moment + 1];
      for (uint32_t i = begin; i < end; ++i) {
        const int64_t time = graph_.time_ns[graph_.waits_for[i]];
        ready = i == begin ? time : std::max(ready, time);
      }
      graph_.own_ns[moment] = graph_.time_ns[moment] - ready;
    }
  }

  const Model& model_;
  const std::vector<timeline::TimelineView>& views_;
  timeline::NameMarks marks_;
  ProfileGraph graph_;
  Edges edges_;
  std::deque<LaneReader> readers_;
  std::map<int32_t, size_t> lane_of_;  // by input
};

}  // namespace

ProfileGraph BuildProfileGraph(const Model& model,
                               const std::vector<timeline::TimelineView>& views) {
  return ProfileGraphBuilder(model, views).Build();
}

std::vector<double> ReplayMoments(const ProfileGraph& graph, const std::vector<double>& own_ns,
                                  Syncs syncs) {
  std::vector<double> times(graph.size());
  for (uint32_t moment : graph.order) {
    const uint32_t begin = graph.first_wait[moment];
    // The first that the end of a call waits for is its begin.
    const bool passes = syncs == Syncs::kPass && graph.kinds[moment] == Moment::kCall;
    const uint32_t end = passes ? begin + 1 : graph.first_wait[moment + 1];
    double ready = begin == end ? 0 : times[graph.waits_for[begin]];
    for (uint32_t i = begin; i < end; ++i) ready = std::max(ready, times[graph.waits_for[i]]);
    times[moment] = ready + own_ns[moment];
  }
  return times;
}

}  // namespace debrief::analyses::what_if

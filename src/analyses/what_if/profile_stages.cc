// Positions of ranks in a pipeline: who sends to whom is a chain, and its ends are the first and
// the last stage. The end of the lower rank is the first one, as frameworks number ranks.
#include <algorithm>
#include <map>
#include <set>

#include "analyses/what_if/profile_edits.h"
#include "base/text/strings.h"
#include "tables/profile_collective_match.h"

namespace debrief::analyses::what_if {

namespace {

using Neighbours = std::map<int64_t, std::set<int64_t>>;  // by rank

// Rings that pass keys and values around (context parallelism) send and receive as well: a group
// whose description does not speak of a pipeline is none.
bool MayBePipeline(std::string_view description) {
  static constexpr std::string_view kWords[] = {"pp", "PP", "pipe", "Pipe", "PIPE"};
  if (description.empty() || description == "undefined" || description == "default_pg") return true;
  return std::ranges::any_of(kWords,
                             [&](std::string_view word) { return Contains(description, word); });
}

Neighbours SendersAndReceivers(const Model& model, const ProfileGraph& graph) {
  const auto& matches = model.tables.Get<ProfileCollectiveMatchTable>();
  std::set<uint32_t> used(graph.match.begin(), graph.match.end());
  Neighbours neighbours;
  for (uint32_t match : used) {
    if (match == kNoMoment || model.pools.Text(matches.op[match]) != "send_recv") continue;
    if (!MayBePipeline(model.pools.Text(matches.group_desc[match]))) continue;
    const auto ranks = model.pools.lists.Get(matches.ranks[match]);
    if (ranks.size() != 2 || ranks[0] == ranks[1]) continue;
    neighbours[ranks[0]].insert(ranks[1]);
    neighbours[ranks[1]].insert(ranks[0]);
  }
  return neighbours;
}

// Gives the ranks of the chain that begins with `first` their positions; its length.
int32_t FollowChain(const Neighbours& neighbours, int64_t first,
                    std::map<int64_t, int32_t>& stage_of) {
  int32_t length = 0;
  for (int64_t rank = first, next = -1; rank >= 0; rank = next) {
    stage_of[rank] = length++;
    next = -1;
    for (int64_t other : neighbours.at(rank)) {
      if (next < 0 && !stage_of.contains(other)) next = other;
    }
  }
  return length;
}

}  // namespace

std::vector<int32_t> PipelineStages(const Model& model, const ProfileGraph& graph) {
  const Neighbours neighbours = SendersAndReceivers(model, graph);
  std::map<int64_t, int32_t> stage_of;
  std::set<int32_t> lengths;
  for (const auto& [rank, others] : neighbours) {
    if (others.size() > 2) return {};
    if (others.size() == 1 && !stage_of.contains(rank))
      lengths.insert(FollowChain(neighbours, rank, stage_of));
  }
  // What is left are rings: pipelines whose ranks hold several parts of the model each.
  for (const auto& [rank, others] : neighbours) {
    if (!stage_of.contains(rank)) lengths.insert(FollowChain(neighbours, rank, stage_of));
  }
  std::vector<int32_t> stages;
  for (const ProfileLane& lane : graph.lanes) {
    const auto found = stage_of.find(lane.rank);
    if (found == stage_of.end()) return {};
    stages.push_back(found->second);
  }
  if (lengths.size() != 1) return {};
  return stages;
}

}  // namespace debrief::analyses::what_if

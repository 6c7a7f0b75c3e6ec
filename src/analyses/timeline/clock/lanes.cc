#include "analyses/timeline/clock/lanes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tables/timeline.h"

namespace debrief::analyses::timeline_clock {

namespace {

// Group, and of sends and receives the channel.
using GroupKey = std::tuple<StringId, ListId, int32_t, int32_t>;

int32_t OtherMember(const Model& model, ListId members, int32_t rank) {
  std::span<const int64_t> ranks = model.pools.lists.Get(members);
  if (ranks.size() != 2) return kNone32;
  return static_cast<int32_t>(ranks[0] == rank ? ranks[1] : ranks[0]);
}

GroupKey KeyOf(const Model& model, const ProfileCollectiveTable& table, size_t row) {
  std::string_view op = model.pools.Text(table.op[row]);
  int32_t from = kNone32;
  int32_t to = kNone32;
  if (op == "send" || op == "recv") {
    int32_t peer = table.peer[row];
    if (peer == kNone32) peer = OtherMember(model, table.members[row], table.rank[row]);
    from = op == "send" ? table.rank[row] : peer;
    to = op == "send" ? peer : table.rank[row];
  }
  return {table.group_name[row], table.members[row], from, to};
}

// Files of one rank that overlap in time are the same recording twice: one of them is matched.
bool Overlaps(const TimelineTable& timelines, size_t a, size_t b) {
  return timelines.start_ns[a] < timelines.end_ns[b] && timelines.start_ns[b] < timelines.end_ns[a];
}

struct Places {
  std::map<int32_t, std::pair<size_t, size_t>> node_of;  // by input: job, node
  std::vector<int32_t> repeated;                         // inputs that are not matched, sorted
};

size_t JobOf(const TimelineTable& timelines, size_t row, std::vector<Job>& jobs) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].job == timelines.job[row] && jobs[i].attempt == timelines.attempt[row]) return i;
  }
  jobs.push_back({.job = timelines.job[row], .attempt = timelines.attempt[row]});
  return jobs.size() - 1;
}

Places PlaceTimelines(const TimelineTable& timelines, std::vector<Job>& jobs) {
  Places places;
  std::map<std::pair<size_t, int32_t>, std::vector<size_t>> rows_of;  // by job and rank
  for (size_t row = 0; row < timelines.size(); ++row) {
    size_t job = JobOf(timelines, row, jobs);
    int32_t rank = timelines.rank[row];
    std::vector<size_t>& rows = rows_of[{job, rank}];
    if (std::any_of(rows.begin(), rows.end(),
                    [&](size_t other) { return Overlaps(timelines, row, other); }))
      places.repeated.push_back(timelines.input[row]);
    if (rows.empty() || rank == kNone32) jobs[job].nodes.push_back({.rank = rank, .inputs = {}});
    rows.push_back(row);
    size_t node = jobs[job].nodes.size() - 1;
    if (rows.size() > 1 && rank != kNone32) node = places.node_of[timelines.input[rows[0]]].second;
    jobs[job].nodes[node].inputs.push_back(timelines.input[row]);
    places.node_of[timelines.input[row]] = {job, node};
  }
  std::sort(places.repeated.begin(), places.repeated.end());
  return places;
}

}  // namespace

bool Synchronises(std::string_view op) {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" || op == "all_to_all" ||
         op == "barrier";
}

std::vector<Job> FindJobs(const Model& model) {
  std::vector<Job> jobs;
  Places places = PlaceTimelines(model.tables.Get<TimelineTable>(), jobs);
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::map<std::pair<size_t, GroupKey>, size_t> group_of;
  std::map<std::pair<size_t, size_t>, std::map<size_t, size_t>> lane_of;  // job, group; node
  for (size_t row = 0; row < table.size(); ++row) {
    auto place = places.node_of.find(table.input[row]);
    if (place == places.node_of.end() || table.rank[row] == kNone32) continue;
    // A file of several ranks has one clock for all of them, as far as can be told.
    if (table.rank[row] != jobs[place->second.first].nodes[place->second.second].rank) continue;
    if (std::binary_search(places.repeated.begin(), places.repeated.end(), table.input[row]))
      continue;
    auto [job, node] = place->second;
    std::vector<Group>& groups = jobs[job].groups;
    auto [found, is_new] = group_of.try_emplace({job, KeyOf(model, table, row)}, groups.size());
    if (is_new) groups.emplace_back();
    Group& group = groups[found->second];
    auto [lane, first] = lane_of[{job, found->second}].try_emplace(node, group.lanes.size());
    if (first) group.lanes.push_back({.node = node, .rows = {}, .slots = {}});
    group.lanes[lane->second].rows.push_back(row);
  }
  for (Job& job : jobs) {
    for (Group& group : job.groups) {
      for (Lane& lane : group.lanes)
        std::stable_sort(lane.rows.begin(), lane.rows.end(),
                         [&](size_t a, size_t b) { return table.start_ns[a] < table.start_ns[b]; });
    }
  }
  return jobs;
}

}  // namespace debrief::analyses::timeline_clock

// How do the clocks of the ranks relate, and which rank came when to which collective?
//
//   matching.h   the collectives of one group, rank by rank, and which of one is which of another
//   clocks.h     offsets and drifts, from collectives that end at one moment
//
// The parts of one rank, host and device, move together.
#include <algorithm>

#include "analyses/analysis.h"
#include "analyses/timeline/clock/clocks.h"
#include "analyses/timeline/clock/matching.h"
#include "model/timeline/view.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"

namespace debrief::analyses::timeline_clock {

namespace {

using Clocks = std::vector<NodeClock>;

class MatchWriter {
 public:
  MatchWriter(const Model& model, const Job& job, const Clocks& clocks, Part& part)
      : model_(model),
        table_(model.tables.Get<ProfileCollectiveTable>()),
        job_(job),
        clocks_(clocks),
        part_(part) {}

  void Write(const Match& match) {
    auto& table = part_.tables.Edit<ProfileCollectiveMatchTable>();
    ProfileCollectiveMatchRow row = Describe(match);
    row.match = static_cast<int64_t>(table.size());
    AddTimes(match, row);
    table.Add(row);
    WriteWaits(match, row);
  }

 private:
  ProfileCollectiveMatchRow Describe(const Match& match) const {
    size_t first = match.present[0].row;
    ProfileCollectiveMatchRow row;
    row.job = job_.job;
    row.attempt = job_.attempt;
    row.group_name = timeline::Copied(model_, table_.group_name[first], part_);
    row.group_desc = timeline::Copied(model_, table_.group_desc[first], part_);
    std::span<const int64_t> members = model_.pools.lists.Get(table_.members[first]);
    if (!members.empty()) row.members = part_.pools.lists.Intern(members);
    row.op = timeline::Copied(model_, table_.op[first], part_);
    row.bytes = table_.bytes[first];
    std::vector<int64_t> ranks;
    for (const Presence& each : match.present) {
      ranks.push_back(table_.rank[each.row]);
      if (table_.bytes[each.row] != row.bytes) row.bytes = kNone64;
      if (table_.op[each.row] != table_.op[first]) row.op = part_.pools.Intern("send_recv");
    }
    std::sort(ranks.begin(), ranks.end());
    row.ranks = part_.pools.lists.Intern(ranks);
    row.complete =
        !members.empty() && std::equal(ranks.begin(), ranks.end(), members.begin(), members.end());
    row.synchronises = match.synchronises;
    row.on_device = match.on_device;
    row.seq = table_.seq[first];
    row.position = match.slot;
    return row;
  }

  void AddTimes(const Match& match, ProfileCollectiveMatchRow& row) const {
    int64_t first_end = 0;
    int64_t last_end = 0;
    for (const Presence& each : match.present) {
      int64_t start = Aligned(each, table_.start_ns[each.row]);
      int64_t end = Aligned(each, EndOf(table_, each.row));
      bool is_first = &each == &match.present[0];
      if (is_first || start < row.first_start_ns) {
        row.first_start_ns = start;
        row.first_rank = table_.rank[each.row];
      }
      if (is_first || start > row.last_start_ns) {
        row.last_start_ns = start;
        row.last_rank = table_.rank[each.row];
      }
      first_end = is_first ? end : std::min(first_end, end);
      last_end = is_first ? end : std::max(last_end, end);
      row.transfer_ns = is_first ? table_.duration_ns[each.row]
                                 : std::min(row.transfer_ns, table_.duration_ns[each.row]);
    }
    row.start_skew_ns = row.last_start_ns - row.first_start_ns;
    row.end_skew_ns = last_end - first_end;
  }

  void WriteWaits(const Match& match, const ProfileCollectiveMatchRow& row) {
    for (const Presence& each : match.present) {
      auto wait =
          Part::RowOf<ProfileCollectiveWaitRow>({table_.input[each.row], table_.job[each.row],
                                                 table_.attempt[each.row], table_.rank[each.row]});
      wait.match = row.match;
      wait.collective = table_.collective[each.row];
      wait.start_ns = Aligned(each, table_.start_ns[each.row]);
      wait.end_ns = Aligned(each, EndOf(table_, each.row));
      wait.wait_ns = row.last_start_ns - wait.start_ns;
      part_.tables.Edit<ProfileCollectiveWaitTable>().Add(wait);
    }
  }

  int64_t Aligned(const Presence& each, int64_t time_ns) const {
    return clocks_[each.node].correction.Apply(time_ns);
  }

  const Model& model_;
  const ProfileCollectiveTable& table_;
  const Job& job_;
  const Clocks& clocks_;
  Part& part_;
};

std::string_view StateOf(const Job& job, const NodeClock& clock) {
  if (clock.aligned) return "aligned";
  return job.nodes.size() == 1 ? "alone" : "unaligned";
}

void WriteClock(const Model& model, size_t timeline, const Job& job, const NodeClock& clock,
                Part& part) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  auto row = Part::RowOf<TimelineClockRow>({timelines.input[timeline], timelines.job[timeline],
                                            timelines.attempt[timeline], timelines.rank[timeline]});
  row.reference = clock.reference;
  row.matched = clock.matched;
  row.residual_ns = clock.residual_ns;
  row.state = part.pools.Intern(StateOf(job, clock));
  if (clock.aligned) {
    int64_t start = timelines.start_ns[timeline];
    row.offset_ns = clock.correction.Of(start + (timelines.end_ns[timeline] - start) / 2);
    row.drift_ppb = clock.correction.slope * 1e9;
  }
  part.tables.Edit<TimelineClockTable>().Add(row);
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  std::vector<Job> jobs = FindJobs(model);
  std::vector<std::pair<size_t, NodeClock>> clock_of(timelines.size());  // job and clock
  for (size_t j = 0; j < jobs.size(); ++j) {
    Job& job = jobs[j];
    for (Group& group : job.groups) MatchLanes(model, group);
    std::vector<Match> matches = FindMatches(model, job);
    Clocks clocks = EstimateClocks(model, job, matches);
    MatchWriter writer(model, job, clocks, result.part);
    for (const Match& match : matches) writer.Write(match);
    for (size_t node = 0; node < job.nodes.size(); ++node) {
      for (int32_t input : job.nodes[node].inputs) {
        auto at = std::lower_bound(timelines.input.begin(), timelines.input.end(), input);
        clock_of[static_cast<size_t>(at - timelines.input.begin())] = {j, clocks[node]};
      }
    }
  }
  for (size_t row = 0; row < timelines.size(); ++row)
    WriteClock(model, row, jobs[clock_of[row].first], clock_of[row].second, result.part);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "timeline_clock",
               .sentence = "How do the clocks of the ranks relate, and who came when to which "
                           "collective?",
               .example = "rank 3 is 11.560 s ahead of rank 0; ends agree within 4 us",
               .needs = kTableNames<ProfileCollectiveTable>,
               .makes = kTableNames<TimelineClockTable, ProfileCollectiveMatchTable,
                                    ProfileCollectiveWaitTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_clock

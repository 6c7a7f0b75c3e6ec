// Dumps that are not there, or hold nothing.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/flight/cause.h"
#include "base/text/units.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"

namespace debrief::analyses::flight {

namespace {

// The groups in other dumps that name a rank: what shows that there was one.
void AddMembership(const Index& index, Cause& cause) {
  constexpr size_t kMostRows = 8;
  const auto& groups = index.model.tables.Get<CommGroupTable>();
  std::vector<int64_t> rows;
  for (const size_t i : index.rows->groups.Of(index.job, index.attempt)) {
    if (rows.size() == kMostRows) break;
    if (groups.members[i] == ListId::kNone) continue;
    std::span<const int64_t> members = index.model.pools.lists.Get(groups.members[i]);
    bool named = std::any_of(cause.ranks.begin(), cause.ranks.end(), [&](int32_t rank) {
      return std::binary_search(members.begin(), members.end(), index.GlobalRank(rank));
    });
    if (named) rows.push_back(static_cast<int64_t>(i));
  }
  if (!rows.empty())
    cause.evidence.push_back({"groups of other ranks that name it", "comm_group", std::move(rows)});
}

bool IsOfOlderEpoch(const Index& index, int32_t rank) {
  return std::ranges::find(index.older_epoch, index.GlobalRank(rank)) != index.older_epoch.end();
}

}  // namespace

// Nobody waits for it, but the picture lacks it.
void FindMissingDumps(const Index& index, std::vector<Cause>& causes) {
  Cause cause;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    const RankInfo& info = index.RankAt(rank);
    if (!info.has_dump && !info.unread && !IsOfOlderEpoch(index, rank)) cause.ranks.push_back(rank);
  }
  bool told = std::any_of(causes.begin(), causes.end(), [&](const Cause& other) {
    return other.rule == "flight.no_dump" && (other.ranks == cause.ranks || other.ranks.empty());
  });
  if (cause.ranks.empty() || cause.ranks.size() == index.ranks.size() || told) return;
  cause.rule = "flight.no_dump";
  cause.severity = Severity::kWarning;
  cause.what = fmt::format("left no dump, the other {} of the job did",
                           Plural(index.ranks.size() - cause.ranks.size(), "rank"));
  cause.confidence = 1;
  cause.why = "groups of the other dumps name it as a member";
  AddMembership(index, cause);
  cause.next_step = "Look for its dump on its host; with it the verdict is more certain.";
  causes.push_back(std::move(cause));
}

// Its dump is there, and of no use.
void FindOlderEpochs(const Index& index, std::vector<Cause>& causes) {
  if (index.older_epoch.empty()) return;
  Cause cause;
  for (int32_t rank = 0; rank < index.rank_count(); ++rank) {
    if (IsOfOlderEpoch(index, rank)) cause.ranks.push_back(rank);
  }
  cause.rule = "flight.older_epoch";
  cause.severity = Severity::kWarning;
  cause.what = "left a dump from before the recorder was reset; it is not compared with the others";
  cause.confidence = 0.8;
  cause.why = "it completed the first collective of a group long before others issued theirs";
  const auto& dumps = index.model.tables.Get<CommDumpTable>();
  std::vector<int64_t> rows;
  for (const size_t i : index.rows->dumps.Of(index.job, index.attempt)) {
    const bool older =
        std::ranges::find(index.older_epoch, dumps.rank[i]) != index.older_epoch.end();
    if (older) rows.push_back(static_cast<int64_t>(i));
  }
  cause.evidence.push_back({"its dump", "comm_dump", std::move(rows)});
  cause.next_step = "Look at what ended the epoch: its output, the groups that were made anew.";
  causes.push_back(std::move(cause));
}

// Dumps that hold nothing say nothing, and a reader must not take that for health.
void FindEmptyDumps(const Index& index, std::vector<Cause>& causes) {
  if (!index.units.empty()) return;
  std::vector<int64_t> rows;
  for (const size_t i : index.rows->dumps.Of(index.job, index.attempt))
    rows.push_back(static_cast<int64_t>(i));
  const bool set_up = !index.rows->groups.RunsOf(index.job, index.attempt).empty();
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.empty_dumps";
  cause.severity = Severity::kWarning;
  cause.what = fmt::format("{} without entries: {}", Plural(rows.size(), "dump"),
                           set_up ? "only active collectives were dumped and none was active, or "
                                    "entries were left out"
                                  : "written before the first collective");
  cause.confidence = 1;
  cause.why = set_up ? "they have groups and counters" : "they have neither groups nor counters";
  cause.evidence.push_back({"dumps without entries", "comm_dump", std::move(rows)});
  cause.next_step =
      "Look at the outputs of the ranks for the reason of the dump; a dump signal that an earlier "
      "attempt left in the store causes one at the start.";
}

}  // namespace debrief::analyses::flight

// What machines had whose shards are missing.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inputs/shards/shard.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::shards {

namespace {

// What is known of the ranks of a job without their own inputs.
struct KnownRanks {
  std::set<int32_t> all;
  std::set<int32_t> with_input;
  std::set<int32_t> with_dump;
  int32_t attempt = 0;  // the last
};

void AddMembers(const Model& model, std::map<int32_t, KnownRanks>& jobs) {
  std::set<std::pair<int32_t, ListId>> seen;  // every dump repeats the lists
  const auto& groups = model.tables.Get<CommGroupTable>();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (!seen.emplace(groups.job[i], groups.members[i]).second) continue;
    for (const int64_t rank : model.pools.lists.Get(groups.members[i]))
      jobs[groups.job[i]].all.insert(static_cast<int32_t>(rank));
  }
}

std::map<int32_t, KnownRanks> RanksByJob(const Model& model) {
  std::map<int32_t, KnownRanks> ranks;
  AddMembers(model, ranks);
  const auto& jobs = model.tables.Get<JobTable>();
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (int32_t rank = 0; rank < jobs.world_size[i]; ++rank) ranks[jobs.job[i]].all.insert(rank);
  }
  const auto& inputs = model.tables.Get<InputTable>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.job[i] == kNone32) continue;
    KnownRanks& known = ranks[inputs.job[i]];
    known.with_input.insert(inputs.rank[i]);
    known.attempt = std::max(known.attempt, inputs.attempt[i]);
  }
  const auto& dumps = model.tables.Get<CommDumpTable>();
  for (size_t i = 0; i < dumps.size(); ++i) ranks[dumps.job[i]].with_dump.insert(dumps.rank[i]);
  return ranks;
}

int32_t AddLost(const std::string& path, int32_t job, int32_t attempt, int32_t rank, Model& model) {
  auto& inputs = model.tables.Edit<InputTable>();
  const auto number = static_cast<int32_t>(inputs.size());
  auto row = Part::RowOf<InputRow>({.input = number, .job = job, .attempt = attempt, .rank = rank});
  row.input = number;
  row.path = model.pools.Intern(path);
  row.kind = model.pools.Intern("unknown");
  row.state = model.pools.Intern(InputStateName(InputState::kFailed));
  inputs.Add(row);
  return number;
}

}  // namespace

void AddLostInputs(const std::vector<std::string>& missing, Model& model) {
  const std::map<int32_t, KnownRanks> jobs = RanksByJob(model);
  const bool is_one = jobs.size() == 1;
  for (const std::string& name : missing) {
    const int32_t number =
        AddLost(fmt::format("({})", name), is_one ? jobs.begin()->first : kNone32,
                is_one ? jobs.begin()->second.attempt : kNone32, kNone32, model);
    model.diagnostics.Add(kShardMissing, number, {.offset = -1, .line = -1, .detail = name});
  }
  for (const auto& [job, known] : jobs) {
    // A rank may have its output in a folder that all see, and its dump on its machine alone.
    const std::set<int32_t>& read = known.with_dump.empty() ? known.with_input : known.with_dump;
    for (const int32_t rank : known.all) {
      if (!read.contains(rank))
        AddLost("(a machine whose shard is missing)", job, known.attempt, rank, model);
    }
  }
  model.sources.resize(model.tables.Get<InputTable>().size());
}

}  // namespace debrief::shards

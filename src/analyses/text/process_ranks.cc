#include "analyses/text/process_ranks.h"

#include "tables/process_exit.h"
#include "tables/process_identity.h"
#include "tables/ras_rank.h"
#include "tables/stack_dump.h"

namespace debrief::analyses {

ProcessRanks::ProcessRanks(const Model& model) {
  const auto& stacks = model.tables.Get<StackDumpTable>();
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (!stacks.child[i]) Add(stacks.job[i], stacks.attempt[i], stacks.pid[i], stacks.rank[i]);
  }
  const auto& answers = model.tables.Get<RasRankTable>();
  for (size_t i = 0; i < answers.size(); ++i)
    Add(answers.job[i], answers.attempt[i], answers.pid[i], answers.rank[i]);
  const auto& exits = model.tables.Get<ProcessExitTable>();
  for (size_t i = 0; i < exits.size(); ++i)
    Add(exits.job[i], exits.attempt[i], exits.pid[i], exits.rank[i]);
  const auto& identities = model.tables.Get<ProcessIdentityTable>();
  for (size_t i = 0; i < identities.size(); ++i)
    Add(identities.job[i], identities.attempt[i], identities.pid[i], identities.rank[i]);
}

void ProcessRanks::Add(int32_t job, int32_t attempt, int64_t pid, int32_t rank) {
  if (pid == kNone64 || rank == kNone32) return;
  auto [known, is_new] = ranks_.try_emplace({job, attempt, pid}, rank);
  if (!is_new && known->second != rank) known->second = kNone32;
}

int32_t ProcessRanks::RankOf(int32_t job, int32_t attempt, int64_t pid) const {
  auto found = ranks_.find({job, attempt, pid});
  return found == ranks_.end() ? kNone32 : found->second;
}

}  // namespace debrief::analyses

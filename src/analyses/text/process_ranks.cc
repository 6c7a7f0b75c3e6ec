#include "analyses/text/process_ranks.h"

#include <charconv>

#include "tables/ras_rank.h"
#include "tables/stack_dump.h"
#include "tables/text_event.h"

namespace debrief::analyses {

namespace {

int64_t PidInText(std::string_view text) {
  constexpr std::string_view kKey = "(pid: ";
  size_t at = text.find(kKey);
  int64_t pid = kNone64;
  if (at == std::string_view::npos) return pid;
  std::from_chars(text.data() + at + kKey.size(), text.data() + text.size(), pid);
  return pid;
}

}  // namespace

ProcessRanks::ProcessRanks(const Model& model) {
  const auto& stacks = model.tables.Get<StackDumpTable>();
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (!stacks.child[i]) Add(stacks.job[i], stacks.attempt[i], stacks.pid[i], stacks.rank[i]);
  }
  const auto& answers = model.tables.Get<RasRankTable>();
  for (size_t i = 0; i < answers.size(); ++i)
    Add(answers.job[i], answers.attempt[i], answers.pid[i], answers.rank[i]);
  const auto& events = model.tables.Get<TextEventTable>();
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.rank[i] == kNone32 || events.exit_code[i] == kNone32) continue;
    Add(events.job[i], events.attempt[i], PidInText(model.pools.Text(events.text[i])),
        events.rank[i]);
  }
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

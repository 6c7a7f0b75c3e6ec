#include "outputs/terminal/console/no_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "model/timeline/rank_shares.h"
#include "outputs/terminal/console/inputs_seen.h"
#include "tables/job.h"
#include "tables/profile_breakdown.h"

namespace debrief::outputs::console {

namespace {

// The last step that the outputs tell; null when they tell none. The table is looked for by name:
// without an importer that fills it there is none.
int64_t LastStep(const Model& model, int32_t job) {
  const Table* table = model.tables.FindFilled("progress");
  if (table == nullptr) return kNone64;
  constexpr size_t kNoColumn = ~size_t{0};
  size_t job_at = kNoColumn, step_at = kNoColumn;
  const auto& columns = table->info().columns;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == "job" && columns[i].type == ColumnType::kInt32) job_at = i;
    if (columns[i].name == "step" && columns[i].type == ColumnType::kInt64) step_at = i;
  }
  int64_t last = kNone64;
  for (size_t row = 0; step_at != kNoColumn && row < table->size(); ++row) {
    bool ours =
        job == kNone32 || job_at == kNoColumn || ValueAt<int32_t>(*table, job_at, row) == job;
    if (ours) last = std::max(last, ValueAt<int64_t>(*table, step_at, row));
  }
  return last;
}

// How many ranks the job had; 0 when that is not known.
size_t WorldSize(const Model& model, int32_t job) {
  const auto& jobs = model.tables.Get<JobTable>();
  for (size_t i = 0; i < jobs.size(); ++i) {
    const bool ours = job == kNone32 ? jobs.size() == 1 : jobs.job[i] == job;
    if (ours && jobs.world_size[i] != kNone32) return static_cast<size_t>(jobs.world_size[i]);
  }
  return 0;
}

// Why profiles without a finding say little; empty where they cover enough of a device.
std::string WhyProfilesSayLittle(const Model& model, const InputsSeen& seen, int32_t job) {
  if (!seen.kinds.contains("profile")) return {};
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  int64_t longest = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    const bool is_whole = model.pools.Text(rows.scope[row]) == "all" &&
                          model.pools.Text(rows.definition[row]) == "debrief";
    if (is_whole && (job == kNone32 || rows.job[row] == job))
      longest = std::max(longest, rows.total_ns[row]);
  }
  if (longest == 0) return "; no work of a device was recorded";
  if (longest >= timeline::kShortestToTellNs) return {};
  return fmt::format("; {} of device time are too little to say where time goes",
                     DurationText(longest));
}

// What could not be seen in these inputs, whatever happened.
std::string Unseen(const InputsSeen& seen, size_t world_size) {
  std::string words;
  if (!seen.has_outputs) words += "; no output shows how the job ended";
  if (seen.has_outputs && !seen.has_dumps && world_size > 1)
    words +=
        "; without Flight Recorder dumps, mismatched collectives show only where a rank prints an "
        "error";
  return words;
}

}  // namespace

std::string NoProblemInWords(const Model& model, int32_t job, bool has_remarks) {
  const InputsSeen seen = LookAtInputs(model, job);
  if (!seen.has_read && seen.unread == 0) return "Nothing could be looked at: no input was read.";
  if (!seen.has_read)
    return "No input is of a kind that debrief reads: debrief list inputs shows what it reads.";
  const size_t world_size = WorldSize(model, job);
  const bool is_little = !seen.ranks.empty() && seen.ranks.size() * 2 < world_size;
  std::string words =
      fmt::format("No {} {} {}", has_remarks ? "failure" : "problem",
                  is_little ? "seen in what little is here:" : "found in", ReadInWords(seen));
  if (!seen.ranks.empty())
    words += fmt::format(" of {}",
                         RanksInWords(std::vector<int32_t>(seen.ranks.begin(), seen.ranks.end())));
  if (is_little) words += fmt::format(" ({} of {} ranks)", seen.ranks.size(), world_size);
  const int64_t step = LastStep(model, job);
  if (step != kNone64) words += fmt::format("; last step {}", step);
  if (seen.unread > 0) words += fmt::format("; {} not read", Plural(seen.unread, "input"));
  if (seen.damaged > 0) words += fmt::format("; {} damaged", Plural(seen.damaged, "input"));
  if (!has_remarks) words += WhyProfilesSayLittle(model, seen, job);
  return words + Unseen(seen, world_size) + ".";
}

}  // namespace debrief::outputs::console

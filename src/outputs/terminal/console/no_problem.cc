#include "outputs/terminal/console/no_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/input.h"

namespace debrief::outputs::console {

namespace {

struct Seen {
  std::map<std::string, size_t> kinds;  // in words -> inputs that were read
  std::set<int32_t> ranks;
  size_t unread = 0;
  size_t damaged = 0;
  bool dumps = false;
  bool outputs = false;
};

// What people call the inputs of a kind.
std::string NounOf(std::string_view kind) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNouns = {
      {{"flight_recorder", "Flight Recorder dump"},
       {"job_text", "output"},
       {"torch_trace", "compile log"},
       {"chrome_trace", "profile"},
       {"nsys", "profile"},
       {"rocpd", "profile"},
       {"memory_snapshot", "memory snapshot"},
       {"execution_trace", "execution trace"}}};
  for (const auto& [name, noun] : kNouns) {
    if (name == kind) return std::string(noun);
  }
  return fmt::format("{} file", kind);
}

Seen LookAt(const Model& model, int32_t job) {
  const auto& inputs = model.tables.Get<InputTable>();
  Seen seen;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (job != kNone32 && inputs.job[i] != job) continue;
    std::string_view kind = model.pools.Text(inputs.kind[i]);
    if (model.pools.Text(inputs.state[i]) != "imported") {
      // A dump that another file repeats is left out, and an empty file has nothing to read.
      const bool repeats =
          kind == "flight_recorder" && model.pools.Text(inputs.state[i]) == "skipped";
      if (!repeats && inputs.bytes[i] != 0) ++seen.unread;
      continue;
    }
    ++seen.kinds[NounOf(kind)];
    seen.dumps |= kind == "flight_recorder";
    seen.outputs |= kind == "job_text";
    if (inputs.rank[i] != kNone32) seen.ranks.insert(inputs.rank[i]);
  }
  std::set<int32_t> damaged;
  for (const Diagnostic& diagnostic : model.diagnostics.all()) {
    bool ours = diagnostic.input != kNone32 &&
                (job == kNone32 || inputs.job[static_cast<size_t>(diagnostic.input)] == job);
    if (ours && diagnostic.kind->severity == Severity::kError) damaged.insert(diagnostic.input);
  }
  seen.damaged = damaged.size();
  return seen;
}

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

// "8 Flight Recorder dumps, 2 profiles and 16 outputs".
std::string KindsInWords(const Seen& seen) {
  std::string words;
  size_t left = seen.kinds.size();
  for (const auto& [noun, count] : seen.kinds) {
    --left;
    words += fmt::format("{}{}",
                         words.empty() ? ""
                         : left == 0   ? " and "
                                       : ", ",
                         Plural(count, noun));
  }
  return words;
}

}  // namespace

std::string NoProblemInWords(const Model& model, int32_t job) {
  Seen seen = LookAt(model, job);
  if (seen.kinds.empty() && seen.unread == 0)
    return "Nothing could be looked at: no input was read.";
  if (seen.kinds.empty())
    return "No input is of a kind that debrief reads: debrief list inputs shows what it reads.";
  std::string words = fmt::format("No problem found in {}", KindsInWords(seen));
  if (!seen.ranks.empty())
    words += fmt::format(" of {}",
                         RanksInWords(std::vector<int32_t>(seen.ranks.begin(), seen.ranks.end())));
  int64_t step = LastStep(model, job);
  if (step != kNone64) words += fmt::format("; last step {}", step);
  if (seen.unread > 0) words += fmt::format("; {} not read", Plural(seen.unread, "input"));
  if (seen.damaged > 0) words += fmt::format("; {} damaged", Plural(seen.damaged, "input"));
  if (seen.dumps && !seen.outputs)
    words += "; without outputs of the ranks it is not known how the job ended";
  return words + ".";
}

bool TellsAnEnd(const Model& model) {
  Seen seen = LookAt(model, kNone32);
  return seen.dumps || seen.outputs;
}

}  // namespace debrief::outputs::console

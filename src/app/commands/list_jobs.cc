// debrief list jobs PATH...: which jobs lie there, and by what evidence each input is of its job,
// attempt and rank. Nothing is imported.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/job.h"
#include "tables/job_reason.h"
#include "tables/rank.h"

namespace debrief {

namespace {

// One job as it is printed; the last one is what belongs to none.
struct ListedJob {
  std::string name;
  int32_t world_size = kNone32;
  int32_t attempts = 0;
  std::vector<int32_t> ranks;
  std::vector<std::string> reasons;
  std::vector<const FoundInput*> inputs;
};

std::vector<ListedJob> JobsOf(const std::vector<FoundInput>& inputs, const Model& model) {
  const auto& jobs = model.tables.Get<JobTable>();
  std::vector<ListedJob> listed(jobs.size() + 1);
  for (size_t i = 0; i < jobs.size(); ++i) {
    listed[i].name = std::string(model.pools.Text(jobs.name[i]));
    listed[i].world_size = jobs.world_size[i];
    listed[i].attempts = jobs.attempts[i];
  }
  const auto& ranks = model.tables.Get<RankTable>();
  for (size_t i = 0; i < ranks.size(); ++i)
    listed[static_cast<size_t>(ranks.job[i])].ranks.push_back(ranks.rank[i]);
  const auto& reasons = model.tables.Get<JobReasonTable>();
  for (size_t i = 0; i < reasons.size(); ++i) {
    if (reasons.input[i] == kNone32)
      listed[static_cast<size_t>(reasons.job[i])].reasons.emplace_back(
          model.pools.Text(reasons.job_by[i]));
  }
  for (const FoundInput& input : inputs) {
    bool none = input.who.job == kNone32;
    listed[none ? jobs.size() : static_cast<size_t>(input.who.job)].inputs.push_back(&input);
  }
  for (ListedJob& job : listed) {
    std::sort(job.ranks.begin(), job.ranks.end());
    job.ranks.erase(std::unique(job.ranks.begin(), job.ranks.end()), job.ranks.end());
  }
  return listed;
}

std::string_view KindOf(const FoundInput& input) {
  if (input.importer != nullptr) return input.importer->info.name;
  return input.bytes == 0 ? "empty" : "unknown";
}

std::string Number(int32_t number) { return number == kNone32 ? "-" : fmt::format("{}", number); }

std::string HeadOf(const ListedJob& job) {
  std::string head = job.name;
  if (job.ranks.empty()) {
    head += ": no ranks";
  } else {
    head += fmt::format(": {}", RanksInWords(job.ranks));
  }
  if (job.world_size != kNone32) head += fmt::format(" of {}", job.world_size);
  return fmt::format("{}; {}, {}\n", head, Plural(static_cast<size_t>(job.attempts), "attempt"),
                     Plural(job.inputs.size(), "input"));
}

std::string TableOf(const ListedJob& job) {
  TextTable table({{"rank", TextTable::kRight},
                   {"attempt", TextTable::kRight},
                   {"kind"},
                   {"input"},
                   {"rank by"},
                   {"attempt by"}});
  for (const FoundInput* input : job.inputs) {
    table.Add({Number(input->who.rank), job.attempts > 1 ? Number(input->who.attempt) : "",
               std::string(KindOf(*input)), input->path, input->why_rank,
               job.attempts > 1 ? input->why_attempt : ""});
  }
  return table.Text({.indent = 2, .drop_empty = true});
}

std::string ToText(const std::vector<ListedJob>& jobs) {
  std::string out = Plural(jobs.size() - 1, "job") + "\n";
  for (size_t i = 0; i + 1 < jobs.size(); ++i) {
    out += "\n" + HeadOf(jobs[i]);
    for (const std::string& reason : jobs[i].reasons) out += fmt::format("  {}\n", reason);
    out += TableOf(jobs[i]);
  }
  if (!jobs.back().inputs.empty()) out += "\nnot assigned to a job:\n" + TableOf(jobs.back());
  return out;
}

void WriteInput(JsonWriter& json, const FoundInput& input) {
  auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) json.Field(key, value);
  };
  json.BeginObject().Field("path", input.path).Field("kind", KindOf(input));
  if (input.who.attempt != kNone32) json.Field("attempt", input.who.attempt);
  if (input.who.rank != kNone32) json.Field("rank", input.who.rank);
  text("host", input.host);
  text("rank_by", input.why_rank);
  text("attempt_by", input.why_attempt);
  json.EndObject();
}

std::string ToJson(const std::vector<ListedJob>& jobs) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginArray();
  for (size_t i = 0; i < jobs.size(); ++i) {
    const ListedJob& job = jobs[i];
    bool is_job = i + 1 < jobs.size();
    if (!is_job && job.inputs.empty()) break;
    json.BeginObject();
    if (is_job) json.Field("name", job.name).Field("attempts", job.attempts);
    if (job.world_size != kNone32) json.Field("world_size", job.world_size);
    json.Key("ranks").BeginArray();
    for (int32_t rank : job.ranks) json.Value(rank);
    json.EndArray().Key("reasons").BeginArray();
    for (const std::string& reason : job.reasons) json.Value(reason);
    json.EndArray().Key("inputs").BeginArray();
    for (const FoundInput* input : job.inputs) WriteInput(json, *input);
    json.EndArray().EndObject();
  }
  json.EndArray();
  return out + "\n";
}

}  // namespace

int RunListJobs(const std::vector<std::string>& paths, const GlobalOptions& global) {
  if (Status status = CheckPaths(paths); !status.ok()) return Fail(status);
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  Model model;
  std::vector<FoundInput> inputs =
      FindAndAssign({.paths = paths, .select = {}}, global, SystemClock().NowNs(), budget, model);
  if (inputs.empty()) {
    PrintError(Status(Code::kNotFound, "no file in it").At({.file = paths.front()}));
    return 1;
  }
  std::vector<ListedJob> jobs = JobsOf(inputs, model);
  StdoutSink().Write(global.json ? ToJson(jobs) : ToText(jobs));
  return 0;
}

}  // namespace debrief

// What Slurm says of a job and its steps: `sacct --json`, `sacct -P`, `sacct`, `scontrol --json`.
// docs/formats/slurm_accounting.md
//
//   JobID|JobName|State|ExitCode|NodeList
//   4711|train|TIMEOUT|0:0|n[1-2]
#include "inputs/importer.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/text/strings.h"
#include "base/text/units.h"
#include "inputs/records/job_statements.h"
#include "inputs/slurm_accounting/accounts.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/slurm_step.h"

namespace debrief::inputs::slurm_accounting {

namespace {

constexpr DiagnosticKind kAccountJson = {"slurm_accounting.bad_json", Severity::kError,
                                         "the JSON is broken; what could be read is kept",
                                         "Ask again with `sacct -j JOB --json`."};
constexpr DiagnosticKind kAccountLong = {"slurm_accounting.too_long", Severity::kWarning,
                                         "the JSON is longer than 256 MB; not read",
                                         "Ask for one job: `sacct -j JOB --json`."};
constexpr DiagnosticKind kSeveralJobs = {
    "slurm_accounting.several_jobs", Severity::kInfo,
    "the accounting is about several jobs, and no name says which of them is this one; it is "
    "listed and not used",
    "Ask for one job: `sacct -j JOB`."};
constexpr uint64_t kMostAccounts = 256 << 20;

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr) {
    const JsonOutline& json = *input.json;
    const bool has_state = json.Has("jobs[].steps") || json.Has("jobs[].job_state");
    return {.mine = json.Has("jobs[].job_id") && has_state && json.Has("jobs[].exit_code")};
  }
  const std::string_view first = Trimmed(FirstPrinted(input.head));
  return {.mine = LooksLikeText(input.head) &&
                  (AccountSheet::IsHead(first) || AccountSheet::IsJobHead(first))};
}

// The job was ended from outside: words that the importer of texts knows as well.
std::string_view OutsideOf(std::string_view state) {
  if (state == "TIMEOUT" || state == "DEADLINE") return "TIME LIMIT";
  if (state == "NODE_FAIL" || state == "BOOT_FAIL") return "NODE FAILURE";
  if (state == "PREEMPTED") return "PREEMPTION";
  if (state == "REQUEUED") return "JOB REQUEUE";
  return state == "CANCELLED" ? "CANCELLED AT" : "";
}

class AccountReader final : public TextReader {
 public:
  explicit AccountReader(const ImportContext& context) : TextReader(context), path_(context.path) {}

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    std::vector<Account> accounts;
    ASSIGN_OR_RETURN(const bool is_json, IsJsonObject(source));
    if (is_json) {
      TRY(ReadJson(source, range, {kMostAccounts, kAccountLong, kAccountJson}, part,
                   [&](std::string_view text) { return ReadAccountJson(text, accounts); }));
    } else {
      AccountSheet sheet;
      TRY(ForEachLine(source, [&](std::string_view line, int64_t number) {
        (void)sheet.Add(line, number, accounts);
      }));
    }
    for (const Account& account : accounts) AddRow(account, part);
    const std::string job = ChooseJob(accounts, part);
    if (!job.empty()) AddStatements(accounts, job, part);
    return {};
  }

 private:
  void AddRow(const Account& account, Part& part) const {
    Pools& pools = part.pools;
    auto row = Part::RowOf<SlurmStepRow>(who_);
    row.rank = kNone32;
    row.line = account.line;
    row.slurm_job = pools.InternOrNone(account.job);
    row.step = pools.InternOrNone(account.step);
    row.name = pools.InternOrNone(account.name);
    row.state = pools.InternOrNone(account.state);
    row.exit_code = account.exit_code;
    row.nodes = pools.InternOrNone(account.nodes);
    row.start_ns = account.start_ns;
    row.end_ns = account.end_ns;
    row.reason = pools.InternOrNone(account.reason == "None" ? "" : account.reason);
    part.tables.Edit<SlurmStepTable>().Add(row);
  }

  // The only job, or the one whose number is in the path. A list of all jobs of a user says nothing
  // about this one.
  std::string ChooseJob(const std::vector<Account>& accounts, Part& part) const {
    std::set<std::string> jobs;
    for (const Account& account : accounts) jobs.insert(account.job);
    if (jobs.size() == 1) return *jobs.begin();
    for (const std::string& job : jobs) {
      const size_t at = path_.find(job);
      if (at == std::string::npos) continue;
      const bool begins = at == 0 || !IsDigit(path_[at - 1]);
      const size_t end = at + job.size();
      if (begins && (end == path_.size() || !IsDigit(path_[end]))) return job;
    }
    if (!jobs.empty()) part.diagnostics.Add(kSeveralJobs, who_.input, {});
    return {};
  }

  void AddStatements(const std::vector<Account>& accounts, std::string_view job, Part& part) const {
    bool step_failed = false;
    for (const Account& account : accounts) {
      const bool is_task =
          !account.step.empty() && account.step != "batch" && account.step != "extern";
      if (account.job == job && is_task) step_failed |= AddFailure(account, part);
    }
    bool has_job = false, outside = false;
    for (const Account& account : accounts) {
      if (account.job != job) continue;
      has_job |= account.step.empty();
      if (!account.step.empty() && has_job) continue;
      outside |= AddOutside(account, part);
      // The job, and the script that started its steps, end with the code of the step.
      if (!step_failed && !outside) step_failed |= AddFailure(account, part);
    }
  }

  static std::string Subject(const Account& account) {
    const std::string on = account.nodes.empty() ? "" : fmt::format(" on {}", account.nodes);
    return account.step.empty() ? fmt::format("sacct: job {}{}", account.job, on)
                                : fmt::format("sacct: step {}.{}{}", account.job, account.step, on);
  }

  bool AddFailure(const Account& account, Part& part) const {
    const bool memory = account.state == "OUT_OF_MEMORY";
    if (account.state != "FAILED" && !memory) return false;
    constexpr int32_t kKilled = -9;
    JobStatement statement;
    statement.line = account.line;
    statement.time_ns = account.end_ns;
    statement.said_by = "slurm";
    if (!Contains(account.nodes, "[") && !Contains(account.nodes, ","))
      statement.host = account.nodes;
    statement.exit_code = account.exit_code == kNone32 || account.exit_code == 0
                              ? (memory ? kKilled : 1)
                              : account.exit_code;
    if (memory) statement.exit_code = kKilled;
    statement.kind = memory ? "out_of_memory" : statement.exit_code < 0 ? "signal" : "exit";
    statement.text = fmt::format("{}: {}", Subject(account), account.state);
    if (memory) statement.text += " (Out Of Memory)";
    if (!memory && statement.exit_code < 0)
      statement.text += fmt::format(", signal {}", -statement.exit_code);
    if (!memory && statement.exit_code > 0)
      statement.text += fmt::format(", exit code {}", statement.exit_code);
    AddStatement(who_, statement, part);
    return true;
  }

  bool AddOutside(const Account& account, Part& part) const {
    const std::string_view outside = OutsideOf(account.state);
    if (outside.empty()) return false;
    JobStatement statement;
    statement.kind = "scheduler";
    statement.line = account.line;
    statement.time_ns = account.end_ns;
    statement.text = fmt::format("{}: {}, {}", Subject(account), account.state, outside);
    if (account.state == "CANCELLED")
      statement.text = fmt::format("{}: {} {}", Subject(account), outside,
                                   account.end_ns == kNone64 ? "?" : TimeOfDay(account.end_ns));
    if (!account.reason.empty() && account.reason != "None")
      statement.text += fmt::format(" ({})", account.reason);
    AddStatement(who_, statement, part);
    return true;
  }

  std::string path_;
};

constexpr std::array<std::string_view, 3> kMakes = {"slurm_step", "text_event", "process_exit"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "slurm_accounting",
               .sentence = "Slurm's accounting (sacct): how a job and its steps ended",
               .example = "sacct.json",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<AccountReader>};
  return kImporter;
}

}  // namespace debrief::inputs::slurm_accounting

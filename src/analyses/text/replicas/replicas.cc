// What happened to replica groups of torchft? A group that dies is left out, comes back, and
// fetches the state of another; the job goes on. Steps that were thrown away are lost work, and the
// error that is told with them is why.
//
// Nothing here fails a job: restarts are told as what they are, lost steps as a warning.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/text/columns.h"
#include "base/text/units.h"
#include "tables/replica_event.h"

namespace debrief::analyses::text_replicas {

namespace {

// One replica group of one job.
struct Replica {
  std::set<StringId> lives;
  std::set<int64_t> quorums;
  std::set<int64_t> discarded;  // steps
  std::vector<size_t> discards, healings;
};

using JobKey = std::pair<int32_t, int32_t>;
using Replicas = std::map<StringId, Replica>;

std::map<JobKey, Replicas> Collect(const Model& model) {
  const auto& events = model.tables.Get<ReplicaEventTable>();
  std::map<JobKey, Replicas> jobs;
  for (size_t i = 0; i < events.size(); ++i) {
    Replica& replica = jobs[{events.job[i], events.attempt[i]}][events.replica[i]];
    const std::string_view what = model.pools.Text(events.what[i]);
    if (events.life[i] != StringId::kNone) replica.lives.insert(events.life[i]);
    if (what == "quorum") replica.quorums.insert(events.number[i]);
    if (what == "healing") replica.healings.push_back(i);
    if (what != "discarded") continue;
    replica.discarded.insert(events.step[i]);
    replica.discards.push_back(i);
  }
  return jobs;
}

// "errored=RuntimeError('...')": empty when no error is told.
std::string_view ErrorOf(std::string_view text) {
  constexpr std::string_view kKey = "errored=";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return {};
  const std::string_view error = text.substr(at + kKey.size());
  return error == "None" ? std::string_view() : error;
}

class Reporter {
 public:
  Reporter(const Model& model, std::vector<Finding>& findings)
      : model_(model), events_(model.tables.Get<ReplicaEventTable>()), findings_(findings) {}

  void AddDiscards(const JobKey& job, StringId name, const Replica& replica) {
    if (replica.discards.empty()) return;
    const size_t first = replica.discards.front();
    Finding finding = NewFinding("text_replicas.steps_discarded", job, Severity::kWarning);
    finding.headline =
        fmt::format("Replica {} discarded {}, the first at step {}", model_.pools.Text(name),
                    Plural(replica.discarded.size(), "step"), *replica.discarded.begin());
    constexpr size_t kLongest = 200;
    const auto with_error = std::ranges::find_if(
        replica.discards, [&](size_t row) { return !ErrorOf(TextAt(row)).empty(); });
    const size_t told = with_error == replica.discards.end() ? first : *with_error;
    finding.evidence.push_back(
        {CutEnd(TextAt(told), kLongest), "replica_event", RowsOf(replica.discards)});
    finding.why = "torchft commits a step only when all groups of the quorum finished it";
    finding.next_step =
        "Look at the error that is printed with it, on the rank that raised it first.";
    findings_.push_back(std::move(finding));
  }

  void AddRestarts(const JobKey& job, StringId name, const Replica& replica) {
    const bool came_back = replica.lives.size() > 1;
    if (!came_back && replica.healings.empty()) return;
    Finding finding = NewFinding("text_replicas.restarted", job, Severity::kInfo);
    finding.headline =
        came_back ? fmt::format("Replica {} was started {} times while the job went on",
                                model_.pools.Text(name), replica.lives.size())
                  : fmt::format("Replica {} joined while the job ran", model_.pools.Text(name));
    if (!replica.healings.empty()) {
      const size_t last = replica.healings.back();
      finding.evidence.push_back(
          {fmt::format(
               "it fetched the state of another replica {}, last at step {} to reach step {}",
               Plural(replica.healings.size(), "time"), events_.step[last], events_.number[last]),
           "replica_event", RowsOf(replica.healings)});
    }
    finding.evidence.push_back(
        {fmt::format("it took part in {}", Plural(replica.quorums.size(), "quorum")), "", {}});
    finding.why = "a replica group that restarts is not a restart of the job";
    findings_.push_back(std::move(finding));
  }

 private:
  static Finding NewFinding(std::string_view rule, const JobKey& job, Severity severity) {
    Finding finding;
    finding.rule = rule;
    finding.severity = severity;
    finding.role = Role::kObservation;
    finding.job = job.first;
    finding.attempt = job.second;
    finding.confidence = 0.9;
    return finding;
  }

  std::string_view TextAt(size_t row) const { return model_.pools.Text(events_.text[row]); }

  static std::vector<int64_t> RowsOf(const std::vector<size_t>& rows) {
    return {rows.begin(), rows.end()};
  }

  const Model& model_;
  const ReplicaEventTable& events_;
  std::vector<Finding>& findings_;
};

Status Run(const Model& model, AnalysisResult& result) {
  Reporter reporter(model, result.findings);
  for (const auto& [job, replicas] : Collect(model)) {
    for (const auto& [name, replica] : replicas) {
      reporter.AddDiscards(job, name, replica);
      reporter.AddRestarts(job, name, replica);
    }
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_replicas",
               .sentence = "What happened to replica groups of torchft: restarts, quorums, lost "
                           "steps?",
               .example = "Replica train_ddp_1 discarded 2 steps, the first at step 18",
               .needs = kTableNames<ReplicaEventTable>,
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_replicas

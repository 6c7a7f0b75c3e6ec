// Whom do the communicators of NCCLX and RCCL wait for? Their own dumps say which operation is in
// flight on a rank and with which peers its network operations are unfinished.
//
// A rank is behind when others are in an operation that it has not begun, and it is in none. It is
// named when its own state says so, or, without a state of its own, when peers wait for it. Ranks
// of a job that goes on differ by a moment: an error needs other evidence, this is a warning.
#include "tables/comm_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/text/rank_list.h"
#include "model/model.h"
#include "torch/collective_names.h"

namespace debrief::analyses::flight_comm_state {

namespace {

// One communicator of one attempt; rows of comm_state by rank in it.
struct Comm {
  std::map<int32_t, size_t> rows;
};

using Comms = std::map<std::tuple<int32_t, int32_t, StringId>, Comm>;  // job, attempt, hash

Comms Collect(const CommStateTable& states) {
  Comms comms;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states.job[i] == kNone32 || states.comm_rank[i] == kNone32) continue;
    comms[{states.job[i], states.attempt[i], states.comm[i]}].rows[states.comm_rank[i]] = i;
  }
  return comms;
}

class Judge {
 public:
  Judge(const Model& model, std::vector<Finding>& findings)
      : model_(model), states_(model.tables.Get<CommStateTable>()), findings_(findings) {}

  void Look(const Comm& comm) {
    newest_ = kNone64;
    for (const auto& [rank, row] : comm.rows) {
      if (states_.current[row] > 0) newest_ = std::max(newest_, states_.op_count[row]);
    }
    if (newest_ == kNone64) return;
    std::vector<size_t> waiting, behind;
    for (const auto& [rank, row] : comm.rows) {
      const bool is_in = states_.current[row] > 0 && states_.op_count[row] == newest_;
      if (is_in) waiting.push_back(row);
      if (IsBehind(row)) behind.push_back(row);
    }
    const std::vector<int32_t> silent = SilentPeers(comm, waiting);
    const size_t blamed = behind.size() + silent.size();
    if (blamed == 0 || waiting.size() <= blamed) return;
    Report(comm, waiting, behind, silent);
  }

 private:
  // It has nothing in flight, and finished none that others are in now.
  bool IsBehind(size_t row) const {
    return states_.current[row] == 0 && states_.done_count[row] != kNone64 &&
           states_.done_count[row] < newest_;
  }

  // Peers without a state of their own that waiting ranks have unfinished operations with.
  std::vector<int32_t> SilentPeers(const Comm& comm, const std::vector<size_t>& waiting) const {
    std::set<int32_t> silent;
    for (const size_t row : waiting) {
      for (const int64_t peer : model_.pools.lists.Get(states_.waits_for[row])) {
        if (!comm.rows.contains(static_cast<int32_t>(peer)))
          silent.insert(static_cast<int32_t>(peer));
      }
    }
    return {silent.begin(), silent.end()};
  }

  // A rank of the communicator as a rank of the job. In one whose states all have the same rank in
  // both, others have it, too.
  int32_t GlobalRank(const Comm& comm, int32_t comm_rank) const {
    const bool is_world = std::ranges::all_of(
        comm.rows, [&](const auto& known) { return states_.rank[known.second] == known.first; });
    return is_world ? comm_rank : kNone32;
  }

  void Report(const Comm& comm, const std::vector<size_t>& waiting,
              const std::vector<size_t>& behind, const std::vector<int32_t>& silent) {
    Finding finding;
    finding.rule = "flight_comm_state.behind";
    finding.severity = Severity::kWarning;
    finding.role = Role::kCause;
    for (const size_t row : behind) finding.ranks.push_back(states_.rank[row]);
    for (const int32_t peer : silent) {
      const int32_t rank = GlobalRank(comm, peer);
      if (rank != kNone32) finding.ranks.push_back(rank);
    }
    if (finding.ranks.empty()) return;
    std::ranges::sort(finding.ranks);
    const size_t first = waiting.front();
    finding.job = states_.job[first];
    finding.attempt = states_.attempt[first];
    finding.op = timeline::PublicOp(model_.pools.Text(states_.op[first]));
    finding.seq = newest_;
    std::string_view name = model_.pools.Text(states_.description[first]);
    if (name.empty()) name = model_.pools.Text(states_.comm[first]);
    finding.headline =
        fmt::format("{} did not begin {} #{} of {}; {} wait", RanksAsSubject(finding.ranks),
                    finding.op.empty() ? "operation" : finding.op, newest_, name,
                    waiting.size() == 1 ? "1 rank" : fmt::format("{} ranks", waiting.size()));
    AddEvidence(waiting, behind, finding);
    finding.confidence = behind.empty() ? 0.6 : 0.7;
    finding.why = "on the other ranks the communicator state shows it in flight";
    finding.next_step = "See where that rank is: its stack, its output.";
    findings_.push_back(std::move(finding));
  }

  void AddEvidence(const std::vector<size_t>& waiting, const std::vector<size_t>& behind,
                   Finding& finding) const {
    Evidence waits{
        fmt::format("rank {}: in flight, number {}", states_.rank[waiting.front()], newest_),
        "comm_state",
        {}};
    for (const size_t row : waiting) waits.rows.push_back(static_cast<int64_t>(row));
    finding.evidence.push_back(std::move(waits));
    for (const size_t row : behind) {
      finding.evidence.push_back({fmt::format("rank {}: the last it finished is number {}",
                                              states_.rank[row], states_.done_count[row]),
                                  "comm_state",
                                  {static_cast<int64_t>(row)}});
    }
  }

  const Model& model_;
  const CommStateTable& states_;
  std::vector<Finding>& findings_;
  int64_t newest_ = kNone64;  // of the communicator that is looked at
};

Status Run(const Model& model, AnalysisResult& result) {
  Judge judge(model, result.findings);
  for (const auto& [key, comm] : Collect(model.tables.Get<CommStateTable>())) judge.Look(comm);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "flight_comm_state",
               .sentence = "Whom do communicators of NCCLX and RCCL wait for, by their own dumps?",
               .example = "Rank 4 did not begin all_reduce #41 of default_pg; 7 ranks wait",
               .needs = kTableNames<CommStateTable>,
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::flight_comm_state

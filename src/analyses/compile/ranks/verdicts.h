// One attempt's verdicts, written as rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/ranks/rank_logs.h"

namespace debrief::analyses::compile_ranks {

struct Agreement {
  std::vector<int32_t> ranks;  // sorted
  std::string detail;          // what they have
};

class Verdicts {
 public:
  Verdicts(const Model& model, int32_t job, int32_t attempt, Part& part)
      : model_(model), job_(job), attempt_(attempt), part_(part) {}

  void Check(std::string_view what, std::string_view state, std::string_view detail);

  // Ranks with equal signatures agree. More than one group: "differs", and a row for each.
  // `groups` is by signature.
  void Compare(std::string_view what, const std::map<std::string, Agreement>& groups,
               std::string_view why_unavailable);
  void AddGroup(std::string_view what, int32_t number, const Agreement& group);

  const Model& model() const { return model_; }
  int32_t job() const { return job_; }
  int32_t attempt() const { return attempt_; }
  Part& part() { return part_; }

 private:
  const Model& model_;
  int32_t job_;
  int32_t attempt_;
  Part& part_;
};

// Do ranks have the same compilations, cache answers, collectives, tensors?
void CompareContents(const RankLogs& logs, Verdicts& verdicts);
// Which rank is expected to be slowest?
void CompareRuntimes(const RankLogs& logs, Verdicts& verdicts);
// Do ranks run their graphs in the same order?
void CompareOrders(const RankLogs& logs, Verdicts& verdicts);

// What of all this is worth telling.
void AddFindings(const Part& part, std::vector<Finding>& findings);

}  // namespace debrief::analyses::compile_ranks

// What one attempt's ranks compiled, gathered from the tables for comparing, and the verdicts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "model/model.h"

namespace debrief::analyses::compile_ranks {

// Views into the pools of the model. Graphs are in the order of their names, which stands in for
// the order of directories that tlparse happens to meet.
struct RankLog {
  std::set<std::string_view> compile_ids;
  std::string caches;  // one letter for each answer: h, m, b
  std::map<std::string_view, std::vector<StringId>> schedules;     // by graph
  std::map<std::string_view, std::vector<StringId>> id_schedules;  // by compile id
  std::map<std::string_view, char> id_caches;      // by compile id: the worst answer
  std::map<std::string_view, double> runtimes_ns;  // by graph
  std::map<std::string_view, std::pair<std::string_view, std::string_view>> tensor_meta;
  std::vector<std::string_view> order;
  bool has_order = false;
};

using RankLogs = std::map<int32_t, RankLog>;                       // by rank
using Attempts = std::map<std::pair<int32_t, int32_t>, RankLogs>;  // by job and attempt

struct Agreement {
  std::vector<int32_t> ranks;  // sorted
  std::string detail;          // what they have
};

// One attempt's verdicts, written as rows.
class Verdicts {
 public:
  Verdicts(int32_t job, int32_t attempt, Part& part) : job_(job), attempt_(attempt), part_(part) {}

  void Check(std::string_view what, std::string_view state, std::string_view detail);

  // Ranks with equal signatures agree. More than one group: "differs", and a row for each.
  // `groups` is by signature.
  void Compare(std::string_view what, const std::map<std::string, Agreement>& groups,
               std::string_view why_unavailable);
  // A row for each, that of the lowest rank first.
  void AddGroups(std::string_view what, std::vector<Agreement> groups);

  int32_t job() const { return job_; }
  int32_t attempt() const { return attempt_; }
  Part& part() { return part_; }

 private:
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

}  // namespace debrief::analyses::compile_ranks

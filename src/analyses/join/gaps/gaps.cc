// What could not be joined, and why?
//
// Counts the reasons that the joins wrote beside their rows, by rank. Cost: one pass over them.
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "tables/collective_join.h"
#include "tables/join_gap.h"
#include "tables/region_join.h"
#include "tables/run_clock.h"

namespace debrief::analyses::join_gaps {

namespace {

// Of one kind on one rank.
struct Count {
  int64_t total = 0;
  int64_t joined = 0;
  std::map<std::string_view, int64_t> reasons;
};

class Counter {
 public:
  explicit Counter(const Model& model) : model_(model) {}

  // `reason` empty: it was joined.
  template <typename Table>
  void Add(const Table& table, size_t row, std::string_view kind, std::string_view reason) {
    Count& count = counts_[{table.job[row], table.attempt[row], table.rank[row], kind}];
    ++count.total;
    if (reason.empty()) {
      ++count.joined;
    } else {
      ++count.reasons[reason];
    }
  }

  void AddCollectives() {
    const auto& joins = model_.tables.Get<CollectiveJoinTable>();
    for (size_t row = 0; row < joins.size(); ++row) {
      Add(joins, row, "collective", model_.pools.Text(joins.reason[row]));
      if (joins.compile_id[row] != StringId::kNone)
        Add(joins, row, "schedule", model_.pools.Text(joins.schedule_reason[row]));
    }
  }

  void AddRegions() {
    const auto& joins = model_.tables.Get<RegionJoinTable>();
    for (size_t row = 0; row < joins.size(); ++row)
      Add(joins, row, model_.pools.Text(joins.kind[row]), model_.pools.Text(joins.reason[row]));
  }

  void AddClocks() {
    const auto& clocks = model_.tables.Get<RunClockTable>();
    for (size_t row = 0; row < clocks.size(); ++row) {
      std::string_view reason;
      if (clocks.offset_ns[row] == kNone64) {
        reason = "the profile counts from elsewhere, and no collective ties it to a wall clock";
      } else if (model_.pools.Text(clocks.how[row]) == "assumed") {
        reason = "no collective compares the clock of its host: taken as it is";
      }
      Add(clocks, row, "clock", reason);
    }
  }

  void Write(Part& part) const {
    for (const auto& [key, count] : counts_) {
      auto [job, attempt, rank, kind] = key;
      auto row = Part::RowOf<JoinGapRow>({.job = job, .attempt = attempt, .rank = rank});
      row.kind = part.pools.Intern(kind);
      row.total = count.total;
      row.joined = count.joined;
      row.missing = 0;
      auto& table = part.tables.Edit<JoinGapTable>();
      if (count.reasons.empty()) table.Add(row);
      for (const auto& [reason, missing] : count.reasons) {
        row.missing = missing;
        row.reason = part.pools.Intern(reason);
        table.Add(row);
      }
    }
  }

 private:
  const Model& model_;
  // By job, attempt, rank and kind.
  std::map<std::tuple<int32_t, int32_t, int32_t, std::string_view>, Count> counts_;
};

Status Run(const Model& model, AnalysisResult& result) {
  Counter counter(model);
  counter.AddCollectives();
  counter.AddRegions();
  counter.AddClocks();
  counter.Write(result.part);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "join_gaps",
               .sentence = "What could not be joined, and why?",
               .example = "(makes tables only)",
               .needs = kTableNames<RunClockTable>,
               .makes = kTableNames<JoinGapTable>,
               .uses = kTableNames<CollectiveJoinTable, RegionJoinTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::join_gaps

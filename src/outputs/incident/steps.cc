// The picture of a slow job: the last steps of every rank, and where their time goes. Inside of a
// step the parts are added up and stand in a fixed order, not in the order in which they ran.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "outputs/incident/gather.h"
#include "tables/profile_step.h"
#include "tables/timeline_clock.h"

namespace debrief::incident {

namespace {

constexpr size_t kMostSteps = 6;

class StepRows {
 public:
  StepRows(const Model& model, const Finding& finding)
      : model_(model), finding_(finding), steps_(model.tables.Get<ProfileStepTable>()) {}

  Incident Make() {
    ChooseSteps();
    Incident incident{.job = finding_.job, .title = "Steps by rank, and where their time goes"};
    incident.is_slow = true;
    for (auto& [rank, rows] : rows_of_) AddRow(rank, rows, incident);
    if (incident.rows.empty()) return {};
    incident.zero = incident.from;
    incident.notes.emplace_back(
        "Inside a step each part is the sum of its times; the order is not that in which they "
        "ran.");
    FoldRows(incident.from, incident.to, incident.rows);
    return incident;
  }

 private:
  bool IsOurs(size_t row) const {
    return (finding_.job == kNone32 || steps_.job[row] == finding_.job) &&
           (finding_.attempt == kNone32 || steps_.attempt[row] == finding_.attempt) &&
           steps_.rank[row] != kNone32 && steps_.start_ns[row] != kNone64 &&
           steps_.duration_ns[row] > 0;
  }

  int64_t NumberOf(size_t row) const {
    return steps_.label[row] == kNone64 ? steps_.step[row] : steps_.label[row];
  }

  // The last few that any rank has.
  void ChooseSteps() {
    std::set<int64_t> numbers;
    for (size_t row = 0; row < steps_.size(); ++row) {
      if (IsOurs(row)) numbers.insert(NumberOf(row));
    }
    while (numbers.size() > kMostSteps) numbers.erase(numbers.begin());
    for (size_t row = 0; row < steps_.size(); ++row) {
      if (IsOurs(row) && numbers.contains(NumberOf(row))) rows_of_[steps_.rank[row]].push_back(row);
    }
  }

  int64_t OffsetOf(int32_t input) const {
    const auto& clocks = model_.tables.Get<TimelineClockTable>();
    for (size_t row = 0; row < clocks.size(); ++row) {
      if (clocks.input[row] == input && clocks.offset_ns[row] != kNone64)
        return clocks.offset_ns[row];
    }
    return 0;
  }

  void AddRow(int32_t rank, std::vector<size_t>& rows, Incident& incident) {
    Row row{.ranks = {rank}, .is_blamed = false, .spans = {}, .marks = {}};
    row.is_blamed = finding_.role == Role::kCause &&
                    std::binary_search(finding_.ranks.begin(), finding_.ranks.end(), rank);
    const int64_t offset = OffsetOf(steps_.input[rows.front()]);
    std::sort(rows.begin(), rows.end(),
              [&](size_t a, size_t b) { return steps_.start_ns[a] < steps_.start_ns[b]; });
    int64_t free = INT64_MIN;
    for (size_t step : rows) {
      const int64_t start = std::max(steps_.start_ns[step] + offset, free);
      AddStep(step, start, row);
      free = start + steps_.duration_ns[step];
      incident.from = incident.from == 0 ? start : std::min(incident.from, start);
      incident.to = std::max(incident.to, free);
    }
    incident.rows.push_back(std::move(row));
  }

  void AddStep(size_t step, int64_t start, Row& row) const {
    const std::array<std::pair<int64_t, Activity>, 4> parts = {
        {{steps_.compute_ns[step], Activity::kComputing},
         {steps_.exposed_memory_ns[step], Activity::kCopying},
         {steps_.exposed_communication_ns[step], Activity::kCollective},
         {steps_.idle_ns[step], Activity::kIdle}}};
    row.marks.push_back({start, MarkKind::kStep, fmt::format("step {}", NumberOf(step))});
    int64_t at = start;
    for (auto [length, activity] : parts) {
      if (length <= 0) continue;
      row.spans.push_back({at, at + length, activity, std::string(StepWords(activity))});
      at += length;
    }
  }

  static std::string_view StepWords(Activity activity) {
    switch (activity) {
      case Activity::kComputing:
        return "computing";
      case Activity::kCopying:
        return "copies";
      case Activity::kCollective:
        return "exposed communication";
      default:
        return "GPU idle";
    }
  }

  const Model& model_;
  const Finding& finding_;
  const ProfileStepTable& steps_;
  std::map<int32_t, std::vector<size_t>> rows_of_;  // by rank
};

}  // namespace

Incident StepsIncident(const Model& model, const Finding& finding) {
  return StepRows(model, finding).Make();
}

}  // namespace debrief::incident

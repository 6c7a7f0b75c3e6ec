// The slowest timeline of a report against the fastest: `debrief PATH --with profile_diff`.
#include "outputs/output.h"

#include <algorithm>

#include "base/bytes/growing_file.h"
#include "outputs/terminal/profile_diff/profile_diff.h"
#include "outputs/timeline_merge.h"
#include "tables/timeline.h"

namespace debrief::outputs::profile_diff {

namespace {

struct Candidate {
  int32_t input = kNone32;
  std::string name;
  int64_t mean_ns = 0;
};

// Timelines with work on a device, the fastest first.
std::vector<Candidate> Candidates(const Model& model, Unit unit) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  std::vector<Candidate> found;
  for (size_t row = 0; row < timelines.size(); ++row) {
    const int32_t input = timelines.input[row], rank = timelines.rank[row];
    const Side side = SideOf({model, {input}}, unit);
    if (side.kernels.empty()) continue;
    found.push_back(
        {input, RankName({.input = input, .rank = rank}), side.total.total_ns / side.samples});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.mean_ns < b.mean_ns; });
  return found;
}

std::string SlowestAgainstFastest(const Model& model) {
  std::vector<Candidate> found = Candidates(model, Unit::kStep);
  if (found.size() < 2) found = Candidates(model, Unit::kTimeline);
  if (found.size() < 2) return "There are no two profiles with work on a device to compare.\n";
  const Candidate &fastest = found.front(), &slowest = found.back();
  auto diff = DiffProfiles({model, {fastest.input}}, {model, {slowest.input}});
  if (!diff.ok()) return diff.status().message() + "\n";
  return DiffText(diff.value(),
                  {.name_a = fastest.name, .name_b = slowest.name, .rows = 100, .width = 160});
}

Status Write(const Model& model, const OutputContext& context) {
  return WriteFileAtomically(context.folder + "/profile_diff.txt", SlowestAgainstFastest(model));
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"profile_diff", "why the slowest profiled rank takes longer than the fastest, as text",
       "profile_diff.txt", kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::profile_diff

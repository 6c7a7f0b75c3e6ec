#include "analyses/profile/overlap/kernel_types.h"

#include <algorithm>
#include <array>
#include <string>

#include "analyses/profile/overlap/sweep.h"
#include "tables/profile_kernel_types.h"

namespace debrief::analyses::profile_overlap {

namespace {

using timeline::TimelineView;
using Names = std::array<std::string_view, 3>;

constexpr Names kNames = {"compute", "communication", "memory"};
constexpr Names kHtaNames = {"COMPUTATION", "COMMUNICATION", "MEMORY"};

// "A overlapping B".
std::string LabelOf(int64_t set, const Names& names) {
  std::string label;
  for (size_t kind = 0; kind < names.size(); ++kind) {
    if ((set & (int64_t{1} << kind)) == 0) continue;
    if (!label.empty()) label += " overlapping ";
    label += names[kind];
  }
  return label;
}

// The longest first.
std::vector<std::pair<std::string, int64_t>> Labelled(const std::map<int64_t, int64_t>& sets,
                                                      const Names& names) {
  std::map<std::string, int64_t> by_label;
  for (const auto& [set, time] : sets) by_label[LabelOf(set, names)] += time;
  std::vector<std::pair<std::string, int64_t>> labelled(by_label.begin(), by_label.end());
  std::stable_sort(labelled.begin(), labelled.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return labelled;
}

std::vector<ProfileKernelTypesRow> RowsOf(const TimelineView& view, std::string_view definition,
                                          const std::map<int64_t, int64_t>& sets,
                                          const Names& names, Part& part) {
  std::vector<ProfileKernelTypesRow> rows;
  int64_t all = 0;
  for (const auto& [set, time] : sets) all += time;
  for (const auto& [label, time] : Labelled(sets, names)) {
    auto row = Part::RowOf<ProfileKernelTypesRow>(view.who);
    row.input = view.who.input;
    row.definition = part.pools.Intern(definition);
    row.kernel_type = part.pools.Intern(label);
    row.time_ns = time;
    row.share_pct = static_cast<double>(time) / static_cast<double>(all) * 100;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

void AddKernelTypes(const TimelineView& view, const timeline::DeviceWorks& works, Part& part) {
  timeline::ClassTimes times = ClassTimesOf(works.works);
  auto sets = TimeOfSets({times.compute, times.communication, times.memory});
  for (const auto& row : RowsOf(view, "debrief", sets, kNames, part))
    part.tables.Edit<ProfileKernelTypesTable>().Add(row);
}

void AddHtaKernelTypes(const TimelineView& view, const timeline::HtaRows& rows, Part& part) {
  auto sets = TimeOfSets({HtaMerged(rows, timeline::HtaType::kComputation),
                          HtaMerged(rows, timeline::HtaType::kCommunication),
                          HtaMerged(rows, timeline::HtaType::kMemory)});
  for (auto row : RowsOf(view, "hta", sets, kHtaNames, part)) {
    row.time_ns *= 1000;
    row.share_pct = timeline::RoundedAsPandas(row.share_pct, 1);
    part.tables.Edit<ProfileKernelTypesTable>().Add(row);
  }
}

}  // namespace debrief::analyses::profile_overlap

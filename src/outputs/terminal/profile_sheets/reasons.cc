#include "outputs/terminal/profile_sheets/reasons.h"

#include <fmt/format.h>

#include "outputs/terminal/profile_sheets/rows.h"

namespace debrief::outputs::profile_sheets {

namespace {

// A table is declared in the folder of the analysis that makes it ("analyses/profile/idle"); those
// of model/timeline are made by the analysis that their comment there names.
std::string_view MakerOf(std::string_view table) {
  if (table == "timeline_step") return "timeline_steps";
  if (table == "timeline_clock") return "timeline_clock";
  for (const TableInfo* info : AllTables()) {
    if (info->name == table && info->owner.starts_with("analyses/"))
      return info->owner.substr(std::string_view("analyses/").size());
  }
  return {};
}

}  // namespace

std::string WhyEmpty(const Model& model, std::string_view table) {
  std::string_view maker = MakerOf(table);
  for (const AnalysisOutcome& outcome : model.analyses) {
    if (outcome.name != maker) continue;
    if (outcome.state == AnalysisOutcome::State::kRan)
      return "nothing of this kind is in the inputs";
    return outcome.reason;
  }
  return "nothing of this kind is in the inputs";
}

}  // namespace debrief::outputs::profile_sheets

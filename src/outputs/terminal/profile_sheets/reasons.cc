#include "outputs/terminal/profile_sheets/reasons.h"

#include <algorithm>

namespace debrief::outputs::profile_sheets {

std::string WhyEmpty(const Model& model, std::string_view table) {
  for (const AnalysisOutcome& outcome : model.analyses) {
    if (std::find(outcome.makes.begin(), outcome.makes.end(), table) == outcome.makes.end())
      continue;
    if (outcome.state != AnalysisOutcome::State::kRan) return outcome.reason;
  }
  return "nothing of this kind is in the inputs";
}

}  // namespace debrief::outputs::profile_sheets

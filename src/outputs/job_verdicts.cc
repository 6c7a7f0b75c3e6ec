#include "outputs/job_verdicts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tables/job.h"

namespace debrief {

namespace {

// By a finding that is shown: where only some rules are, what follows from a finding of another one
// has no cause to stand under.
std::set<size_t> ExplainedBySomething(const Model& model, std::string_view rules) {
  std::set<size_t> explained;
  for (const Finding& finding : model.findings) {
    if (std::string_view(finding.rule).starts_with(rules))
      explained.insert(finding.explains.begin(), finding.explains.end());
  }
  return explained;
}

// Smaller is worse: no findings is best of all, then by the finding that is told first.
auto Badness(const Model& model, const JobVerdict& verdict) {
  if (verdict.findings.empty()) return std::make_tuple(true, 0, size_t{0});
  size_t first = verdict.findings.front();
  return std::make_tuple(false, -static_cast<int>(model.findings[first].severity), first);
}

}  // namespace

std::vector<JobVerdict> JobVerdicts(const Model& model, std::string_view rules) {
  const auto& jobs = model.tables.Get<JobTable>();
  std::vector<JobVerdict> verdicts;
  std::map<int32_t, size_t> place;
  for (size_t i = 0; i < jobs.size(); ++i) {
    place[jobs.job[i]] = verdicts.size();
    verdicts.push_back({.job = jobs.job[i], .name = std::string(model.pools.Text(jobs.name[i]))});
  }
  std::set<size_t> explained = ExplainedBySomething(model, rules);
  for (bool folded : {false, true}) {
    for (size_t i = 0; i < model.findings.size(); ++i) {
      const Finding& finding = model.findings[i];
      bool under_cause = finding.role == Role::kConsequence && explained.contains(i);
      if (under_cause != folded || !std::string_view(finding.rule).starts_with(rules)) continue;
      bool of_the_only_job = finding.job == kNone32 && jobs.size() == 1;
      int32_t job = of_the_only_job ? jobs.job[0] : finding.job;
      auto [found, is_new] = place.try_emplace(job, verdicts.size());
      if (is_new) verdicts.push_back({.job = job, .name = "not assigned to a job"});
      JobVerdict& verdict = verdicts[found->second];
      verdict.findings.push_back(i);
      verdict.told += folded ? 0 : 1;
    }
  }
  std::stable_sort(verdicts.begin(), verdicts.end(), [&](const JobVerdict& a, const JobVerdict& b) {
    return Badness(model, a) < Badness(model, b);
  });
  return verdicts;
}

}  // namespace debrief

#include "model/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace debrief {

namespace {

// Smaller is more important. Causes first, so that a cause always stands before its consequences.
auto Importance(const Finding& finding) {
  return std::make_tuple(static_cast<int>(finding.role), -static_cast<int>(finding.severity),
                         -finding.confidence, finding.job, finding.attempt,
                         std::string_view(finding.rule), std::string_view(finding.headline));
}

}  // namespace

std::string_view RoleName(Role role) {
  switch (role) {
    case Role::kCause:
      return "cause";
    case Role::kConsequence:
      return "consequence";
    case Role::kObservation:
      return "observation";
  }
  return "observation";
}

void OrderFindings(std::vector<Finding>& findings) {
  std::vector<size_t> order(findings.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return Importance(findings[a]) < Importance(findings[b]);
  });
  std::vector<size_t> place(findings.size());
  for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;

  std::vector<Finding> sorted;
  sorted.reserve(findings.size());
  for (size_t from : order) {
    Finding& finding = sorted.emplace_back(std::move(findings[from]));
    for (size_t& explained : finding.explains) explained = place[explained];
    std::sort(finding.explains.begin(), finding.explains.end());
    finding.id = fmt::format("f{}", sorted.size());
  }
  findings = std::move(sorted);
}

}  // namespace debrief

// Matrix products far from the peak of the device because of one odd size: matrix units read 16
// bytes at a time, and sizes that are no multiple of that fall back to slow kernels. A hint, no
// judgement.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/profile/roofline/rows.h"
#include "base/text/units.h"

namespace debrief::analyses::profile_roofline {

namespace {

constexpr double kMuch = 0.1;            // of the GPU time of a rank
constexpr int64_t kLeastNs = 1'000'000;  // less is a test

// Of one attempt and size, over its ranks.
struct OddSize {
  OddProducts products;
  int64_t all_ns = 0;  // GPU time of these ranks
  std::set<int32_t> ranks;
};

Finding HintAt(std::pair<int32_t, int32_t> attempt, int64_t size, const OddSize& odd) {
  const OddProducts& products = odd.products;
  Finding finding;
  finding.rule = "profile.odd_size";
  finding.severity = Severity::kInfo;
  finding.role = Role::kObservation;
  std::tie(finding.job, finding.attempt) = attempt;
  finding.ranks.assign(odd.ranks.begin(), odd.ranks.end());
  const double efficiency = static_cast<double>(products.roof_ns) /
                            static_cast<double>(std::max<int64_t>(1, products.busy_ns));
  finding.headline = fmt::format(
      "Matrix products of size {} reach {:.1f} % of the GPU's roofline; {} could be saved", size,
      100 * efficiency, DurationText(products.save_ns));
  finding.evidence.push_back(
      {.text = fmt::format("they take {} of {} GPU time; {} is no multiple of 16 bytes",
                           DurationText(products.busy_ns), DurationText(odd.all_ns), size),
       .table = "profile_roofline",
       .rows = {products.row}});
  finding.confidence = 0.7;
  finding.why =
      "matrix units take sizes in steps of 16 bytes; others run on slower kernels. It is GPU "
      "time: a step that waits for its host gets no shorter";
  finding.next_step = "Pad that size (for example the vocabulary) to a multiple of 64.";
  return finding;
}

}  // namespace

void AddOddSizes(const std::vector<timeline::TimelineView>& views,
                 const std::vector<RoofSummary>& summaries, std::vector<Finding>& findings) {
  std::map<std::pair<int32_t, int32_t>, std::map<int64_t, OddSize>> attempts;
  for (size_t i = 0; i < views.size(); ++i) {
    const Identity& who = views[i].who;
    for (const auto& [size, products] : summaries[i].odd) {
      const bool is_much = static_cast<double>(products.save_ns) >=
                           kMuch * static_cast<double>(summaries[i].busy_ns);
      if (!is_much || products.save_ns < kLeastNs) continue;
      OddSize& odd = attempts[{who.job, who.attempt}][size];
      odd.products.save_ns += products.save_ns;
      odd.products.busy_ns += products.busy_ns;
      odd.products.roof_ns += products.roof_ns;
      if (odd.all_ns == 0) odd.products.row = products.row;
      odd.all_ns += summaries[i].busy_ns;
      if (who.rank != kNone32) odd.ranks.insert(who.rank);
    }
  }
  for (const auto& [attempt, sizes] : attempts) {
    const auto most = std::ranges::max_element(
        sizes, {}, [](const auto& each) { return each.second.products.save_ns; });
    findings.push_back(HintAt(attempt, most->first, most->second));
  }
}

}  // namespace debrief::analyses::profile_roofline

#include "analyses/profile/ranks/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/rank_list.h"

namespace debrief::analyses::profile_ranks {

namespace {

// In tenths, as it is printed; what rounds to nothing is 0 and not -0.
double Ms(int64_t ns) { return std::round(static_cast<double>(ns) / 1e5) / 10 + 0.0; }

// Where most of the delay is; null when there is none.
const std::pair<const Where, LateAt>* Worst(const Delays& delays) {
  auto worst = std::max_element(
      delays.where.begin(), delays.where.end(),
      [](const auto& a, const auto& b) { return a.second.delay_ns < b.second.delay_ns; });
  return worst == delays.where.end() ? nullptr : &*worst;
}

GroupRef GroupOf(const Model& model, const Where& where) {
  GroupRef group{.name = std::string(model.pools.Text(where.group_name)),
                 .desc = std::string(model.pools.Text(where.group_desc)),
                 .ranks = {}};
  for (int64_t rank : model.pools.lists.Get(where.members))
    group.ranks.push_back(static_cast<int32_t>(rank));
  return group;
}

std::string GroupInWords(const GroupRef& group) {
  const std::string& name = group.desc.empty() ? group.name : group.desc;
  if (group.ranks.empty()) return name;
  return fmt::format("{} [{}]", name, FoldNumbers(group.ranks));
}

std::string_view Period(const Case& each) {
  return each.windows->from_steps ? "a step" : "in the recording";
}

std::string Because(const Case& each) {
  switch (each.reason) {
    case Reason::kGpu:
      return fmt::format("because its GPU works {:.1f} ms longer {} than those of the other ranks",
                         Ms(each.excess_compute_ns), Period(each));
    case Reason::kData:
      return fmt::format(
          "because its host loads data {:.1f} ms longer {} than those of the other ranks",
          Ms(each.excess_data_ns), Period(each));
    case Reason::kHost:
      return fmt::format(
          "because its host takes {:.1f} ms longer {} than those of the other ranks; its GPU "
          "works no longer",
          Ms(each.excess_host_ns), Period(each));
    case Reason::kUnknown:
    case Reason::kNone:
      break;
  }
  return fmt::format("again and again, {:.1f} ms in all; neither its host nor its GPU works longer",
                     Ms(each.delays.own_ns));
}

std::string NextStep(Reason reason) {
  switch (reason) {
    case Reason::kGpu:
      return "Compare the kernels of this rank with those of a peer: more work, or a slow GPU "
             "(clocks, other jobs on it)?";
    case Reason::kData:
      return "Look at the data loader of this rank: storage, workers, uneven samples?";
    case Reason::kHost:
      return "Look at what the host of this rank does between its calls: Python, input, garbage "
             "collection, other processes on its cores?";
    default:
      return "Look at the timeline of this rank before these collectives, beside one of its peers.";
  }
}

void AddEvidence(const Model& model, const RankKey& key, const Case& each, int64_t row,
                 Finding& finding) {
  finding.evidence.push_back(
      {.text = fmt::format("rank {}: reason {}; beyond the median of the other ranks {}: host "
                           "{:.1f} ms, GPU {:.1f} ms, data loading {:.1f} ms",
                           key.rank, ReasonName(each.reason), Period(each), Ms(each.excess_host_ns),
                           Ms(each.excess_compute_ns), Ms(each.excess_data_ns)),
       .table = "profile_rank",
       .rows = {row}});
  const auto* worst = Worst(each.delays);
  if (worst == nullptr) return;
  GroupRef group = GroupOf(model, worst->first);
  finding.evidence.push_back(
      {.text =
           fmt::format("{} of {}: the others waited {:.1f} ms for it, at {} of the {} "
                       "collectives of the rank",
                       model.pools.Text(worst->first.op), GroupInWords(group),
                       Ms(worst->second.delay_ns), worst->second.times, each.delays.collectives),
       .table = "profile_collective_match",
       .rows = worst->second.matches});
  finding.op = std::string(model.pools.Text(worst->first.op));
  finding.groups.push_back(std::move(group));
}

}  // namespace

Finding StragglerFinding(const Model& model, const RankKey& key, const Case& each, int64_t row) {
  Finding finding;
  finding.rule = "profile.straggler";
  finding.severity = Severity::kWarning;
  finding.role = Role::kCause;
  finding.job = key.job;
  finding.attempt = key.attempt;
  finding.ranks = {key.rank};
  AddEvidence(model, key, each, row, finding);
  finding.headline = fmt::format("Rank {} comes late to collectives {}", key.rank, Because(each));
  bool known = each.reason != Reason::kUnknown;
  finding.confidence = known ? (60 + 30 * each.share_most) / 100 : 0.5;
  finding.why = fmt::format(
      "it came last to {} of {} collectives, {:.1f} ms late of its own doing; {}",
      each.delays.times_last, each.delays.collectives, Ms(each.delays.own_ns),
      known ? fmt::format("it has the longest such time of all ranks in {:.0f} % of the steps",
                          each.share_most * 100)
            : "no other rank is late half as much");
  finding.next_step = NextStep(each.reason);
  return finding;
}

}  // namespace debrief::analyses::profile_ranks

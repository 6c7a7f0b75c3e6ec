// Where does the time of each rank go, and which rank do the others wait for?
//
//   model/timeline/rank_windows.h   time of host and device, step by step
//   verdict.h   who arrives late at matched collectives by its own doing, and both compared with
//   the
//               other ranks
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyses/analysis.h"
#include "analyses/profile/ranks/verdict.h"
#include "base/stats/statistics.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "model/finding.h"
#include "model/timeline/view.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/profile_rank.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_ranks {

namespace {

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
  return each.windows->from_steps ? "per step" : "in the recording";
}

// Of a reason that is there in some steps only.
std::string BecauseSometimes(const Case& each) {
  const std::string how_much = DurationText(each.excess_sometimes_ns);
  const std::string where =
      fmt::format("in {} of {} steps", each.steps_sometimes, each.windows->windows.size());
  switch (each.reason) {
    case Reason::kGpu:
      return fmt::format("its GPU computes {} longer {} than the others", how_much, where);
    case Reason::kData:
      return fmt::format("its data loading takes {} longer {} than the others'", how_much, where);
    case Reason::kCompile:
      return fmt::format("it compiles for {} {}, longer than the others", how_much, where);
    default:
      return fmt::format("its host takes {} longer {} than the others", how_much, where);
  }
}

std::string Because(const Case& each) {
  if (each.steps_sometimes > 0) return BecauseSometimes(each);
  switch (each.reason) {
    case Reason::kGpu:
      return fmt::format("its GPU computes {} longer {} than those of the other ranks",
                         DurationText(each.excess_compute_ns), Period(each));
    case Reason::kData:
      return fmt::format("its data loading takes {} longer {} than on the other ranks",
                         DurationText(each.excess_data_ns), Period(each));
    case Reason::kHost:
      return fmt::format("its host takes {} longer {} than the others; its GPU is not slower",
                         DurationText(each.excess_host_ns), Period(each));
    case Reason::kCompile:
    case Reason::kUnknown:
    case Reason::kNone:
      break;
  }
  return fmt::format(
      "arrives last at {} of {} profiled collectives; neither its host nor GPU is slower",
      each.delays.times_last, each.delays.collectives);
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
    case Reason::kCompile:
      return "See why this rank compiles again: TORCH_LOGS=recompiles, or TORCH_TRACE and debrief "
             "compile.";
    default:
      return "Look at the timeline of this rank before these collectives, beside one of its peers.";
  }
}

std::string HowItCompares(const Case& each) {
  if (each.reason == Reason::kUnknown) return "no other rank is late half as much";
  if (each.from_all)
    return "hosts run ahead of their devices, so all steps together are compared and none alone";
  return fmt::format("its own part is the longest of all ranks in {:.0f} % of the steps",
                     each.share_most * 100);
}

void AddEvidence(const Model& model, const Case& each, int64_t row, Finding& finding) {
  finding.evidence.push_back(
      {.text = fmt::format("compared with the median rank, {}: host {}, GPU {}, data loading {}",
                           Period(each), SignedDurationText(each.excess_host_ns),
                           SignedDurationText(each.excess_compute_ns),
                           SignedDurationText(each.excess_data_ns)),
       .table = "profile_rank",
       .rows = {row}});
  const auto* worst = Worst(each.delays);
  if (worst == nullptr) return;
  GroupRef group = GroupOf(model, worst->first);
  finding.evidence.push_back(
      {.text = fmt::format("its delay is largest before {} of {}: {} in {}",
                           model.pools.Text(worst->first.op), GroupInWords(group),
                           DurationText(worst->second.delay_ns),
                           Plural(static_cast<size_t>(worst->second.times), "call")),
       .table = "profile_collective_match",
       .rows = worst->second.matches});
  finding.op = std::string(model.pools.Text(worst->first.op));
  finding.groups.push_back(std::move(group));
}

// `row`: of the rank in profile_rank.
Finding StragglerFinding(const Model& model, const RankKey& key, const Case& each, int64_t row) {
  Finding finding;
  finding.rule = "profile.straggler";
  finding.severity = Severity::kWarning;
  finding.role = Role::kCause;
  finding.job = key.job;
  finding.attempt = key.attempt;
  finding.ranks = {key.rank};
  AddEvidence(model, each, row, finding);
  finding.headline = fmt::format("Rank {} is a straggler: {}", key.rank, Because(each));
  bool known = each.reason != Reason::kUnknown;
  finding.confidence = known ? (60 + 30 * each.share_most) / 100 : 0.5;
  finding.why = fmt::format("it arrives last at {} of {} profiled collectives; {}",
                            each.delays.times_last, each.delays.collectives, HowItCompares(each));
  finding.next_step = NextStep(each.reason);
  return finding;
}

// A rank may have left several files; its windows are those of all of them.
struct Rank {
  Identity who;  // of the first file
  RankWindows windows;
};

// What all timelines of a job show, on the clock of each: recordings that begin or end apart could
// not be compared otherwise. Only where there are no steps.
class CommonTime {
 public:
  explicit CommonTime(const Model& model) : timelines_(model.tables.Get<TimelineTable>()) {
    const auto& clocks = model.tables.Get<TimelineClockTable>();
    for (size_t row = 0; row < timelines_.size(); ++row) {
      timeline::RowRange clock = timeline::RowsOf(clocks, timelines_.input[row]);
      int64_t offset = clock.size() == 1 ? clocks.offset_ns[clock.begin] : kNone64;
      offsets_.push_back(offset == kNone64 ? 0 : offset);
      if (timelines_.start_ns[row] == kNone64) continue;
      Interval own{timelines_.start_ns[row] + offsets_[row],
                   timelines_.end_ns[row] + offsets_[row]};
      auto [common, is_new] = common_.try_emplace(JobOf(row), own);
      common->second.begin = std::max(common->second.begin, own.begin);
      common->second.end = std::min(common->second.end, own.end);
    }
  }

  Interval Of(size_t row) const {
    auto common = common_.find(JobOf(row));
    if (common == common_.end()) return {};
    return {common->second.begin - offsets_[row], common->second.end - offsets_[row]};
  }

 private:
  std::pair<int32_t, int32_t> JobOf(size_t row) const {
    return {timelines_.job[row], timelines_.attempt[row]};
  }

  const TimelineTable& timelines_;
  std::vector<int64_t> offsets_;  // by row
  std::map<std::pair<int32_t, int32_t>, Interval> common_;
};

std::map<RankKey, std::vector<Rank>> MeasureRanks(const Model& model) {
  timeline::DeviceClasses classes(model);
  timeline::NameMarks marks(model);
  CommonTime common(model);
  std::map<RankKey, std::vector<Rank>> ranks;
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    std::vector<Rank>& same = ranks[{view.who.job, view.who.attempt, view.who.rank}];
    RankWindows measured = timeline::MeasureRank(view, classes, marks, common.Of(view.row));
    bool joins = !same.empty() && view.who.rank != kNone32 && measured.from_steps &&
                 same[0].windows.from_steps;
    if (!joins) {
      same.push_back({view.who, std::move(measured)});
      continue;
    }
    std::vector<Window>& all = same[0].windows.windows;
    all.insert(all.end(), measured.windows.begin(), measured.windows.end());
    same[0].windows.compute_ns += measured.compute_ns;
  }
  return ranks;
}

int64_t MedianOf(const RankWindows& windows, int64_t Window::* measure) {
  if (windows.windows.empty()) return kNone64;
  std::vector<int64_t> values;
  for (const Window& window : windows.windows) values.push_back(window.*measure);
  return Median(std::move(values));
}

int64_t AddRow(const Rank& rank, const Case& each, Part& part) {
  auto row = Part::RowOf<ProfileRankRow>(rank.who);
  const RankWindows& windows = rank.windows;
  row.windows = static_cast<int64_t>(windows.windows.size());
  row.window_source = part.pools.Intern(windows.from_steps ? "step" : "recording");
  row.step_ns = MedianOf(windows, &Window::length_ns);
  row.host_busy_ns = MedianOf(windows, &Window::host_busy_ns);
  row.host_own_ns = MedianOf(windows, &Window::host_own_ns);
  row.compute_ns = MedianOf(windows, &Window::compute_ns);
  row.communication_ns = MedianOf(windows, &Window::communication_ns);
  row.idle_ns = MedianOf(windows, &Window::idle_ns);
  row.data_loading_ns = MedianOf(windows, &Window::data_ns);
  row.collectives = each.delays.collectives;
  row.times_last = each.delays.times_last;
  row.times_first = each.delays.times_first;
  row.wait_ns = each.delays.wait_ns;
  if (each.delays.times_last > 0)
    row.caused_wait_ns = each.delays.caused_ns / each.delays.times_last;
  row.own_delay_ns = each.delays.own_ns;
  row.times_late = each.delays.times_late;
  row.excess_host_ns = each.excess_host_ns;
  row.excess_compute_ns = each.excess_compute_ns;
  row.excess_data_ns = each.excess_data_ns;
  row.straggler = each.reason != Reason::kNone;
  if (row.straggler) row.reason = part.pools.Intern(ReasonName(each.reason));
  auto& table = part.tables.Edit<ProfileRankTable>();
  table.Add(row);
  return static_cast<int64_t>(table.size()) - 1;
}

// Ranks [first, last) are those of one job.
using RankIterator = std::map<RankKey, std::vector<Rank>>::const_iterator;

void ReportJob(const Model& model, RankIterator first, RankIterator last,
               const std::map<RankKey, Delays>& delays, AnalysisResult& result) {
  std::vector<Case> cases;
  for (auto rank = first; rank != last; ++rank) {
    if (rank->first.rank == kNone32) continue;
    Case& each = cases.emplace_back();
    each.windows = &rank->second[0].windows;
    auto found = delays.find(rank->first);
    if (found != delays.end()) each.delays = found->second;
  }
  Judge(cases);
  size_t next = 0;
  for (auto rank = first; rank != last; ++rank) {
    bool compared = rank->first.rank != kNone32;
    for (const Rank& file : rank->second) {
      bool judged = compared && &file == &rank->second[0];
      Case plain;
      const Case& each = judged ? cases[next] : plain;
      int64_t row = AddRow(file, each, result.part);
      if (each.reason != Reason::kNone)
        result.findings.push_back(StragglerFinding(model, rank->first, each, row));
    }
    if (compared) ++next;
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  std::map<RankKey, std::vector<Rank>> ranks = MeasureRanks(model);
  std::map<RankKey, Delays> delays = FindDelays(model);
  for (auto first = ranks.cbegin(); first != ranks.cend();) {
    auto last = first;
    while (last != ranks.cend() && last->first.job == first->first.job &&
           last->first.attempt == first->first.attempt)
      ++last;
    ReportJob(model, first, last, delays, result);
    first = last;
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_ranks",
               .sentence = "Where does the time of each rank go, and which do the others wait for?",
               .example =
                   "Rank 4 is a straggler: its GPU computes 282.7 ms longer per step than those of "
                   "the other ranks",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<ProfileRankTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineStepTable, TimelineClockTable,
                                   ProfileCollectiveTable, ProfileCollectiveMatchTable,
                                   ProfileCollectiveWaitTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_ranks

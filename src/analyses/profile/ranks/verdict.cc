#include "analyses/profile/ranks/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/stats/statistics.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::profile_ranks {

namespace {

constexpr size_t kMatchesKept = 16;

// Time since the rank communicated last, by number of the collective; kNone64 for the first.
std::vector<int64_t> FindGaps(const Model& model) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::vector<int64_t> gaps(table.size(), kNone64);
  int64_t last_end = kNone64;
  for (size_t row = 0; row < table.size(); ++row) {
    if (row > 0 && table.input[row] != table.input[row - 1]) last_end = kNone64;
    if (last_end != kNone64) gaps[row] = std::max<int64_t>(0, table.start_ns[row] - last_end);
    last_end = std::max(last_end, table.start_ns[row] + table.duration_ns[row]);
  }
  return gaps;
}

class Adder {
 public:
  explicit Adder(const Model& model)
      : model_(model),
        matches_(model.tables.Get<ProfileCollectiveMatchTable>()),
        waits_(model.tables.Get<ProfileCollectiveWaitTable>()),
        gaps_(FindGaps(model)) {}

  // Rows [begin, end) of the waits are those of one match.
  void Add(size_t begin, size_t end) {
    auto match = static_cast<size_t>(waits_.match[begin]);
    bool waits =
        matches_.synchronises[match] != 0 || model_.pools.Text(matches_.op[match]) == "send_recv";
    if (!waits || matches_.on_device[match] == 0) return;
    size_t last = begin;
    for (size_t row = begin; row < end; ++row) {
      if (waits_.start_ns[row] > waits_.start_ns[last]) last = row;
      Delays& delays = Of(row);
      ++delays.collectives;
      delays.wait_ns += waits_.wait_ns[row];
      if (waits_.rank[row] == matches_.first_rank[match]) ++delays.times_first;
    }
    AddLast(begin, end, last, match);
  }

  std::map<RankKey, Delays> Take() { return std::move(delays_); }

 private:
  Delays& Of(size_t row) {
    return delays_[{waits_.job[row], waits_.attempt[row], waits_.rank[row]}];
  }

  void AddLast(size_t begin, size_t end, size_t last, size_t match) {
    std::vector<int64_t> starts;
    std::vector<int64_t> gaps;
    int64_t waited = 0;
    for (size_t row = begin; row < end; ++row) {
      if (row == last) continue;
      starts.push_back(waits_.start_ns[row]);
      waited += waits_.wait_ns[row];
      int64_t gap = GapOf(row);
      if (gap != kNone64) gaps.push_back(gap);
    }
    Delays& delays = Of(last);
    ++delays.times_last;
    delays.caused_ns += waited / static_cast<int64_t>(starts.size());
    if (gaps.empty() || GapOf(last) == kNone64) return;
    int64_t late = waits_.start_ns[last] - Median(std::move(starts));
    int64_t own = std::min(late, GapOf(last) - Median(std::move(gaps)));
    if (own > 0) AddOwn(own, match, delays);
  }

  void AddOwn(int64_t own, size_t match, Delays& delays) {
    delays.own_ns += own;
    ++delays.times_late;
    LateAt& at = delays.where[{matches_.group_name[match], matches_.group_desc[match],
                               matches_.op[match], matches_.members[match]}];
    at.delay_ns += own;
    ++at.times;
    if (at.matches.size() < kMatchesKept) at.matches.push_back(static_cast<int64_t>(match));
  }

  int64_t GapOf(size_t row) const { return gaps_[static_cast<size_t>(waits_.collective[row])]; }

  const Model& model_;
  const ProfileCollectiveMatchTable& matches_;
  const ProfileCollectiveWaitTable& waits_;
  std::vector<int64_t> gaps_;
  std::map<RankKey, Delays> delays_;
};

constexpr double kSmallestShare = 0.05;  // of a step: less is not worth a warning
constexpr double kClear = 1.5;           // beyond the next rank
constexpr double kNoise = 3;             // times the deviation among the others
constexpr double kClearDelay = 2;        // the same when there is nothing but delays
constexpr int64_t kFewestDelays = 3;     // one late arrival is chance
constexpr size_t kMostShare = 4;         // at most one rank in four is a straggler
constexpr double kSure = 3;              // standard errors of the median over the steps
constexpr size_t kSeldom = 8;            // one step in so many
constexpr size_t kStepsToVary = 3;       // fewer do not tell how an excess varies

using Measure = int64_t Window::*;

// Own minus the median of the others, for each step of each rank.
class Comparison {
 public:
  Comparison(const std::vector<Case>& cases, Measure measure) : excess_(cases.size()) {
    std::map<int64_t, std::vector<std::pair<size_t, int64_t>>> steps;  // by key: rank and value
    for (size_t i = 0; i < cases.size(); ++i) {
      for (const Window& window : cases[i].windows->windows)
        steps[window.key].emplace_back(i, window.*measure);
    }
    for (const auto& [key, values] : steps) {
      if (values.size() > 1) AddStep(values);
    }
  }

  int64_t Excess(size_t rank) const {
    return excess_[rank].empty() ? kNone64 : Median(excess_[rank]);
  }

  // Whether it is more than how it varies from step to step: it is seldom as far below the others
  // as it is above them mostly, and lies beyond its own error. Of normal noise the standard error
  // of a median is 1.25 deviations by the root of the count, and a deviation 1.48 median ones.
  bool IsSure(size_t rank) const {
    const std::vector<int64_t>& steps = excess_[rank];
    if (steps.size() < kStepsToVary) return true;
    const int64_t median = Median(steps);
    const auto below =
        std::ranges::count_if(steps, [&](int64_t each) { return 2 * each <= -median; });
    if (static_cast<size_t>(below) * kSeldom > steps.size()) return false;
    const double error = 1.2533 * 1.4826 * static_cast<double>(MedianDeviation(steps)) /
                         std::sqrt(static_cast<double>(steps.size()));
    return static_cast<double>(median) >= kSure * error;
  }

  // What is beyond `least` in single steps, all of them together.
  struct Sum {
    int64_t ns = 0;
    size_t steps = 0;
  };
  Sum SumBeyond(size_t rank, int64_t least) const {
    Sum sum;
    for (int64_t each : excess_[rank]) {
      if (each < least) continue;
      sum.ns += each;
      ++sum.steps;
    }
    return sum;
  }

  // Share of its steps in which no rank has more.
  double ShareMost(size_t rank) const {
    auto most = most_.find(rank);
    if (excess_[rank].empty() || most == most_.end()) return 0;
    return static_cast<double>(most->second) / static_cast<double>(excess_[rank].size());
  }

 private:
  void AddStep(const std::vector<std::pair<size_t, int64_t>>& values) {
    std::vector<int64_t> sorted;
    for (const auto& [rank, value] : values) sorted.push_back(value);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [rank, value] : values) {
      excess_[rank].push_back(value - MedianWithout(sorted, value));
      if (value == sorted.back()) ++most_[rank];
    }
  }

  // Of sorted values with one `value` taken out.
  static int64_t MedianWithout(const std::vector<int64_t>& sorted, int64_t value) {
    auto taken =
        static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
    auto at = [&](size_t i) { return sorted[i < taken ? i : i + 1]; };
    size_t left = sorted.size() - 1;
    int64_t high = at(left / 2);
    int64_t low = left % 2 == 1 ? high : at(left / 2 - 1);
    return low + (high - low) / 2;
  }

  std::vector<std::vector<int64_t>> excess_;
  std::map<size_t, int64_t> most_;
};

int64_t StepOf(const std::vector<Case>& cases) {
  std::vector<int64_t> lengths;
  for (const Case& each : cases) {
    for (const Window& window : each.windows->windows) lengths.push_back(window.length_ns);
  }
  return Median(std::move(lengths));
}

// The ranks that stand out: ordered by falling value, those before the first drop by `clear`.
std::vector<size_t> StandOut(const std::vector<int64_t>& values, double clear, int64_t least) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != kNone64) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-values[a], a) < std::pair(-values[b], b);
  });
  size_t most = std::max<size_t>(1, values.size() / kMostShare);
  for (size_t i = 0; i < std::min(most, order.size()); ++i) {
    int64_t value = values[order[i]];
    if (value < std::max<int64_t>(1, least)) return {};
    int64_t next = i + 1 < order.size() ? std::max<int64_t>(0, values[order[i + 1]]) : 0;
    std::vector<int64_t> rest;
    for (size_t j = i + 1; j < order.size(); ++j) rest.push_back(values[order[j]]);
    double noise = kNoise * static_cast<double>(MedianDeviation(rest));
    if (static_cast<double>(value) >= std::max(clear * static_cast<double>(next), noise))
      return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i) + 1};
  }
  return {};
}

// Others did wait: about as long as the excess of one step, or for no other rank as long.
bool MadeOthersWait(const std::vector<Case>& cases, size_t rank, int64_t excess) {
  int64_t next = 0;
  for (size_t other = 0; other < cases.size(); ++other) {
    if (other != rank) next = std::max(next, cases[other].delays.own_ns);
  }
  int64_t own = cases[rank].delays.own_ns;
  return own > 0 &&
         (own >= excess / 2 || static_cast<double>(own) >= kClear * static_cast<double>(next));
}

void BlameExcess(std::vector<Case>& cases, const std::vector<int64_t>& excess, int64_t least,
                 const Comparison& comparison, Reason reason) {
  for (size_t rank : StandOut(excess, kClear, least)) {
    if (!comparison.IsSure(rank) || !MadeOthersWait(cases, rank, excess[rank])) continue;
    Case& each = cases[rank];
    // Two reasons at once: the larger one.
    if (each.reason == Reason::kGpu && each.excess_compute_ns > excess[rank]) continue;
    each.reason = reason;
    each.share_most = comparison.ShareMost(rank);
    if (reason == Reason::kHost && each.excess_data_ns * 2 >= excess[rank])
      each.reason = Reason::kData;
  }
}

// What is compared of ranks.
struct Comparisons {
  explicit Comparisons(const std::vector<Case>& cases)
      : host(cases, &Window::host_own_ns),
        compute(cases, &Window::compute_ns),
        data(cases, &Window::data_ns),
        compile(cases, &Window::compile_ns) {}
  Comparison host, compute, data, compile;
};

// Delays that come in some steps only leave no trace in medians: what did the rank take longer in
// these steps? `least`: of a step.
void FindReasonInSums(const Comparisons& all, size_t rank, int64_t least, Case& each) {
  const Comparison::Sum host = all.host.SumBeyond(rank, least);
  const Comparison::Sum compute = all.compute.SumBeyond(rank, least);
  const bool is_host = host.ns >= compute.ns;
  const Comparison::Sum& larger = is_host ? host : compute;
  if (larger.ns * 2 < each.delays.own_ns) return;
  each.reason = is_host ? Reason::kHost : Reason::kGpu;
  if (is_host && all.data.SumBeyond(rank, least).ns * 2 >= host.ns) each.reason = Reason::kData;
  if (is_host && all.compile.SumBeyond(rank, least).ns * 2 >= host.ns)
    each.reason = Reason::kCompile;
  each.excess_sometimes_ns = larger.ns;
  each.steps_sometimes = larger.steps;
  each.share_most = (is_host ? all.host : all.compute).ShareMost(rank);
}

// Hosts that never wait for their devices run ahead of them: windows of steps do not hold the work
// of these steps, but the recordings do, where they have as many steps as each other.
void FindReasonInAll(const std::vector<Case>& cases, Case& each) {
  const size_t steps = each.windows->windows.size();
  std::vector<int64_t> others;
  for (const Case& other : cases) {
    if (!other.windows->from_steps || other.windows->windows.size() != steps) return;
    if (&other != &each) others.push_back(other.windows->compute_ns);
  }
  const int64_t more = each.windows->compute_ns - Median(std::move(others));
  if (steps == 0 || more * 2 < each.delays.own_ns) return;
  each.reason = Reason::kGpu;
  each.excess_compute_ns = more / static_cast<int64_t>(steps);
  each.from_all = true;
}

void BlameDelays(std::vector<Case>& cases, const Comparisons& comparisons, int64_t step_ns) {
  std::vector<int64_t> delays;
  size_t windows = 0;
  for (const Case& each : cases) {
    delays.push_back(each.delays.own_ns);
    windows = std::max(windows, each.windows->windows.size());
  }
  auto all = static_cast<double>(step_ns) * static_cast<double>(windows);
  for (size_t rank : StandOut(delays, kClearDelay, static_cast<int64_t>(all * kSmallestShare))) {
    Case& each = cases[rank];
    if (each.reason != Reason::kNone || each.delays.times_late < kFewestDelays) continue;
    each.reason = Reason::kUnknown;
    const auto least = static_cast<int64_t>(static_cast<double>(step_ns) * kSmallestShare);
    FindReasonInSums(comparisons, rank, least, each);
    if (each.reason == Reason::kUnknown) FindReasonInAll(cases, each);
  }
}

}  // namespace

std::map<RankKey, Delays> FindDelays(const Model& model) {
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  Adder adder(model);
  for (size_t begin = 0; begin < waits.size();) {
    size_t end = begin;
    while (end < waits.size() && waits.match[end] == waits.match[begin]) ++end;
    if (end - begin > 1) adder.Add(begin, end);
    begin = end;
  }
  return adder.Take();
}

std::string_view ReasonName(Reason reason) {
  static constexpr std::string_view kNames[] = {"", "host", "gpu", "data", "host", "unknown"};
  return kNames[static_cast<size_t>(reason)];
}

void Judge(std::vector<Case>& cases) {
  if (cases.size() < 2) return;
  const Comparisons all(cases);
  std::vector<int64_t> host_excess;
  std::vector<int64_t> compute_excess;
  for (size_t rank = 0; rank < cases.size(); ++rank) {
    host_excess.push_back(cases[rank].excess_host_ns = all.host.Excess(rank));
    compute_excess.push_back(cases[rank].excess_compute_ns = all.compute.Excess(rank));
    cases[rank].excess_data_ns = all.data.Excess(rank);
  }
  int64_t step_ns = StepOf(cases);
  auto least = static_cast<int64_t>(static_cast<double>(step_ns) * kSmallestShare);
  BlameExcess(cases, compute_excess, least, all.compute, Reason::kGpu);
  BlameExcess(cases, host_excess, least, all.host, Reason::kHost);
  bool found = std::any_of(cases.begin(), cases.end(),
                           [](const Case& each) { return each.reason != Reason::kNone; });
  if (!found) BlameDelays(cases, all, step_ns);
}

}  // namespace debrief::analyses::profile_ranks

#include "accel/side_files/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "accel/names.h"
#include "accel/run.h"
#include "accel/stages/iterations.h"
#include "accel/stages/utilisation.h"
#include "base/stats/intervals.h"
#include "compat/acelyzer/pandas_text.h"
#include "compat/acelyzer/python_text.h"
#include "model/accel/dialect.h"
#include "torch/collective_names.h"

namespace debrief::accel {

namespace {

constexpr double kNsPerUs = 1000;

int64_t ToNs(double us) { return std::llround(us * kNsPerUs); }
double ToUs(int64_t ns) { return static_cast<double>(ns) / kNsPerUs; }

struct Work {
  std::vector<Interval> compute, communication;
  int64_t first = 0, last = 0;
  bool any = false;
};

// Slices of a collective, messages between devices, and kernels of the collective libraries.
bool Communicates(const Event& event, Run& run) {
  if (event.Has(key::kCollGroup) || IsCollective(event, run)) return true;
  const Arg* event_class = event.Find(key::kClass);
  if (event_class != nullptr && event_class->value().AsText(run.strings).starts_with("MAIU_")) {
    return true;
  }
  if (run.Traits(event).all_reduce) return true;
  return run.DialectOf(event) == Dialect::kTorch &&
         !timeline::PlainOp(run.Text(event.name)).empty();
}

ByValue<Work> Collect(const EventList& events, Run& run) {
  ByValue<Work> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X' || !IsDeviceEvent(event, run)) continue;
    const bool communicates = Communicates(event, run);
    if (!communicates && !IsKernel(event, run)) continue;
    Work& work = ranks[RankOf(event)];
    const Interval time{ToNs(event.ts), ToNs(event.end())};
    (communicates ? work.communication : work.compute).push_back(time);
    work.first = work.any ? std::min(work.first, time.begin) : time.begin;
    work.last = work.any ? std::max(work.last, time.end) : time.end;
    work.any = true;
  }
  return ranks;
}

// Lengths of a set inside of windows that come one behind the other.
class Walker {
 public:
  explicit Walker(const IntervalSet& set) : set_(set) {}

  int64_t Inside(Interval window) {
    while (at_ < set_.size() && set_[at_].end <= window.begin) ++at_;
    int64_t length = 0;
    for (size_t i = at_; i < set_.size() && set_[i].begin < window.end; ++i) {
      length += std::min(set_[i].end, window.end) - std::max(set_[i].begin, window.begin);
    }
    return length;
  }

 private:
  const IntervalSet& set_;
  size_t at_ = 0;
};

struct Window {
  std::string name;
  Interval time;
};

std::vector<Window> WindowsOf(const Work& work, const RankIterations* iterations) {
  std::vector<Window> windows;
  if (iterations == nullptr || iterations->starts.empty()) {
    windows.push_back({"all", {work.first, work.last}});
    return windows;
  }
  const std::vector<double>& starts = iterations->starts;
  if (work.first < ToNs(starts[0])) windows.push_back({"before", {work.first, ToNs(starts[0])}});
  for (size_t i = 0; i < starts.size(); ++i) {
    windows.push_back({std::to_string(i), {ToNs(starts[i]), ToNs(iterations->ends[i])}});
  }
  return windows;
}

std::vector<StepTime> Measure(Work& work, const std::vector<Window>& windows) {
  const IntervalSet compute = Union(std::move(work.compute));
  const IntervalSet communication = Union(std::move(work.communication));
  const IntervalSet both = Intersect(compute, communication);
  Walker compute_walk(compute), communication_walk(communication), both_walk(both);
  std::vector<StepTime> steps;
  for (const Window& window : windows) {
    const int64_t overlap = both_walk.Inside(window.time);
    const int64_t compute_only = compute_walk.Inside(window.time) - overlap;
    const int64_t communication_only = communication_walk.Inside(window.time) - overlap;
    const int64_t elapsed = window.time.length();
    steps.push_back({window.name, ToUs(elapsed), ToUs(compute_only), ToUs(overlap),
                     ToUs(communication_only),
                     ToUs(elapsed - compute_only - overlap - communication_only)});
  }
  return steps;
}

}  // namespace

std::vector<RankSteps> StepTimes(const EventList& events, Run& run) {
  std::vector<RankSteps> ranks;
  auto& iterations = run.Shared<IterationStats>().ranks;
  for (auto& [rank, work] : Collect(events, run)) {
    ranks.push_back({rank, Measure(work, WindowsOf(work, iterations.Find(rank)))});
  }
  std::stable_sort(ranks.begin(), ranks.end(), [&](const RankSteps& a, const RankSteps& b) {
    return PidBefore(a.rank, b.rank, run.strings);
  });
  return ranks;
}

namespace {

struct Rank {
  std::unordered_map<StringId, size_t> index;  // by name of the event
  std::unordered_map<std::string, size_t> by_name;
  std::vector<HostFunction> functions;
  TimeSpan span;
};

// Traces of torch have all that the host does; its runtime is a part.
bool IsOfRuntime(const Event& event, Run& run) {
  if (event.phase != 'X' || IsDeviceEvent(event, run)) return false;
  if (run.DialectOf(event) == Dialect::kFlex) return !event.Has(key::kCollDataSize);
  const std::string_view cat = run.Text(event.cat);
  return cat.ends_with("_runtime") || cat.ends_with("_driver") ||
         run.Text(event.name).starts_with("aiu");
}

std::string_view PhaseOf(std::string_view name, Dialect dialect) {
  for (const RuntimePhase& phase : RuntimePhases()) {
    if (name == (dialect == Dialect::kFlex ? phase.flex : phase.torch)) return phase.phase;
  }
  return name.starts_with("Compute of ") ? "node_compute" : "";
}

size_t IndexOf(const Event& event, Rank& rank, Run& run) {
  const auto [at, is_new] = rank.index.try_emplace(event.name, 0);
  if (!is_new) return at->second;
  const std::string name = WithPlaceholders(run.Text(event.name));
  const auto [named, is_new_name] = rank.by_name.try_emplace(name, rank.functions.size());
  at->second = named->second;
  if (is_new_name) {
    HostFunction& function = rank.functions.emplace_back();
    function.name = name;
    function.phase = PhaseOf(run.Text(event.name), run.DialectOf(event));
  }
  return at->second;
}

void Add(const Event& event, Rank& rank, Run& run) {
  HostFunction& function = rank.functions[IndexOf(event, rank, run)];
  function.calls += 1;
  function.total += event.dur;
  rank.span.Add(event);
}

}  // namespace

std::vector<HostFunction> HostFunctions(const EventList& events, Run& run) {
  ByValue<Rank> ranks;
  for (const Event& event : events) {
    if (IsOfRuntime(event, run)) Add(event, ranks[RankOf(event)], run);
  }
  std::vector<HostFunction> all;
  for (auto& [pid, rank] : ranks) {
    for (HostFunction& function : rank.functions) {
      function.rank = pid;
      function.share = rank.span.length() > 0 ? function.total / rank.span.length() : 0;
      all.push_back(std::move(function));
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const HostFunction& a, const HostFunction& b) {
    if (!(a.rank == b.rank)) return PidBefore(a.rank, b.rank, run.strings);
    return a.total > b.total;
  });
  return all;
}

namespace {

constexpr size_t kShownRows = 12;
constexpr char kValid[] = "yes";
constexpr char kWholePrograms[] = "autopilot: compute holds what programs wait for";

bool IsAutopilot(Run& run) {
  const std::vector<CompilerLog>& logs = run.Shared<Utilization>().info.logs;
  return std::any_of(logs.begin(), logs.end(),
                     [](const CompilerLog& log) { return log.autopilot; });
}

// Rows of values under the names of columns.
class RunTable {
 public:
  explicit RunTable(const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) columns_.push_back({std::string(name), {}});
  }

  RunTable& Text(std::string text) { return Put(Cell(std::move(text))); }
  RunTable& Integer(size_t value) { return Put(Cell(static_cast<int64_t>(value))); }
  RunTable& Number(double value, int digits = 3) { return Put(Cell(PythonRound(value, digits))); }

  void Write(std::string_view purpose, std::string_view title, Run& run) const {
    if (columns_[0].cells.empty()) return;
    run.side_files.push_back({SidePath(run.options, purpose, "csv"), CommaSeparated(columns_)});
    std::vector<Column> shown = columns_;
    for (Column& column : shown) {
      if (column.cells.size() > kShownRows) column.cells.resize(kShownRows, Cell(int64_t{0}));
    }
    const size_t rows = columns_[0].cells.size();
    std::string text = std::string(title) + "\n" + PandasText(shown);
    if (rows > kShownRows) text += "\n... " + std::to_string(rows - kShownRows) + " more rows";
    run.console.Info(text);
  }

 private:
  RunTable& Put(Cell cell) {
    columns_[next_].cells.push_back(std::move(cell));
    next_ = (next_ + 1) % columns_.size();
    return *this;
  }

  std::vector<Column> columns_;
  size_t next_ = 0;
};

template <typename T>
std::vector<const std::pair<Value, T>*> InOrder(const ByValue<T>& ranks, const Run& run) {
  std::vector<const std::pair<Value, T>*> sorted;
  for (const auto& entry : ranks) sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) {
    return PidBefore(a->first, b->first, run.strings);
  });
  return sorted;
}

std::string IterationNote(const RankIterations& rank) {
  const std::string seen =
      fmt::format(" ({} kernel{} seen)", rank.kernels, rank.kernels == 1 ? "" : "s");
  if (rank.period == 0) return "not detected: " + rank.why_not + seen;
  if (rank.lengths.empty()) {
    return rank.from_annotations ? std::string("not measured: one ProfilerStep annotation")
                                 : "not measured: no two iterations follow each other" + seen;
  }
  std::string note = rank.from_annotations ? "ProfilerStep annotations" : "repeating kernels";
  if (rank.without_time > 0) note += fmt::format(" ({} without time left out)", rank.without_time);
  return note;
}

// A length that was not measured is none.
std::string_view IterationValidity(const RankIterations& rank) {
  return rank.period == 0 || rank.lengths.empty() ? "no" : kValid;
}

void WriteIterations(Run& run) {
  RunTable table({"Rank", "Iterations", "Mean(us)", "StDev(us)", "Min(us)", "Max(us)",
                  "Kernels/Iteration", "Found_by", "Valid"});
  for (const auto* entry : InOrder(run.Shared<IterationStats>().ranks, run)) {
    const RankIterations& rank = entry->second;
    const Spread spread = SpreadOf(rank.lengths);
    table.Text(entry->first.AsText(run.strings)).Integer(rank.lengths.size());
    table.Number(spread.mean).Number(spread.deviation).Number(spread.min).Number(spread.max);
    table.Integer(rank.from_annotations ? 0 : rank.period).Text(IterationNote(rank));
    table.Text(std::string(IterationValidity(rank)));
  }
  table.Write("iterations", "Elapsed time per iteration", run);
}

void WriteSteps(const EventList& events, bool autopilot, Run& run) {
  RunTable table({"Rank", "Step", "Elapsed(us)", "Compute(us)", "Overlap(us)", "Communication(us)",
                  "Other(us)", "Valid"});
  for (const RankSteps& rank : StepTimes(events, run)) {
    for (const StepTime& step : rank.steps) {
      table.Text(rank.rank.AsText(run.strings)).Text(step.name);
      table.Number(step.elapsed).Number(step.compute).Number(step.overlap);
      table.Number(step.communication).Number(step.other);
      table.Text(autopilot ? kWholePrograms : kValid);
    }
  }
  table.Write("steps", "Compute, communication and both together, per rank and step", run);
}

void WriteHostFunctions(const EventList& events, Run& run) {
  RunTable table({"Rank", "Phase", "Calls", "Total(us)", "Mean(us)", "Share(%)", "Valid", "Name"});
  for (const HostFunction& function : HostFunctions(events, run)) {
    table.Text(function.rank.AsText(run.strings)).Text(function.phase).Integer(function.calls);
    table.Number(function.total).Number(function.total / static_cast<double>(function.calls));
    table.Number(100 * function.share, 2).Text(kValid).Text(function.name);
  }
  table.Write("host_functions", "Host functions of the runtime", run);
}

}  // namespace

void WriteRunTables(const EventList& events, Run& run) {
  const bool autopilot = IsAutopilot(run);
  WriteIterations(run);
  WriteSteps(events, autopilot, run);
  WriteHostFunctions(events, run);
}

}  // namespace debrief::accel

#include "accel/side_files/run_tables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "accel/run.h"
#include "accel/stages/iterations.h"
#include "accel/stages/utilisation.h"
#include "compat/acelyzer/pandas_text.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {
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
  if (rank.period == 0) return "not detected: " + std::string(rank.why_not);
  if (rank.lengths.empty()) return "not measured: no two iterations follow each other";
  return rank.from_annotations ? "ProfilerStep annotations" : "repeating kernels";
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
    table.Text(kValid);
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

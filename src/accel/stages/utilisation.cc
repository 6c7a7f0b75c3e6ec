#include "accel/stages/utilisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "accel/side_files/categories.h"
#include "accel/stages/stages.h"
#include "model/accel/iterations.h"

namespace debrief::accel {

// compute_utilization (-c): ideal time over measured time of every kernel, as args.pt_active and as
// the counter "PT Active", and what each category of kernels took.
//
// With autopilot the device runs whole programs by itself and a log knows their totals alone: one
// pair of counters a job and rank, its kernels together against the ideal time of the table.
//
// Cost: linear.

namespace {

// The job that a rank under autopilot runs at the moment.
struct OpenJob {
  uint32_t job = kNoJob;
  double start = 0, end = 0, busy = 0;
  double ideal = 0;
  const IdealTable* table = nullptr;
  std::vector<uint32_t> names;  // of its kernels; empty with --compat
  bool open = false;
};

class UtilisationMeter {
 public:
  UtilisationMeter(Utilization& state, Run& run) : state_(state), run_(run) {
    counter_ = {key::kPtActiveName, StringId::kNone, key::kPercent};
  }

  // Adds the event and its counters.
  void Add(Event& event, const CompilerLog& log, const IdealTable& table, EventList& out) {
    NamedTable& named = state_.Table(table);
    const int32_t row = RowOf(event, log, named);
    const IdealKernel* kernel = row < 0 ? nullptr : &table.kernels[static_cast<size_t>(row)];
    const double ideal = Ideal(kernel, log);
    const double used = event.dur > 0 ? ideal / event.dur : 0;
    Account(event, log, table, kernel, ideal);
    if (log.autopilot) {
      AddToJob(event, compat() ? ideal : JobIdeal(table), table, out);
      if (compat() && used > 0) Mark(event, used);
      out.push_back(event);
      return;
    }
    if (used > 0) Mark(event, used);
    out.push_back(event);
    EmitCounters(event, used, out);
  }

  void Finish(EventList& out) {
    for (auto& [pid, job] : jobs_) {
      Close(pid, job, out);
      EmitEnd(pid, std::numeric_limits<double>::max(), out);
    }
    if (state_.unknown_kernels > 0) {
      run_.console.Warning(
          fmt::format("UTL: Found {} Events without a matching kernel category and accounted for "
                      "'other'",
                      state_.unknown_kernels));
    }
    if (state_.above_hundred > 0) {
      run_.console.Warning(fmt::format(
          "UTL: {} kernels are faster than their ideal time. Check the frequencies (--freq "
          "soc:core) and that the log (-c) belongs to this run.",
          state_.above_hundred));
    }
  }

 private:
  bool compat() const { return run_.options.compat; }

  int32_t RowOf(const Event& event, const CompilerLog& log, NamedTable& table) const {
    if (log.autopilot && compat()) return table.RowOf("Total");
    if (event.Has(key::kFnIdx)) return table.RowOf(KernelName(event, run_));
    return table.RowOf(event.name, run_);
  }

  double Ideal(const IdealKernel* kernel, const CompilerLog& log) const {
    // Only totals mean anything under autopilot.
    if (log.autopilot && !compat()) return 0;
    return kernel == nullptr ? 0 : static_cast<double>(kernel->cycles) / run_.options.core_mhz;
  }

  double JobIdeal(const IdealTable& table) const {
    return static_cast<double>(table.total_cycles) / run_.options.core_mhz;
  }

  void Account(Event& event, const CompilerLog& log, const IdealTable& table,
               const IdealKernel* kernel, double ideal) {
    const std::string_view category =
        kernel == nullptr ? std::string_view("other") : kernel->category;
    state_.unknown_kernels += kernel == nullptr && !(log.autopilot && !compat());
    SetCategory(event, category);
    const double counted = ideal > event.dur ? 0 : ideal;
    const Value pid = event.pid;
    TableUse& use = state_.Use(pid, table, log.autopilot);
    AddUse(use.Of(category), event, counted);
    AddUse(use.Of("Total"), event, counted);
    if (log.autopilot) return;
    RankUtilization& rank = state_.ranks[pid];
    if (ideal > 0) {
      rank.weighted += std::min(event.dur > 0 ? ideal / event.dur : 0, 1.01) * event.dur;
      rank.busy += event.dur;
    } else {
      rank.idle += event.dur;
    }
  }

  void AddUse(CategoryUse& use, const Event& event, double ideal) {
    int64_t cycles[5];
    use.time += event.dur;
    use.ideal += ideal;
    use.calls += 1;
    if (!compat() && ReadCycles(event, run_.strings, cycles)) use.cycles += cycles[3] - cycles[2];
  }

  // `cat` is what viewers colour by; what is there already stays. The refinement for TensorBoard
  // writes over it, so the category stands in the arguments, too.
  void SetCategory(Event& event, std::string_view category) {
    const StringId text = run_.Intern(category);
    if (event.cat == StringId::kNone && compat()) {
      event.cat = text;
    } else {
      run_.args.Set(event, key::kUserCat, Value::Text(text));
    }
  }

  void Mark(Event& event, double used) {
    run_.args.Set(event, key::kPtActive, Value::Number(used));
    run_.args.Set(event, key::kCoreUsed, Value::Bool(true));
  }

  double Percent(double used) {
    if (used <= 1) return 100 * used;
    ++state_.above_hundred;
    return compat() ? 101.0 : 100 * used;
  }

  // The reference keeps samples of 0 with a duration until calculate_stats has averaged them.
  void EmitCounters(const Event& event, double used, EventList& out) {
    if (used <= 0 && !compat()) return;
    Event sample = MakeCounter(counter_, event.pid, event.ts, Percent(used), run_);
    sample.has_dur = compat();
    sample.dur = compat() ? event.dur : 0;
    out.push_back(sample);
    if (used > 0) out.push_back(MakeCounter(counter_, event.pid, event.end(), 0, run_));
  }

  void AddToJob(const Event& event, double ideal, const IdealTable& table, EventList& out) {
    OpenJob& job = jobs_[event.pid];
    if (job.open && job.job != event.job) Close(event.pid, job, out);
    if (!job.open) job = {event.job, event.ts, event.end(), 0, ideal, &table, {}, true};
    job.start = std::min(job.start, event.ts);
    job.end = std::max(job.end, event.end());
    job.busy += event.dur;
    if (!compat()) job.names.push_back(static_cast<uint32_t>(event.name));
  }

  // The total of a log is that of one round; the reference takes it for that of the job.
  double Rounds(const OpenJob& job) const {
    if (compat()) return 1;
    return static_cast<double>(std::max<size_t>(FindIterations(job.names).starts.size(), 1));
  }

  // The end of a job waits for the beginning of the next, which may lie before it.
  void Close(const Value& pid, OpenJob& job, EventList& out) {
    if (!job.open) return;
    job.open = false;
    const double busy = std::min(job.busy, job.end - job.start);
    if (busy <= 0 || job.ideal <= 0) return;
    const double ideal = job.ideal * Rounds(job);
    if (!compat()) state_.Use(pid, *job.table, true).Of("Total").ideal += ideal;
    EmitEnd(pid, job.start, out);
    out.push_back(MakeCounter(counter_, pid, job.start, Percent(ideal / busy), run_));
    ends_[pid] = job.end;
  }

  void EmitEnd(const Value& pid, double latest, EventList& out) {
    std::optional<double>& end = ends_[pid];
    if (end) out.push_back(MakeCounter(counter_, pid, std::min(*end, latest), 0, run_));
    end.reset();
  }

  Utilization& state_;
  Run& run_;
  CounterName counter_;
  ByValue<OpenJob> jobs_;
  ByValue<std::optional<double>> ends_;  // of the job before
};

void WarnOfChoice(const TableChoice& choice, Run& run) {
  if (choice.unclear_pieces == 0) return;
  run.console.Warning(fmt::format(
      "UTL: Detected uncertain Ideal Cycles table match for {} of {} iterations: no table knows "
      "half of their kernels. Check that the log (-c) belongs to this run.",
      choice.unclear_pieces, choice.pieces));
}

// The reference counts tables, and says so whenever there are several.
void WarnOfTables(const Utilization& state, Run& run) {
  size_t most = 0;
  for (const CompilerLog& log : state.info.logs) most = std::max(most, log.tables.size());
  if (run.options.compat && most > 1) {
    run.console.Warning(
        fmt::format("UTL: {0}/{0} unique tables with ideal cycles have been detected. Utilization "
                    "results should be inspected carefully!!!!",
                    most));
  }
}

}  // namespace

// The tables are read, and said; compute_utilization chooses among them, iteration by iteration.
void ComputeUtilizationFingerprints(EventList& events, Run& run) {
  run.Shared<Utilization>().Info(events, run);
}

void ComputeUtilization(EventList& events, Run& run) {
  auto& state = run.Shared<Utilization>();
  const bool compat = run.options.compat;
  if (!(compat ? state.Info(run) : state.Info(events, run)).HasTables()) return;
  WarnOfTables(state, run);
  if (!compat) WarnOfStrangeLogs(events, state, run);
  const TableChoice choice = compat ? TableChoice() : ChooseTables(events, state, run);
  WarnOfChoice(choice, run);
  UtilisationMeter meter(state, run);
  EventList out;
  out.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    const bool is_kernel = IsDeviceKernel(event, run);
    const CompilerLog* log =
        is_kernel ? state.info.LogOf(compat ? event.pid : RankOf(event)) : nullptr;
    if (log == nullptr) {
      out.push_back(event);
      continue;
    }
    const auto chosen = compat ? state.chosen.find(JobKey(event, run)) : state.chosen.end();
    const size_t table = !compat                        ? choice.table[i]
                         : chosen == state.chosen.end() ? 0
                                                        : chosen->second;
    meter.Add(event, *log, log->tables[table], out);
  }
  meter.Finish(out);
  events = std::move(out);
  WriteCategories(state, run);
}

}  // namespace debrief::accel

// The power counter, from the charge that device slices carry, and its statistics (--power-stats).
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "base/stats/statistics.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

// The three passes of the power counter share how a sample looks: a counter event whose name is
// still that of the slice it comes from, with the charge under Watts and what it is sorted by, time
// (power_ts4) or cycle (power_ts3), under TS_cycles.

namespace {

struct PowerStats {
  size_t samples = 0;
  size_t emitted = 0;
  size_t implausible = 0;
};

// power_ts4 unless the options ask for power_ts3.
bool ByTs4(const Run& run) { return run.options.counters.power_ts4; }

// Counters of the input may have these arguments, too, but not of these kinds.
bool IsPowerSample(const Event& event) {
  if (event.phase != 'C') return false;
  const Arg* charge = event.Find(key::kWatts);
  const Arg* order = event.Find(key::kTsCycles);
  return charge != nullptr && charge->kind == ValueKind::kInteger && order != nullptr &&
         order->kind == ValueKind::kNumber;
}

}  // namespace

// extract_power_event: every device slice that carries the charge counter gives a sample, at TS4
// (-C power_ts4) or TS3 (-C power_ts3).

namespace {

// Slices this short (microseconds) end where others do, with the same charge.
constexpr double kShortestSliceUs = 0.1;

class PowerSampler {
 public:
  explicit PowerSampler(Run& run)
      : run_(run), ts4_(ByTs4(run)), cat_(run.Intern(ts4_ ? "Power4" : "Power3")) {}

  void Extract(const Event& event, EventList& out) {
    const Stamps* stamps = run_.StampsOf(event);
    if (event.phase != 'X' && event.phase != 'b') return;
    if (stamps == nullptr || !stamps->has_all || run_.Traits(event).prep) return;
    int64_t cycles[5];
    const auto charge = IntegerArg(event, key::kPower, run_);
    if (!charge || !ReadCycles(event, run_.strings, cycles)) return;
    if (ts4_ && event.dur <= kShortestSliceUs) return;
    bool& started = started_[event.pid];
    if (ts4_ && !started) Add(event, stamps->all[2], 0, cycles[2], out);
    started = true;
    const size_t at = ts4_ ? 3 : 2;
    Add(event, stamps->all[at], *charge, cycles[at], out);
  }

 private:
  void Add(const Event& slice, double ts, int64_t charge, int64_t cycle, EventList& out) {
    const double key = ts4_ ? ts : static_cast<double>(cycle);
    Event& sample = out.emplace_back();
    sample.phase = 'C';
    sample.name = slice.name;
    sample.cat = cat_;
    sample.pid = slice.pid;
    sample.ts = ts;
    run_.args.Own(sample, 2);
    run_.args.Set(sample, key::kWatts, Value::Integer(charge));
    run_.args.Set(sample, key::kTsCycles, Value::Number(key));
  }

  Run& run_;
  bool ts4_;
  StringId cat_;
  ByValue<bool> started_;
};

}  // namespace

void ExtractPowerEvent(EventList& events, Run& run) {
  PowerSampler extractor(run);
  EventList samples;
  for (const Event& event : events) extractor.Extract(event, samples);
  events.insert(events.end(), samples.begin(), samples.end());
}

// sort_events, second of its name: counters behind everything else, by rank and time.

void SortPowerEvents(EventList& events, Run&) {
  struct Place {
    double key = 0;
    size_t at = 0;  // in `counters`
  };
  EventList counters;
  ByValue<std::vector<Place>> ranks;
  size_t kept = 0;
  for (const Event& event : events) {
    if (event.phase != 'C') {
      events[kept++] = event;
      continue;
    }
    const double key = IsPowerSample(event) ? event.Find(key::kTsCycles)->number : 0;
    ranks[event.pid].push_back({key, counters.size()});
    counters.push_back(event);
  }
  events.resize(kept);
  for (auto& [pid, places] : ranks) {
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.key < b.key; });
    for (const Place& place : places) events.push_back(counters[place.at]);
  }
}

// compute_power: the difference of two charges over the time between them is the power in between.
//
//   power_ts4   12 V * charge / 512 / microseconds, as a counter from one sample to
//   the next; more
//               than 100 W is what no device draws and stands for a broken sample: 0, and counted
//   power_ts3   charge over cycles, by kind of the slice
//
// Per rank: a sample without charge does not count, nor does one at the time of the last. The
// reference takes equal charges for a whole wrap of the counter, and leaves the last value standing
// to the end of the trace.

namespace {

constexpr int64_t kWrap = int64_t{1} << 32;
constexpr double kMostWatts = 100;

struct ChargeSample {
  double ts = 0;
  int64_t charge = 0;
  double key = 0;  // microseconds (power_ts4) or cycles (power_ts3)
  StringId name = StringId::kNone;
  bool known = false;
};

class PowerMeter {
 public:
  explicit PowerMeter(Run& run) : run_(run), ts4_(ByTs4(run)) {
    counter_ = {run.Intern("Power"), run.Intern(ts4_ ? "Power4" : "Power3"), key::kWatts};
  }

  void Add(const Event& event, EventList& out) {
    ++stats_.samples;
    const ChargeSample now{event.ts, event.Find(key::kWatts)->integer,
                           event.Find(key::kTsCycles)->number, event.name, true};
    ChargeSample& last = last_[event.pid];
    if (!last.known || last.charge == 0) {
      last = now;
      return;
    }
    if (now.charge == 0) return;
    if (now.key == last.key) {
      if (TraitsOf(run_.Text(last.name)).prep) last = now;
      return;
    }
    if (run_.options.skip_events && IsSkipped(last, now)) return;
    Emit(event.pid, last, now, out);
    last = now;
  }

  // The power behind the last sample is not known.
  void Finish(EventList& out) {
    if (!run_.options.compat && ts4_) {
      for (const auto& [pid, last] : last_) {
        if (last.charge != 0) out.push_back(MakeCounter(counter_, pid, last.ts, 0, run_));
      }
    }
    if (stats_.implausible > 0) {
      run_.console.Warning(
          fmt::format("PEC encountered {} bad power events set to 0.0W. Enable DEBUG (-D 3) to "
                      "display.",
                      stats_.implausible));
    }
    run_.console.Info(fmt::format("PEC event stats o/i: {} / {}", stats_.emitted, stats_.samples));
  }

 private:
  bool IsSkipped(const ChargeSample& last, const ChargeSample& now) const {
    const NameTraits from = TraitsOf(run_.Text(last.name));
    const NameTraits to = TraitsOf(run_.Text(now.name));
    return (from.cmpt_exec && (to.cmpt_exec || to.sp_dma_in)) || (from.sp_dma_out && to.sp_dma_in);
  }

  int64_t Charge(const ChargeSample& last, const ChargeSample& now) const {
    const bool wrapped = run_.options.compat ? last.charge >= now.charge : last.charge > now.charge;
    return now.charge - last.charge + (wrapped ? kWrap : 0);
  }

  void Emit(const Value& pid, const ChargeSample& last, const ChargeSample& now, EventList& out) {
    ++stats_.emitted;
    const auto charge = static_cast<double>(Charge(last, now));
    if (!ts4_) return EmitByCycles(pid, last, now, charge, out);
    double watts = 12 * charge / 512 / (now.ts - last.ts);
    bool bad = false;
    if (watts > kMostWatts) {
      run_.console.Debug(fmt::format("PEC {:.3f} W at ts {:.3f}", watts, last.ts));
      ++stats_.implausible;
      watts = 0;
      bad = true;
    }
    out.push_back(MakeCounter(counter_, pid, last.ts, watts, run_));
    if (bad && run_.options.compat) out.back().args()[0].Set(Value::Integer(0));
  }

  void EmitByCycles(const Value& pid, const ChargeSample& last, const ChargeSample& now,
                    double charge, EventList& out) {
    CounterName counter = counter_;
    counter.name = run_.Intern("Power " + std::string(KindOf(last.name)));
    const double watts = PythonRound(charge / (now.key - last.key), 3);
    out.push_back(MakeCounter(counter, pid, last.ts, watts, run_));
    out.push_back(MakeCounter(counter, pid, now.ts - 0.001, 0, run_));
  }

  std::string_view KindOf(StringId name) const {
    for (const std::string_view kind : {"DmaI", "DmaO", "AllGather", "AllReduce", "Cmpt Exec"}) {
      if (run_.Text(name).find(kind) != std::string_view::npos) return kind;
    }
    return "Other";
  }

  Run& run_;
  bool ts4_;
  CounterName counter_;
  ByValue<ChargeSample> last_;
  PowerStats stats_;
};

}  // namespace

// Samples stand behind everything else: what lies before the first stays where it is.
void ComputePower(EventList& events, Run& run) {
  PowerMeter meter(run);
  const auto first = std::find_if(events.begin(), events.end(), IsPowerSample);
  const EventList tail(first, events.end());
  events.erase(first, events.end());
  for (const Event& event : tail) {
    if (IsPowerSample(event)) {
      meter.Add(event, events);
    } else {
      events.push_back(event);
    }
  }
  meter.Finish(events);
}

// analyze_power_statistics (--power-stats): how much power is drawn while kernels run, and while
// none does. Changes nothing.
//
// A sample of `Power` holds until the next one of its rank; these steps are cut by the merged times
// of "Cmpt Exec" slices, and every piece weighs as much as it lasts. The reference mixes the ranks
// and calls microseconds "ms"; without --compat every rank has its own lines.
//
// Cost: sorts; linear else.

namespace {

struct BusySpan {
  double start = 0, end = 0;
};

struct PowerStep {
  double ts = 0, watts = 0;
};

struct Piece {
  double watts = 0, length = 0;
};

std::vector<BusySpan> MergeBusy(std::vector<BusySpan> spans) {
  std::sort(spans.begin(), spans.end(), [](BusySpan a, BusySpan b) { return a.start < b.start; });
  std::vector<BusySpan> merged;
  for (const BusySpan& span : spans) {
    if (!merged.empty() && span.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

struct Cut {
  std::vector<Piece> with, without;
};

// Both lists are walked once.
Cut CutSteps(const std::vector<PowerStep>& steps, const std::vector<BusySpan>& busy) {
  Cut cut;
  size_t next = 0;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    double at = steps[i].ts;
    const double end = steps[i + 1].ts;
    while (next > 0 && next <= busy.size() && busy[next - 1].end > at) --next;
    while (at < end) {
      while (next < busy.size() && busy[next].end <= at) ++next;
      const bool inside = next < busy.size() && busy[next].start <= at;
      const double border = next == busy.size() ? end : inside ? busy[next].end : busy[next].start;
      const double until = std::min(end, border);
      (inside ? cut.with : cut.without).push_back({steps[i].watts, until - at});
      at = until;
    }
  }
  return cut;
}

void LogPower(std::string_view what, const std::vector<Piece>& pieces, Run& run) {
  double energy = 0, total = 0, non_zero = 0, low = 0, high = 0;
  std::vector<std::pair<double, double>> drawn;
  for (const Piece& piece : pieces) {
    total += piece.length;
    energy += piece.length * piece.watts;
    high = std::max(high, piece.watts);
    if (piece.watts <= 0) continue;
    low = drawn.empty() ? piece.watts : std::min(low, piece.watts);
    non_zero += piece.length;
    drawn.emplace_back(piece.watts, piece.length);
  }
  const bool compat = run.options.compat;
  const double unit = compat ? 1 : 1e-3;
  run.console.Info(fmt::format(
      "{}: min_non_zero={:.2f}W, max={:.2f}W, mean_non_zero={:.2f}W, median_non_zero={:.2f}W, "
      "avg_total={:.2f}W (time-weighted, dur_total={:.2f}ms, dur_non_zero={:.2f}ms)",
      what, low, high, non_zero > 0 ? energy / non_zero : 0, WeightedMedian(std::move(drawn)),
      total > 0 ? energy / total : 0, total * unit, non_zero * unit));
}

struct PoweredRank {
  std::vector<PowerStep> steps;
  std::vector<BusySpan> busy;
};

void AnalyzeRank(PoweredRank& rank, const std::string& prefix, Run& run) {
  if (rank.steps.size() < 2) {
    run.console.Warning(prefix + "Power statistics need two samples of the Power counter or more.");
    return;
  }
  std::stable_sort(rank.steps.begin(), rank.steps.end(),
                   [](const PowerStep& a, const PowerStep& b) { return a.ts < b.ts; });
  const Cut cut = CutSteps(rank.steps, MergeBusy(std::move(rank.busy)));
  LogPower(prefix + "Power with kernels", cut.with, run);
  LogPower(prefix + "Power without kernels", cut.without, run);
}

}  // namespace

void AnalyzePowerStatistics(EventList& events, Run& run) {
  const bool compat = run.options.compat;
  const StringId power = run.Intern("Power");
  ByValue<PoweredRank> ranks;
  for (const Event& event : events) {
    const Value pid = compat ? Value() : event.pid;
    if (event.phase == 'C' && event.name == power) {
      const Arg* arg = event.Find(key::kWatts);
      const auto watts = arg == nullptr ? std::nullopt : arg->value().AsNumber(run.strings);
      if (watts) ranks[pid].steps.push_back({event.ts, *watts});
    } else if (event.phase == 'X' && run.Traits(event).cmpt_exec && event.dur > 0) {
      ranks[pid].busy.push_back({event.ts, event.end()});
    }
  }
  for (auto& [pid, rank] : ranks) {
    AnalyzeRank(rank, compat ? "" : "rank " + pid.AsText(run.strings) + ": ", run);
  }
}

}  // namespace debrief::accel

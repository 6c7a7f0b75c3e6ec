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
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "accel/passes/passes.h"
#include "accel/passes/power.h"
#include "model/accel/python_float.h"

namespace debrief::accel {
namespace {

constexpr int64_t kWrap = int64_t{1} << 32;
constexpr double kMostWatts = 100;

struct Sample {
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
    const Sample now{event.ts, event.Find(key::kWatts)->integer, event.Find(key::kTsCycles)->number,
                     event.name, true};
    Sample& last = last_[event.pid];
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
  bool IsSkipped(const Sample& last, const Sample& now) const {
    const NameTraits from = TraitsOf(run_.Text(last.name));
    const NameTraits to = TraitsOf(run_.Text(now.name));
    return (from.cmpt_exec && (to.cmpt_exec || to.sp_dma_in)) || (from.sp_dma_out && to.sp_dma_in);
  }

  int64_t Charge(const Sample& last, const Sample& now) const {
    const bool wrapped = run_.options.compat ? last.charge >= now.charge : last.charge > now.charge;
    return now.charge - last.charge + (wrapped ? kWrap : 0);
  }

  void Emit(const Value& pid, const Sample& last, const Sample& now, EventList& out) {
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

  void EmitByCycles(const Value& pid, const Sample& last, const Sample& now, double charge,
                    EventList& out) {
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
  ByValue<Sample> last_;
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

}  // namespace debrief::accel

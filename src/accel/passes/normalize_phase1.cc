// normalize_phase1: limits and filters, arguments under one roof, stamps of the cycle counter in
// decimal and in order.
//
// `attr` moves into `args`; TS1..TS5 and Power become decimal texts; "RDMA" is written Rdma,
// "Receive" Recv, `Bytes` bytes; the file's name is added. A stamp below the one before it has
// wrapped: 2^32 is added, `TSxOF` says where. Of every rank the earliest host time of cycle 0 is
// kept, and what frequency its kernels show.
#include <fmt/format.h>

#include <cmath>

#include "accel/passes/cycles.h"
#include "accel/passes/event_filter.h"
#include "accel/passes/passes.h"
#include "model/accel/python_float.h"

namespace debrief::accel {

namespace {

// --event_limit. The reference counts events that always pass as well.
class Limiter {
 public:
  explicit Limiter(const Options& options) : limit_(options.limit), compat_(options.compat) {}

  bool Keeps(const Event& event) {
    const bool always = limit_.no_count_types.find(event.phase) != std::string::npos;
    if (always && !compat_) return true;
    const bool inside = event.ts + event.dur >= limit_.ts_start && event.ts <= limit_.ts_end;
    if (inside) ++seen_;
    return always || (inside && seen_ > limit_.skip && seen_ - limit_.skip <= limit_.count);
  }

 private:
  const EventLimit& limit_;
  bool compat_;
  int64_t seen_ = 0;
};

struct LastKernel {
  double ts = 0;
  int64_t cycles = 0;
  bool is_set = false;
};

class Normalizer {
 public:
  explicit Normalizer(Run& run)
      : run_(run), state_(run.Shared<CycleState>()), filter_(run.options.event_filter, run) {}

  // False: the event is left out.
  bool Take(Event& event) {
    if (event.phase != 'X') return true;
    MoveAttr(event);
    MakeDecimal(event);
    event.name = CleanName(event.name);
    if (Arg* bytes = event.Find(key::kBytesRaw)) bytes->key = key::kBytes;
    if (filter_.is_active() && filter_.Matches(event, run_)) return false;
    if (event.job < run_.jobs.size())
      run_.args.Set(event, key::kJobName, Value::Text(run_.jobs[event.job].name));
    if (event.Has(key::kTS1)) TakeStamps(event);
    return true;
  }

  void Tell() const {
    if (state_.lowered > 0)
      run_.console.Warning(fmt::format(
          "OVC: reference epoch had to be updated {} times with newly detected earlier "
          "timestamps. This indicates events with 0.0-timestamps or out-of-order input events.",
          state_.lowered));
    if (state_.long_events > 0)
      run_.console.Warning(fmt::format(
          "OVC: {} events are longer than the span of the cycle counter", state_.long_events));
    if (state_.incomplete > 0)
      run_.console.Error(fmt::format(
          "OVC: {} events have cycle stamps, but not all of TS1 to TS5 as numbers; they are kept "
          "as events of the host, the stamps as incomplete_TS*",
          state_.incomplete));
    TellFrequency("duration", state_.by_duration);
    TellFrequency("interval", state_.by_interval);
  }

 private:
  void MoveAttr(Event& event) {
    const uint16_t count = event.arg_count;
    for (uint16_t i = 0; i < count; ++i) {
      Arg& arg = event.arg_array[i];
      if (arg.place != ArgPlace::kAttr) continue;
      if (Arg* old = event.Find(arg.key)) {
        old->Set(arg.value());
      } else {
        arg.place = ArgPlace::kArgs;
      }
      event.has_args = true;
    }
    event.RemoveAll(ArgPlace::kAttr);
  }

  void MakeDecimal(Event& event) {
    for (Arg& arg : event.args()) {
      if (arg.place != ArgPlace::kArgs || arg.key < key::kTS1 || arg.key > key::kPower) continue;
      if (arg.kind == ValueKind::kDecimalText) continue;
      if (const auto value = arg.value().AsInteger(run_.strings))
        arg.Set(Value::DecimalText(*value));
    }
  }

  StringId CleanName(StringId name) {
    const auto known = clean_names_.find(name);
    if (known != clean_names_.end()) return known->second;
    std::string text(run_.Text(name));
    Replace(text, "RDMA", "Rdma");
    Replace(text, "Receive", "Recv");
    const StringId clean = run_.Intern(text);
    clean_names_.emplace(name, clean);
    return clean;
  }

  static void Replace(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }

  void TakeStamps(Event& event) {
    auto stamps = CyclesOf(event, run_);
    if (!stamps) return KeepAsHost(event);
    const size_t wrapped = UnwrapWithin(*stamps);
    if (wrapped != 0) {
      SetCycles(event, *stamps, run_);
      run_.args.Set(event, key::kTsxOf, Value::Text(run_.Intern(fmt::format("TS{}", wrapped + 1))));
    }
    if (event.dur > static_cast<double>(kCounterSpan) / run_.options.soc_mhz) ++state_.long_events;
    UpdateReference(event, *stamps, run_);
    if (run_.Traits(event).cmpt_exec) MeasureFrequency(event, *stamps);
  }

  void KeepAsHost(Event& event) {
    ++state_.incomplete;
    for (Arg& arg : event.args()) {
      if (arg.place == ArgPlace::kArgs && arg.key >= key::kTS1 && arg.key <= key::kTS5)
        arg.key = run_.Intern(fmt::format("incomplete_{}", run_.Text(arg.key)));
    }
  }

  // In MHz, of one kernel and between two; the reference does not unwrap the counter between them.
  void MeasureFrequency(const Event& event, const CycleStamps& stamps) {
    if (!(event.dur > 0)) return;
    const double by_duration = static_cast<double>(stamps[3] - stamps[2]) / event.dur;
    state_.by_duration.Add(by_duration);
    LastKernel& last = last_[event.pid];
    double by_interval = by_duration;
    if (last.is_set && event.ts > last.ts) {
      auto cycles = static_cast<double>(stamps[2] - last.cycles);
      const double us = event.ts - last.ts;
      if (!run_.options.compat) cycles = Unwrapped(cycles, us);
      by_interval = cycles / us;
    }
    state_.by_interval.Add(by_interval);
    last = {event.ts, stamps[2], true};
  }

  double Unwrapped(double cycles, double us) const {
    const auto span = static_cast<double>(kCounterSpan);
    return cycles + std::round((us * run_.options.soc_mhz - cycles) / span) * span;
  }

  void TellFrequency(std::string_view what, const RunningMean& seen) const {
    if (seen.count == 0) return;
    const double given = run_.options.soc_mhz;
    const double range = (seen.max - seen.min) / seen.mean();
    const double ratio = given / seen.mean();
    const bool is_odd = range > 0.1 || std::abs(1 - ratio) > 0.1;
    run_.console.Line(
        is_odd ? Level::kWarning : Level::kInfo,
        fmt::format("FREQ: Detected Event-{}-based frequency (min/mean/max): {} {} {} ; "
                    "rel_range={}, input_soc_freq/detected={}",
                    what, PythonFloat(PythonRound(seen.min, 2)),
                    PythonFloat(PythonRound(seen.mean(), 2)), PythonFloat(PythonRound(seen.max, 2)),
                    PythonFloat(PythonRound(range, 3)), PythonFloat(PythonRound(ratio, 3))));
  }

  Run& run_;
  CycleState& state_;
  EventFilter filter_;
  std::unordered_map<StringId, StringId> clean_names_;
  ByValue<LastKernel> last_;
};

}  // namespace

void NormalizePhase1(EventList& events, Run& run) {
  Limiter limiter(run.options);
  Normalizer normalizer(run);
  std::erase_if(events,
                [&](Event& event) { return !limiter.Keeps(event) || !normalizer.Take(event); });
  normalizer.Tell();
}

}  // namespace debrief::accel

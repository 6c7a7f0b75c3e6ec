// extract_power_event: every device slice that carries the charge counter gives a sample, at TS4
// (-C power_ts4) or TS3 (-C power_ts3).
#include "accel/passes/passes.h"
#include "accel/passes/power.h"

namespace debrief::accel {
namespace {

// Slices this short (microseconds) end where others do, with the same charge.
constexpr double kShortest = 0.1;

class Extractor {
 public:
  explicit Extractor(Run& run)
      : run_(run), ts4_(ByTs4(run)), cat_(run.Intern(ts4_ ? "Power4" : "Power3")) {}

  void Extract(const Event& event, EventList& out) {
    const Stamps* stamps = run_.StampsOf(event);
    if (event.phase != 'X' && event.phase != 'b') return;
    if (stamps == nullptr || !stamps->has_all || run_.Traits(event).prep) return;
    int64_t cycles[5];
    const auto charge = IntegerArg(event, key::kPower, run_);
    if (!charge || !ReadCycles(event, run_.strings, cycles)) return;
    if (ts4_ && event.dur <= kShortest) return;
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
  Extractor extractor(run);
  EventList samples;
  for (const Event& event : events) extractor.Extract(event, samples);
  events.insert(events.end(), samples.begin(), samples.end());
}

}  // namespace debrief::accel

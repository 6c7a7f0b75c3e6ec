// Times of device events, from their stamps: on the host's clock, as long as their own phase, split
// into phases (-s), inside of the host's wrapper (--flex_ts_fix).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "accel/run.h"
#include "accel/stages/cycles.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/python_text.h"
#include "model/accel/dialect.h"

namespace debrief::accel {

// How far the device events of each job lie outside of its host's wrapper (--flex_ts_fix).

namespace {

struct JobRanges {
  TimeSpan host;    // events named "AIU Roundtrip"
  TimeSpan device;  // events with cycle stamps
};

struct JobShifts {
  std::unordered_map<uint32_t, double> by_job;
};

}  // namespace

// frequency_align_collect: the time that the host says a job's device work took ("AIU Roundtrip"),
// and the time that the device events take. Where they do not lie inside, frequency_align_apply
// shifts them to its beginning.
//
// The reference lets the device's range end no earlier than the host's, so that a job whose device
// events are too early looks wider than its wrapper and is not shifted.

namespace {

using Jobs = ByValue<JobRanges>;

void Widen(const Event& event, bool compat, JobRanges& job) {
  if (event.name == key::kAiuRoundtrip) job.host.Add(event);
  if (!event.Has(key::kTS1)) return;
  if (compat) job.device.end = job.host.end;
  job.device.Add(event);
}

void DecideShift(uint32_t job, const JobRanges& ranges, Run& run) {
  const bool is_inside =
      ranges.host.begin <= ranges.device.begin && ranges.host.end >= ranges.device.end;
  const bool is_known = run.options.compat || (!ranges.host.empty() && !ranges.device.empty());
  if (is_inside || !is_known) return;
  const std::string& name = run.jobs[job].base_name;
  if (ranges.device.length() > ranges.host.length() || ranges.host.empty()) {
    run.console.Warning(fmt::format(
        "FREQ: aiu event range of {} is wider than cpu range. Will not attempt to adjust "
        "timestamps.",
        name));
    return;
  }
  run.Shared<JobShifts>().by_job[job] = ranges.host.begin - ranges.device.begin;
  run.console.Warning(fmt::format(
      "FREQ: job: {} has AIU events outside of corresponding CPU range. They are shifted by {} us.",
      name, ranges.host.begin - ranges.device.begin));
}

}  // namespace

void FrequencyAlignCollect(EventList& events, Run& run) {
  Jobs jobs;
  for (const Event& event : events) {
    if (event.phase != 'X' || event.job >= run.jobs.size()) continue;
    Widen(event, run.options.compat, jobs[Value::Integer(event.job)]);
  }
  for (const auto& [job, ranges] : jobs)
    DecideShift(static_cast<uint32_t>(job.integer), ranges, run);
}

// frequency_align_apply: device events of a job that needs it are shifted; `ts_adj` says how far.

void FrequencyAlignApply(EventList& events, Run& run) {
  const auto& shifts = run.Shared<JobShifts>().by_job;
  if (shifts.empty()) return;
  for (Event& event : events) {
    const auto shift = shifts.find(event.job);
    if (event.phase != 'X' || shift == shifts.end() || !event.Has(key::kTS1)) continue;
    event.ts += shift->second;
    run.args.Set(event, key::kTsAdj, Value::Number(shift->second));
  }
}

// cycle_count_to_wallclock: stamps become times of the host. The end of a slice is the anchor: it
// belongs to the stamp at the end of the event's phase, and the slice begins with TS1.

void CycleCountToWallclock(EventList& events, Run& run) {
  const double mhz = run.options.soc_mhz;
  for (Event& event : events) {
    const auto cycles = event.phase == 'X' ? CyclesOf(event, run) : std::nullopt;
    if (!cycles) continue;
    const size_t anchor = StampAtEnd(PhaseBySuffix(run.Text(event.name)));
    const double end = event.ts + event.dur;
    Stamps stamps;
    stamps.has_all = stamps.has_dev = true;
    for (size_t i = 0; i < 5; ++i) {
      stamps.all[i] = end + static_cast<double>((*cycles)[i] - (*cycles)[anchor]) / mhz;
      stamps.dev[i] = static_cast<double>((*cycles)[i]) / mhz;
    }
    const double dur = stamps.all[anchor] - stamps.all[0];
    const double ts = end - dur;
    stamps.adjust_ts = ts - event.ts;
    stamps.adjust_dur = dur - event.dur;
    stamps.has_adjust = stamps.adjust_ts != 0 || stamps.adjust_dur != 0;
    event.ts = ts;
    event.dur = dur;
    event.stamps = static_cast<uint32_t>(run.stamps.size());
    run.stamps.push_back(stamps);
  }
}

// tighten_hts_by_instr_type: a slice lasts as long as its own phase on the device, and ends where
// it ended. An event that names no phase lasts from TS1 to TS5, and begins where it began.

namespace {

// Stamps on the host's clock, so that stamp `anchor` is at `at`.
void Rebase(Stamps& stamps, size_t anchor, double at) {
  for (size_t i = 0; i < 5; ++i) stamps.all[i] = at + (stamps.dev[i] - stamps.dev[anchor]);
}

}  // namespace

void TightenHtsByInstrType(EventList& events, Run& run) {
  for (Event& event : events) {
    Stamps* stamps = event.phase == 'X' ? run.StampsOf(event) : nullptr;
    if (stamps == nullptr) continue;
    const Phase phase = PhaseByWord(run.Text(event.name));
    if (phase == Phase::kNone) {
      Rebase(*stamps, 0, event.ts);
      continue;
    }
    const auto first = static_cast<size_t>(phase);
    const double end = event.ts + event.dur;
    event.dur = stamps->dev[first + 1] - stamps->dev[first];
    event.ts = end - event.dur;
    Rebase(*stamps, first + 1, end);
  }
}

// tripple_phased_events (-s): a device event becomes up to three slices, one for each phase on the
// device.
//
//   k   ->   k_DmaI  TS1..TS2     k_Cmpt  TS3..TS4     k_DmaO  TS4..TS5
//
// An event whose name says its phase keeps that one alone; those of Prep are left out, and so are
// phases shorter than a cycle of 560 MHz.

namespace {

struct PhasePart {
  std::string_view ending;
  size_t begin, end;  // stamps
  Phase phase;
};
constexpr PhasePart kParts[] = {
    {"_DmaI", 0, 1, Phase::kDmaIn}, {"_Cmpt", 2, 3, Phase::kExec}, {"_DmaO", 3, 4, Phase::kDmaOut}};
constexpr double kShortestUs = 1.0 / 560;
constexpr double kGapUs = 1.0 / 1120;

// On the device's clock a slice has stamps of its own phase alone: others are moved to its ends.
Stamps Within(Stamps stamps, const PhasePart& part) {
  const double begin = stamps.dev[part.begin], end = stamps.dev[part.end];
  for (double& stamp : stamps.dev) stamp = std::clamp(stamp, begin, std::max(begin, end));
  return stamps;
}

void SplitPhases(const Event& event, Run& run, EventList& out) {
  const Stamps stamps = *run.StampsOf(event);
  const Phase own = PhaseByWord(run.Text(event.name));
  for (const PhasePart& part : kParts) {
    const double us = stamps.all[part.end] - stamps.all[part.begin];
    if (us < kShortestUs || (own != Phase::kNone && own != part.phase)) continue;
    Event slice = event;
    run.args.Own(slice);
    slice.stamps = static_cast<uint32_t>(run.stamps.size());
    run.stamps.push_back(Within(stamps, part));
    if (own == Phase::kNone)
      slice.name = run.Intern(std::string(run.Text(event.name)) + std::string(part.ending));
    slice.ts = stamps.all[part.begin];
    slice.dur = PythonRound(us - kGapUs, 3);
    out.push_back(slice);
  }
}

}  // namespace

void TripplePhasedEvents(EventList& events, Run& run) {
  EventList out;
  out.reserve(events.size());
  for (const Event& event : events) {
    const Stamps* stamps = run.StampsOf(event);
    if (event.phase != 'X' || stamps == nullptr || !stamps->has_all) {
      out.push_back(event);
    } else if (!run.Traits(event).prep) {
      SplitPhases(event, run, out);
    }
  }
  events = std::move(out);
}

// cleanup_copy_of_device_ts: the device's own times are for the passes before.

void CleanupCopyOfDeviceTs(EventList&, Run& run) {
  for (Stamps& stamps : run.stamps) stamps.has_dev = false;
}

}  // namespace debrief::accel

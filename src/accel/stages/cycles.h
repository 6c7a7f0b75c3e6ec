// The cycle counters of devices: stamps of an event, how often the counter wrapped, how fast it
// runs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "accel/run.h"
#include "model/accel/cycle_clock.h"

namespace debrief::accel {

// What normalize_phase1 learns about the cycle counters, for normalize_phase2 and the console.

// The smallest host time of cycle 0 that an event of a rank asks for.
struct CycleReference {
  double epoch = std::numeric_limits<double>::infinity();
  double ts = 0;
  double cycles = 0;
};

struct RunningMean {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double sum = 0;
  int64_t count = 0;

  void Add(double value);
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

struct CycleState {
  ByValue<CycleReference> references;  // by pid
  int64_t lowered = 0;                 // references that a later event lowered
  int64_t long_events = 0;             // longer than the counter's span
  int64_t incomplete = 0;              // events with some stamps, but not five
  RunningMean by_duration, by_interval;
};

// TS1..TS5; null when the event has none, or not all five.
std::optional<CycleStamps> CyclesOf(const Event& event, const Run& run);
// Writes them back, as texts of decimal digits.
void SetCycles(Event& event, const CycleStamps& stamps, Run& run);

// Lowers the reference of the event's pid; returns it.
CycleReference& UpdateReference(const Event& event, const CycleStamps& stamps, Run& run);

// Adds so many wraps to the stamps of an event; `OVC` says how many.
void AddWraps(Event& event, CycleStamps stamps, int64_t wraps, Run& run);

// --freq auto: MHz of the cycle counters, the median over ranks, each fitted on its own
// (model/accel/frequency.h); null when no rank has enough stamps.
std::optional<double> EstimateSocFrequency(const EventList& events, const Run& run);

}  // namespace debrief::accel

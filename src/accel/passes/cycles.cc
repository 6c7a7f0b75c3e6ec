#include "accel/passes/cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "accel/python_text.h"

namespace debrief::accel {

namespace {

constexpr StringId kKeys[5] = {key::kTS1, key::kTS2, key::kTS3, key::kTS4, key::kTS5};

void TellReference(const Event& event, const CycleReference& reference, Run& run) {
  std::string numbers;
  AppendPythonFloat(numbers, event.ts - reference.epoch);
  numbers += ' ';
  AppendPythonFloat(numbers, reference.epoch);
  run.console.Info(fmt::format("OVC: Reference Epoch for {} {} {}", event.pid.AsText(run.strings),
                               run.jobs[event.job].number, numbers));
}

}  // namespace

void RunningMean::Add(double value) {
  min = std::min(min, value);
  max = std::max(max, value);
  sum += value;
  ++count;
}

std::optional<CycleStamps> CyclesOf(const Event& event, const Run& run) {
  int64_t cycles[5];
  if (!ReadCycles(event, run.strings, cycles)) return std::nullopt;
  return std::to_array(cycles);
}

void SetCycles(Event& event, const CycleStamps& stamps, Run& run) {
  for (size_t i = 0; i < stamps.size(); ++i)
    run.args.Set(event, kKeys[i], Value::DecimalText(stamps[i]));
}

CycleReference& UpdateReference(const Event& event, const CycleStamps& stamps, Run& run) {
  CycleState& state = run.Shared<CycleState>();
  CycleReference& reference = state.references[event.pid];
  const Phase phase = PhaseBySuffix(run.Text(event.name));
  const auto cycles = static_cast<double>(stamps[StampAtStart(phase)]);
  const double epoch = event.ts - cycles / run.options.soc_mhz;
  if (epoch >= reference.epoch) return reference;
  const bool is_first = reference.epoch == std::numeric_limits<double>::infinity();
  state.lowered += is_first ? 0 : 1;
  reference = {epoch, event.ts, cycles};
  if (is_first && event.job < run.jobs.size()) TellReference(event, reference, run);
  return reference;
}

}  // namespace debrief::accel

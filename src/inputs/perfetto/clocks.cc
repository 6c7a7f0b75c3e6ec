#include "inputs/perfetto/clocks.h"

#include "model/timeline/perfetto_fields.h"

namespace debrief::inputs::perfetto {

namespace {

namespace fields = debrief::perfetto;

constexpr int64_t kMostTime = 2'000'000'000'000'000'000;

bool IsUsable(int64_t time) { return time >= -kMostTime && time <= kMostTime; }

}  // namespace

Clocks::Key Clocks::KeyOf(uint32_t sequence, uint32_t clock) {
  const bool is_of_sequence =
      clock >= fields::kFirstSequenceClock && clock <= fields::kLastSequenceClock;
  return {is_of_sequence ? sequence : 0, clock};
}

void Clocks::AddSnapshot(uint32_t sequence, std::span<const ClockReading> readings,
                         std::optional<uint32_t> primary) {
  if (primary && !primary_) primary_ = primary;
  auto times = std::make_shared<Times>();
  for (const ClockReading& reading : readings) {
    const Key key = KeyOf(sequence, reading.id);
    int64_t ns = 0;
    if (__builtin_mul_overflow(reading.time, reading.unit_ns, &ns) || !IsUsable(ns)) continue;
    if (reading.unit_ns != 1 || reading.is_incremental)
      units_[key] = {reading.unit_ns, reading.is_incremental, ns};
    (*times)[key] = ns;
  }
  Remember(times);
}

void Clocks::Remember(const std::shared_ptr<const Times>& times) {
  const auto realtime = times->find({0, fields::kRealtime});
  for (const auto& [key, time] : *times) {
    last_of_[key] = times;
    if (realtime != times->end()) to_realtime_.try_emplace(key, realtime->second - time);
  }
}

std::optional<int64_t> Clocks::Nanoseconds(const Key& clock, uint64_t time) {
  const auto unit = units_.find(clock);
  if (unit == units_.end()) return static_cast<int64_t>(time);
  int64_t ns = 0;
  if (__builtin_mul_overflow(time, unit->second.ns, &ns)) return std::nullopt;
  if (!unit->second.is_incremental) return ns;
  if (__builtin_add_overflow(unit->second.last, ns, &ns) || !IsUsable(ns)) return std::nullopt;
  unit->second.last = ns;
  return ns;
}

bool Clocks::IsRelated(const Key& clock, const Key& to) const {
  const auto last = last_of_.find(clock);
  return clock == to || (last != last_of_.end() && last->second->contains(to));
}

std::optional<int64_t> Clocks::ToTraceTime(uint32_t sequence, uint32_t clock, uint64_t time) {
  const Key key = KeyOf(sequence, clock);
  const auto ns = Nanoseconds(key, time);
  if (!trace_clock_) {
    const Key wanted = {0, primary_.value_or(fields::kBoottime)};
    trace_clock_ = IsRelated(key, wanted) ? wanted : key;
  }
  if (!ns || !IsUsable(*ns) || !IsRelated(key, *trace_clock_)) return std::nullopt;
  if (key == *trace_clock_) return ns;
  const Times& times = *last_of_.at(key);
  const int64_t converted = *ns - times.at(key) + times.at(*trace_clock_);
  return IsUsable(converted) ? std::optional(converted) : std::nullopt;
}

int64_t Clocks::Base() const {
  const Key trace_clock = trace_clock_.value_or(Key{0, fields::kBoottime});
  if (trace_clock == Key{0, fields::kRealtime}) return 0;
  const auto found = to_realtime_.find(trace_clock);
  return found == to_realtime_.end() ? kNone64 : found->second;
}

}  // namespace debrief::inputs::perfetto

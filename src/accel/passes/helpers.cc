#include "accel/passes/helpers.h"

namespace debrief::accel {

Event MakeCounter(const CounterName& counter, const Value& pid, double ts, double value, Run& run) {
  Event event;
  event.phase = 'C';
  event.name = counter.name;
  event.cat = counter.cat;
  event.pid = pid;
  event.ts = ts;
  run.args.Own(event, 1);
  run.args.Set(event, counter.value, Value::Number(value));
  return event;
}

Event MakeFlowEnd(char phase, StringId name, const Value& id, const Event& slice, double ts,
                  Run& run) {
  Event event;
  event.phase = phase;
  event.name = name;
  event.pid = slice.pid;
  event.tid = slice.tid;
  event.job = slice.job;
  event.ts = ts;
  run.args.Own(event, 2);
  run.args.Set(event, key::kId, id, ArgPlace::kTop);
  if (phase == 'f') run.args.Set(event, key::kBp, Value::Text(key::kE), ArgPlace::kTop);
  return event;
}

std::optional<int64_t> IntegerArg(const Event& event, StringId key, const Run& run,
                                  ArgPlace place) {
  const Arg* arg = event.Find(key, place);
  if (arg == nullptr) return std::nullopt;
  return arg->value().AsInteger(run.strings);
}

Value RankOf(const Event& event) {
  const Arg* rank = event.Find(key::kRank);
  return rank != nullptr && rank->value().IsInteger() ? rank->value() : event.pid;
}

bool PidBefore(const Value& a, const Value& b, const StringPool& strings) {
  if (a.IsInteger() != b.IsInteger()) return a.IsInteger();
  if (a.IsInteger()) return a.integer < b.integer;
  return a.AsText(strings) < b.AsText(strings);
}

}  // namespace debrief::accel

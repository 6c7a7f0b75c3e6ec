#include "accel/run.h"

namespace debrief::accel {

// One walk over the arguments: the keys are neighbours.
bool ReadCycles(const Event& event, const StringPool& strings, int64_t (&cycles)[5]) {
  unsigned found = 0;
  for (const Arg& arg : event.args()) {
    const uint32_t at = static_cast<uint32_t>(arg.key) - static_cast<uint32_t>(key::kTS1);
    if (at > 4 || arg.place != ArgPlace::kArgs) continue;
    if (arg.kind == ValueKind::kDecimalText) {
      cycles[at] = arg.integer;
    } else if (const auto value = arg.value().AsInteger(strings)) {
      cycles[at] = *value;
    } else {
      return false;
    }
    found |= 1u << at;
  }
  return found == 0x1f;
}

// The reference looks for the last dot anywhere: "./out" then has the stem "".
std::string SidePath(const Options& options, std::string_view purpose, std::string_view extension) {
  std::string stem = options.output;
  if (const size_t at = stem.find(".pt.trace"); at != std::string::npos) stem.erase(at, 9);
  const size_t dot = stem.rfind('.');
  const size_t slash = stem.rfind('/');
  const bool in_folder = slash != std::string::npos && dot != std::string::npos && dot < slash;
  if (dot != std::string::npos && (options.compat || !in_folder)) stem.resize(dot);
  return stem + "_" + std::string(purpose) + "." + std::string(extension);
}

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

namespace {

bool CatHas(const Event& event, const Run& run, std::string_view part) {
  return run.Text(event.cat).find(part) != std::string_view::npos;
}

bool IsFlex(const Event& event, const Run& run) { return run.DialectOf(event) == Dialect::kFlex; }

// "Memcpy (HtoD)", and without --compat also "Memcpy HtoD (Pageable -> Device)", which is what
// Kineto writes.
bool IsMemcpy(const Event& event, const Run& run, std::string_view direction) {
  std::string_view name = run.Text(event.name);
  const size_t at = name.find("emcpy ");
  if (at == std::string_view::npos || at == 0 || (name[at - 1] | 0x20) != 'm') return false;
  name.remove_prefix(at + 6);
  if (name.starts_with("(") && name.substr(1).starts_with(direction))
    return name.substr(1 + direction.size()).starts_with(")");
  return !run.options.compat && name.starts_with(direction);
}

}  // namespace

bool IsDeviceEvent(const Event& event, Run& run) {
  if (IsFlex(event, run)) return event.Has(key::kTS1);
  return CatHas(event, run, "gpu") || CatHas(event, run, "kernel");
}

bool IsKernel(const Event& event, Run& run) {
  return IsFlex(event, run) ? run.Traits(event).ends_cmpt_exec : CatHas(event, run, "kernel");
}

bool IsPrep(const Event& event, Run& run) { return run.Traits(event).ends_cmpt_prep; }

bool IsCollective(const Event& event, Run& run) {
  return IsFlex(event, run) ? event.Has(key::kCollGroup) : run.Traits(event).hcoll;
}

bool IsCopyIn(const Event& event, Run& run) {
  return IsFlex(event, run) ? run.Traits(event).sp_dma_in : IsMemcpy(event, run, "HtoD");
}

bool IsCopyOut(const Event& event, Run& run) {
  return IsFlex(event, run) ? run.Traits(event).sp_dma_out : IsMemcpy(event, run, "DtoH");
}

bool IsDeviceKernel(const Event& event, Run& run) {
  return event.phase == 'X' && IsDeviceEvent(event, run) && IsKernel(event, run);
}

std::string_view WithoutExec(std::string_view name) {
  constexpr std::string_view kSuffix = " Cmpt Exec";
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

std::string KernelName(const Event& event, const Run& run) {
  std::string name(WithoutExec(run.Text(event.name)));
  const Arg* index = event.Find(key::kFnIdx);
  const size_t at = index == nullptr ? std::string::npos : name.find("[N]");
  if (at != std::string::npos) name.replace(at, 3, index->value().AsText(run.strings));
  return name;
}

}  // namespace debrief::accel

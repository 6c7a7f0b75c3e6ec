// What is left of the events, and in which form: limits and filters, arguments under one roof,
// wrappers and phases that are not wanted.
#include <fmt/format.h>
#include <regex.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "accel/run.h"
#include "accel/stages/cycles.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

namespace {

// What Python's patterns have and POSIX has not.
std::string ToPosix(std::string_view pattern) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = pattern.substr(i);
    if (rest.starts_with("(?:")) {
      out += '(';
      i += 2;
    } else if (rest.starts_with("\\d")) {
      out += "[0-9]";
      ++i;
    } else if (rest.starts_with("\\D")) {
      out += "[^0-9]";
      ++i;
    } else if (rest.size() > 1 && rest[0] == '\\') {
      out += rest.substr(0, 2);
      ++i;
    } else {
      out += rest[0];
    }
  }
  return out;
}

// --event_filter: `attribute:pattern,...`; a slice that matches one of them is left out.
//
// The attribute is a key of the event, or of its arguments with `args.` before it; its text is
// searched for the pattern, an extended regular expression (POSIX; \d is known, too).
class EventFilter {
 public:
  // What is malformed is told and skipped.
  EventFilter(const std::string& text, Run& run) {
    if (text.empty()) return;
    size_t at = 0;
    while (at <= text.size()) {
      const size_t comma = std::min(text.find(',', at), text.size());
      Add(text.substr(at, comma - at), run);
      at = comma + 1;
    }
    run.console.Info(fmt::format("FLTR: Event filtering is active. {} filters enabled: {}",
                                 rules_.size(), text));
  }

  bool is_active() const { return !rules_.empty(); }

  bool Matches(const Event& event, const Run& run) const {
    for (const Rule& rule : rules_) {
      const auto text = TextOf(rule, event, run);
      if (text && regexec(rule.pattern.get(), text->c_str(), 0, nullptr, 0) == 0) return true;
    }
    return false;
  }

 private:
  struct Free {
    void operator()(regex_t* pattern) const {
      regfree(pattern);
      delete pattern;
    }
  };
  struct Rule {
    std::string path;
    StringId key = StringId::kNone;  // the part behind `args.`, or the path itself
    bool in_args = false;
    std::unique_ptr<regex_t, Free> pattern;
  };

  void Add(const std::string& item, Run& run) {
    const size_t colon = item.find(':');
    Rule rule;
    if (colon != std::string::npos && colon > 0 && item.find(':', colon + 1) == std::string::npos) {
      rule.path = item.substr(0, colon);
      rule.in_args = rule.path.starts_with("args.");
      rule.key = run.Intern(rule.in_args ? rule.path.substr(5) : rule.path);
      auto pattern = std::make_unique<regex_t>();
      const std::string posix = ToPosix(item.substr(colon + 1));
      if (regcomp(pattern.get(), posix.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {
        rule.pattern.reset(pattern.release());
        rules_.push_back(std::move(rule));
        return;
      }
    }
    run.console.Warning(fmt::format("FLTR: '{}' is no attribute:pattern; it is skipped", item));
  }

  static std::optional<std::string> TextOf(const Rule& rule, const Event& event, const Run& run) {
    if (rule.in_args) {
      const Arg* arg = event.Find(rule.key);
      return arg == nullptr ? std::nullopt : std::optional(arg->value().AsText(run.strings));
    }
    if (rule.path == "name") return std::string(run.Text(event.name));
    if (rule.path == "cat" && event.cat != StringId::kNone) return std::string(run.Text(event.cat));
    if (rule.path == "ph") return std::string(1, event.phase);
    if (rule.path == "pid") return event.pid.AsText(run.strings);
    if (rule.path == "tid" && !event.tid.IsNull()) return event.tid.AsText(run.strings);
    if (rule.path == "ts") return Value::Number(event.ts).AsText(run.strings);
    if (rule.path == "dur") return Value::Number(event.dur).AsText(run.strings);
    const Arg* arg = event.Find(rule.key, ArgPlace::kTop);
    return arg == nullptr ? std::nullopt : std::optional(arg->value().AsText(run.strings));
  }

  std::vector<Rule> rules_;
};

}  // namespace

// normalize_phase1: limits and filters, arguments under one roof, stamps of the cycle counter in
// decimal and in order.
//
// `attr` moves into `args`; TS1..TS5 and Power become decimal texts; "RDMA" is written Rdma,
// "Receive" Recv, `Bytes` bytes; the file's name is added. A stamp below the one before it has
// wrapped: 2^32 is added, `TSxOF` says where. Of every rank the earliest host time of cycle 0 is
// kept, and what frequency its kernels show.

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

  void Log() const {
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
  normalizer.Log();
}

// drop_global_events (--drop_globals): wrappers of the runtime, which cover everything below them.

namespace {

// The reference's list has "Execute graph", which the runtime writes with a large G.
constexpr std::string_view kGlobals[] = {
    "Execute graph", "SenFusedDeviceNode", "AIU Roundtrip", "Flex RoundTrip",   "PostKeys",
    "FetchKeys",     "Callback",           "HostPrep",      "AllocateFrame of", "Update CBs"};

bool IsGlobal(std::string_view name, bool compat) {
  for (std::string_view part : kGlobals) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return !compat && name.find("Execute Graph") != std::string_view::npos;
}

}  // namespace

void DropGlobalEvents(EventList& events, Run& run) {
  std::vector<int8_t> known(run.strings.size(), -1);
  std::erase_if(events, [&](const Event& event) {
    int8_t& is_global = known[static_cast<size_t>(event.name)];
    if (is_global < 0) is_global = IsGlobal(run.Text(event.name), run.options.compat) ? 1 : 0;
    return is_global == 1;
  });
}

// processing_filter (-F): events of other phases go.

void ProcessingFilter(EventList& events, Run& run) {
  std::erase_if(events, [&](const Event& event) {
    return run.options.filter.find(event.phase) == std::string::npos;
  });
}

}  // namespace debrief::accel

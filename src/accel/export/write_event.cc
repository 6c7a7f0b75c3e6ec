// One event in the output, and in a dump of -I.
#include <span>

#include "accel/export/write_trace.h"
#include "compat/acelyzer/python_json.h"

namespace debrief::accel {

namespace {

void AppendAdjustment(PythonJson& json, const Stamps& stamps) {
  if (!stamps.has_adjust) return;
  json.Key("time_adjust");
  json.Open('{');
  json.Field("ts", stamps.adjust_ts);
  json.Field("dur", stamps.adjust_dur);
  json.Close('}');
}

void AppendPlace(PythonJson& json, const Event& event, const Run& run, ArgPlace place) {
  for (const Arg& arg : event.args()) {
    if (arg.place != place) continue;
    json.Key(run.Text(arg.key));
    json.Put(arg.value(), run.strings);
  }
}

class EventText {
 public:
  EventText(std::string& out, const Event& event, const Run& run, int depth)
      : json_(out, depth), event_(event), run_(run) {}

  void Write() {
    json_.Open('{');
    for (const Part part : Layout(event_.phase)) (this->*part)();
    json_.Close('}');
  }

 private:
  using Part = void (EventText::*)();

  // The order of keys.
  static std::span<const Part> Layout(char phase) {
    using E = EventText;
    static constexpr Part kSlice[] = {&E::Name,     &E::Category, &E::Phase,  &E::Time,
                                      &E::Duration, &E::Process,  &E::Thread, &E::Args};
    static constexpr Part kInstant[] = {&E::Name,   &E::Category, &E::Phase,
                                        &E::Time,   &E::Duration, &E::Process,
                                        &E::Thread, &E::Scope,    &E::Args};
    static constexpr Part kCounter[] = {&E::Name,    &E::Time,     &E::Phase,
                                        &E::Process, &E::Category, &E::Args};
    static constexpr Part kFlow[] = {&E::Name,    &E::Category, &E::Phase, &E::Time,
                                     &E::Process, &E::Thread,   &E::Id,    &E::BindingPoint};
    static constexpr Part kMeta[] = {&E::Name,    &E::Phase,       &E::Time,
                                     &E::Process, &E::ThreadIfAny, &E::Args};
    static constexpr Part kAsync[] = {&E::Name,     &E::Time, &E::Process, &E::Thread,
                                      &E::Category, &E::Id,   &E::Phase,   &E::Args};
    switch (phase) {
      case 'C':
        return kCounter;
      case 's':
      case 't':
      case 'f':
        return kFlow;
      case 'M':
        return kMeta;
      case 'b':
      case 'n':
      case 'e':
        return kAsync;
      case 'i':
      case 'I':
        return kInstant;
      default:
        return kSlice;
    }
  }

  void Put(std::string_view key, const Value& value) {
    json_.Key(key);
    json_.Put(value, run_.strings);
  }

  void Name() { json_.Field("name", run_.Text(event_.name)); }
  void Phase() { json_.Field("ph", std::string_view(&event_.phase, 1)); }

  // Without a category: "", of an instant null.
  void Category() {
    json_.Key("cat");
    if (event_.cat == StringId::kNone && event_.phase == 'i') return json_.Null();
    json_.Text(run_.Text(event_.cat));
  }

  void Time() {
    if (!event_.has_ts) return;
    if (event_.ts_is_integer) {
      json_.Field("ts", static_cast<int64_t>(event_.ts));
    } else {
      json_.Field("ts", event_.ts);
    }
  }

  void Duration() {
    if (event_.has_dur) json_.Field("dur", event_.dur);
  }

  void Process() { Put("pid", event_.pid); }
  void Thread() { Put("tid", event_.tid.IsNull() ? Value::Integer(0) : event_.tid); }
  void ThreadIfAny() {
    if (!event_.tid.IsNull() && !(event_.tid == Value::Integer(0))) Thread();
  }

  void TopField(std::string_view name, StringId key) {
    if (const Arg* arg = event_.Find(key, ArgPlace::kTop)) Put(name, arg->value());
  }
  void Scope() { TopField("s", key::kScope); }
  void BindingPoint() { TopField("bp", key::kBp); }

  // Ids of several files must not meet.
  void Id() {
    const Arg* id = event_.Find(key::kId, ArgPlace::kTop);
    if (id == nullptr) return;
    Value value = id->value();
    const bool is_shared = !run_.options.compat && run_.jobs.size() > 1 && event_.job != kNoJob;
    if (is_shared && value.kind == ValueKind::kInteger && value.integer >= 0)
      value.integer += static_cast<int64_t>(event_.job) << 40;
    Put("id", value);
  }

  // Keys of the top level that the format does not know go here, too.
  bool IsArgument(const Arg& arg) const {
    if (arg.place == ArgPlace::kArgs) return true;
    if (arg.place == ArgPlace::kAttr) return false;
    return arg.key != key::kId && arg.key != key::kBp;
  }

  void Args() {
    json_.Key("args");
    json_.Open('{');
    bool has_attr = false;
    for (const Arg& arg : event_.args()) {
      has_attr |= arg.place == ArgPlace::kAttr;
      if (IsArgument(arg)) Put(run_.Text(arg.key), arg.value());
    }
    if (has_attr) {
      json_.Key("attr");
      json_.Open('{');
      AppendPlace(json_, event_, run_, ArgPlace::kAttr);
      json_.Close('}');
    }
    if (event_.stamps != kNoStamps) AppendAdjustment(json_, run_.stamps[event_.stamps]);
    json_.Close('}');
  }

  PythonJson json_;
  const Event& event_;
  const Run& run_;
};

}  // namespace

void AppendEvent(std::string& out, const Event& event, const Run& run, int depth) {
  EventText(out, event, run, depth).Write();
}

// One event in a dump of -I: as the pass left it, what passes keep for each other included.

namespace {

void AppendNumbers(PythonJson& json, std::string_view key, const double (&numbers)[5]) {
  json.Key(key);
  json.Open('[');
  for (double number : numbers) {
    json.Element();
    json.Number(number);
  }
  json.Close(']');
}

void AppendStamps(PythonJson& json, const Stamps& stamps) {
  if (stamps.has_dev) AppendNumbers(json, "ts_dev", stamps.dev);
  AppendAdjustment(json, stamps);
  if (stamps.has_all) AppendNumbers(json, "ts_all", stamps.all);
}

void AppendArgs(PythonJson& json, const Event& event, const Run& run) {
  json.Key("args");
  json.Open('{');
  AppendPlace(json, event, run, ArgPlace::kArgs);
  if (event.phase == 'X' && event.job < run.jobs.size() && !run.jobs_are_named)
    json.Field("jobhash", run.jobs[event.job].number);
  if (event.stamps != kNoStamps) AppendStamps(json, run.stamps[event.stamps]);
  json.Close('}');
}

}  // namespace

void AppendRawEvent(std::string& out, const Event& event, const Run& run, int depth) {
  PythonJson json(out, depth);
  auto value = [&](std::string_view key, const Value& given) {
    if (given.IsNull()) return;
    json.Key(key);
    json.Put(given, run.strings);
  };
  json.Open('{');
  json.Field("name", run.Text(event.name));
  if (event.cat != StringId::kNone) json.Field("cat", run.Text(event.cat));
  json.Field("ph", std::string_view(&event.phase, 1));
  value("pid", event.pid);
  value("tid", event.tid);
  if (event.has_ts)
    value("ts", event.ts_is_integer ? Value::Integer(static_cast<int64_t>(event.ts))
                                    : Value::Number(event.ts));
  if (event.has_dur) json.Field("dur", event.dur);
  AppendPlace(json, event, run, ArgPlace::kTop);
  if (event.has_args) AppendArgs(json, event, run);
  json.Close('}');
}

}  // namespace debrief::accel

// One event in the output. The order of keys depends on its phase:
//
//   X    name cat ph ts dur pid tid args        C    name ts ph pid cat args
//   s f  name cat ph ts pid tid id [bp]         M    name ph ts pid [tid] args
//   i    name cat ph ts pid tid s args          b e  name ts pid tid cat id ph args
#include "accel/export/write_trace.h"
#include "compat/acelyzer/python_json.h"

namespace debrief::accel {

namespace {

class EventText {
 public:
  EventText(std::string& out, const Event& event, const Run& run, int depth)
      : json_(out, depth), event_(event), run_(run) {}

  void Write() {
    json_.Open('{');
    Name();
    switch (event_.phase) {
      case 'C':
        Counter();
        break;
      case 's':
      case 't':
      case 'f':
        Flow();
        break;
      case 'M':
        Meta();
        break;
      case 'b':
      case 'n':
      case 'e':
        Async();
        break;
      default:
        Slice();
    }
    json_.Close('}');
  }

 private:
  void Name() { Field("name", event_.name); }
  void Phase() {
    json_.Key("ph");
    json_.Text({&event_.phase, 1});
  }
  void Field(std::string_view key, StringId text) {
    json_.Key(key);
    json_.Text(run_.Text(text));
  }
  void Field(std::string_view key, const Value& value) {
    json_.Key(key);
    json_.Put(value, run_.strings);
  }

  // Without a category: "", of an instant null.
  void Category() {
    json_.Key("cat");
    if (event_.cat == StringId::kNone && event_.phase == 'i') return json_.Null();
    json_.Text(run_.Text(event_.cat));
  }

  void Time() {
    if (!event_.has_ts) return;
    json_.Key("ts");
    if (event_.ts_is_integer) {
      json_.Integer(static_cast<int64_t>(event_.ts));
    } else {
      json_.Number(event_.ts);
    }
  }

  void Process() { Field("pid", event_.pid); }
  void Thread() { Field("tid", event_.tid.IsNull() ? Value::Integer(0) : event_.tid); }

  void TopField(std::string_view name, StringId key) {
    if (const Arg* arg = event_.Find(key, ArgPlace::kTop)) Field(name, arg->value());
  }

  void Slice() {
    Category();
    Phase();
    Time();
    if (event_.has_dur) {
      json_.Key("dur");
      json_.Number(event_.dur);
    }
    Process();
    Thread();
    if (event_.phase == 'i' || event_.phase == 'I') TopField("s", key::kScope);
    Args();
  }

  void Counter() {
    Time();
    Phase();
    Process();
    Category();
    Args();
  }

  void Flow() {
    Category();
    Phase();
    Time();
    Process();
    Thread();
    Id();
    TopField("bp", key::kBp);
  }

  // Ids of several files must not meet.
  void Id() {
    const Arg* id = event_.Find(key::kId, ArgPlace::kTop);
    if (id == nullptr) return;
    Value value = id->value();
    const bool is_shared = !run_.options.compat && run_.jobs.size() > 1 && event_.job != kNoJob;
    if (is_shared && value.kind == ValueKind::kInteger && value.integer >= 0)
      value.integer += static_cast<int64_t>(event_.job) << 40;
    Field("id", value);
  }

  void Meta() {
    Phase();
    Time();
    Process();
    if (!event_.tid.IsNull() && !(event_.tid == Value::Integer(0))) Thread();
    Args();
  }

  void Async() {
    Time();
    Process();
    Thread();
    Category();
    Id();
    Phase();
    Args();
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
      if (IsArgument(arg)) Field(run_.Text(arg.key), arg.value());
    }
    if (has_attr) Attr();
    Adjustment();
    json_.Close('}');
  }

  void Attr() {
    json_.Key("attr");
    json_.Open('{');
    for (const Arg& arg : event_.args()) {
      if (arg.place == ArgPlace::kAttr) Field(run_.Text(arg.key), arg.value());
    }
    json_.Close('}');
  }

  void Adjustment() {
    const Stamps* stamps = event_.stamps == kNoStamps ? nullptr : &run_.stamps[event_.stamps];
    if (stamps == nullptr || !stamps->has_adjust) return;
    json_.Key("time_adjust");
    json_.Open('{');
    json_.Key("ts");
    json_.Number(stamps->adjust_ts);
    json_.Key("dur");
    json_.Number(stamps->adjust_dur);
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
  if (stamps.has_adjust) {
    json.Key("time_adjust");
    json.Open('{');
    json.Key("ts");
    json.Number(stamps.adjust_ts);
    json.Key("dur");
    json.Number(stamps.adjust_dur);
    json.Close('}');
  }
  if (stamps.has_all) AppendNumbers(json, "ts_all", stamps.all);
}

void AppendPlace(PythonJson& json, const Event& event, const Run& run, ArgPlace place) {
  for (const Arg& arg : event.args()) {
    if (arg.place != place) continue;
    json.Key(run.Text(arg.key));
    json.Put(arg.value(), run.strings);
  }
}

void AppendArgs(PythonJson& json, const Event& event, const Run& run) {
  json.Key("args");
  json.Open('{');
  AppendPlace(json, event, run, ArgPlace::kArgs);
  if (event.phase == 'X' && event.job < run.jobs.size() && !run.jobs_are_named) {
    json.Key("jobhash");
    json.Integer(run.jobs[event.job].number);
  }
  if (event.stamps != kNoStamps) AppendStamps(json, run.stamps[event.stamps]);
  json.Close('}');
}

}  // namespace

void AppendRawEvent(std::string& out, const Event& event, const Run& run, int depth) {
  PythonJson json(out, depth);
  auto text = [&](std::string_view key, StringId value) {
    json.Key(key);
    json.Text(run.Text(value));
  };
  auto value = [&](std::string_view key, const Value& given) {
    if (given.IsNull()) return;
    json.Key(key);
    json.Put(given, run.strings);
  };
  json.Open('{');
  text("name", event.name);
  if (event.cat != StringId::kNone) text("cat", event.cat);
  json.Key("ph");
  json.Text({&event.phase, 1});
  value("pid", event.pid);
  value("tid", event.tid);
  if (event.has_ts)
    value("ts", event.ts_is_integer ? Value::Integer(static_cast<int64_t>(event.ts))
                                    : Value::Number(event.ts));
  if (event.has_dur) value("dur", Value::Number(event.dur));
  AppendPlace(json, event, run, ArgPlace::kTop);
  if (event.has_args) AppendArgs(json, event, run);
  json.Close('}');
}

}  // namespace debrief::accel

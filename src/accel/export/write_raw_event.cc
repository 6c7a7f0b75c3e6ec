// One event in a dump of -I: as the pass left it, what passes keep for each other included.
#include "accel/export/python_json.h"
#include "accel/export/write_trace.h"

namespace debrief::accel {

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

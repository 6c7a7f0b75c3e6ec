#include <fmt/format.h>

#include "accel/export/write_trace.h"
#include "base/version.h"
#include "compat/acelyzer/python_json.h"

namespace debrief::accel {

namespace {

constexpr std::string_view kOverlaps[] = {"drop", "tid", "async", "warn", "shift"};
constexpr std::string_view kFormats[] = {"json", "pddf", "protobuf"};

// The object around the settings, which `write` writes.
template <typename Write>
std::string AboutRun(const Options& options, Write write) {
  std::string out;
  PythonJson json(out, 1);
  json.Open('{');
  json.Field("Application", options.compat ? "Acelyzer: Trace Post-Processing Tool"
                                           : fmt::format("debrief accel {}", kVersion));
  json.Field("CmdLine", options.command_line);
  json.Key("Settings");
  json.Open('{');
  write(json);
  json.Close('}');
  json.Close('}');
  return out;
}

// The default as one text, a choice as a list.
void AppendCounters(const Options& options, PythonJson& json) {
  if (options.has_default_counters)
    return json.Field("counter", fmt::format("{}", fmt::join(options.counter_names, " ")));
  json.Key("counter");
  json.Open('[');
  for (const std::string& name : options.counter_names) {
    json.Element();
    json.Text(name);
  }
  json.Close(']');
}

void AppendLimit(const EventLimit& limit, PythonJson& json) {
  json.Key("event_limit");
  json.Open('{');
  json.Field("skip", limit.skip);
  json.Field("count", limit.count);
  json.Field("ts_start", limit.ts_start);
  json.Field("ts_end", limit.ts_end);
  json.Field("no_count_types", limit.no_count_types);
  json.Close('}');
}

void AppendFrequencies(const Options& options, PythonJson& json) {
  json.Key("freq");
  json.Open('[');
  for (double mhz : {options.soc_mhz, options.core_mhz}) {
    json.Element();
    json.Number(mhz);
  }
  json.Close(']');
}

void AppendSettings(const Options& o, PythonJson& json) {
  AppendCounters(o, json);
  json.Key("compiler_info");
  o.compiler_info.empty() ? json.Null() : json.Text(o.compiler_info);
  json.Field("loglevel", static_cast<int>(o.level));
  json.Field("event_filter", o.event_filter);
  AppendLimit(o.limit, json);
  json.Field("filter", o.filter);
  json.Field("format", kFormats[static_cast<int>(o.format)]);
  AppendFrequencies(o, json);
  json.Field("flow", o.flow);
  json.Field("freq_scaling", 0.0);
  json.Field("input", o.input);
  json.Field("intermediate", o.intermediate);
  json.Field("skip_events", o.skip_events);
  json.Field("drop_globals", o.drop_globals);
  json.Field("skip_mpsync", o.no_mp_sync);
  json.Field("overlap", kOverlaps[static_cast<int>(o.overlap)]);
  json.Field("max_tid_streams", o.max_tid_streams);
  json.Field("profile", o.profile);
  json.Field("output", o.output);
  json.Field("build_coll_event", o.build_coll_event);
  json.Field("mp_sync_v2", o.mp_sync_v2);
  json.Field("split_events", o.split_events);
  json.Field("stats", o.stats);
  json.Field("sync_to_dev", o.sync_to_dev);
  json.Field("verification_mode", o.verify);
  json.Field("autopilot_data", o.autopilot_data.empty() ? "ai_kernel.db" : o.autopilot_data);
  json.Field("keep_prep", o.keep_prep);
  json.Field("keep_names", o.keep_names);
  json.Field("tb_refinement", o.tb_refinement);
  json.Field("tb", o.tb);
  json.Field("save_to_file", o.save_to_file);
  json.Field("flex_ts_fix", o.flex_ts_fix);
  json.Field("disable_input_warnings", !o.disable_input_warnings);
  json.Field("comm_summarize_seq", o.comm_summarize_seq);
  json.Field("power_stats", o.power_stats);
  json.Field("time_unit", o.time_unit);
  json.Field("ignore_crit", o.ignore_crit);
  json.Field("version", false);
}

}  // namespace

std::string OtherData(const Options& options) {
  return AboutRun(options, [&](PythonJson& json) { AppendSettings(options, json); });
}

std::string OtherDataOfStage(const Options& options, const std::string& path) {
  return AboutRun(options, [&](PythonJson& json) { json.Field("output", path); });
}

}  // namespace debrief::accel

#include <fmt/format.h>

#include "accel/export/write_trace.h"
#include "base/version.h"
#include "compat/acelyzer/python_json.h"

namespace debrief::accel {

namespace {

constexpr std::string_view kOverlaps[] = {"drop", "tid", "async", "warn", "shift"};
constexpr std::string_view kFormats[] = {"json", "pddf", "protobuf"};

class Settings {
 public:
  Settings(std::string& out, const Options& options) : json_(out, 1), options_(options) {}

  void Begin() {
    json_.Open('{');
    Text("Application", options_.compat ? "Acelyzer: Trace Post-Processing Tool"
                                        : fmt::format("debrief accel {}", kVersion));
    Text("CmdLine", options_.command_line);
    json_.Key("Settings");
    json_.Open('{');
  }
  void End() {
    json_.Close('}');
    json_.Close('}');
  }

  void Text(std::string_view key, std::string_view text) {
    json_.Key(key);
    json_.Text(text);
  }

  void All() {
    Counters();
    json_.Key("compiler_info");
    options_.compiler_info.empty() ? json_.Null() : json_.Text(options_.compiler_info);
    json_.Key("loglevel");
    json_.Integer(static_cast<int>(options_.level));
    Text("event_filter", options_.event_filter);
    Limit();
    Text("filter", options_.filter);
    Text("format", kFormats[static_cast<int>(options_.format)]);
    Frequencies();
    Rest();
  }

 private:
  void Switch(std::string_view key, bool value) {
    json_.Key(key);
    json_.Bool(value);
  }

  // The default as one text, a choice as a list.
  void Counters() {
    if (options_.has_default_counters)
      return Text("counter", fmt::format("{}", fmt::join(options_.counter_names, " ")));
    json_.Key("counter");
    json_.Open('[');
    for (const std::string& name : options_.counter_names) {
      json_.Element();
      json_.Text(name);
    }
    json_.Close(']');
  }

  void Limit() {
    const EventLimit& limit = options_.limit;
    json_.Key("event_limit");
    json_.Open('{');
    json_.Key("skip");
    json_.Integer(limit.skip);
    json_.Key("count");
    json_.Integer(limit.count);
    json_.Key("ts_start");
    json_.Number(limit.ts_start);
    json_.Key("ts_end");
    json_.Number(limit.ts_end);
    Text("no_count_types", limit.no_count_types);
    json_.Close('}');
  }

  void Frequencies() {
    json_.Key("freq");
    json_.Open('[');
    for (double mhz : {options_.soc_mhz, options_.core_mhz}) {
      json_.Element();
      json_.Number(mhz);
    }
    json_.Close(']');
  }

  void Rest() {
    Switch("flow", options_.flow);
    json_.Key("freq_scaling");
    json_.Number(0);
    Text("input", options_.input);
    Switch("intermediate", options_.intermediate);
    Switch("skip_events", options_.skip_events);
    Switch("drop_globals", options_.drop_globals);
    Switch("skip_mpsync", options_.no_mp_sync);
    Text("overlap", kOverlaps[static_cast<int>(options_.overlap)]);
    json_.Key("max_tid_streams");
    json_.Integer(options_.max_tid_streams);
    Text("profile", options_.profile);
    Text("output", options_.output);
    Switch("build_coll_event", options_.build_coll_event);
    Switch("mp_sync_v2", options_.mp_sync_v2);
    Switch("split_events", options_.split_events);
    Switch("stats", options_.stats);
    Switch("sync_to_dev", options_.sync_to_dev);
    Switch("verification_mode", options_.verify);
    Text("autopilot_data",
         options_.autopilot_data.empty() ? "ai_kernel.db" : options_.autopilot_data);
    Switch("keep_prep", options_.keep_prep);
    Switch("keep_names", options_.keep_names);
    Switch("tb_refinement", options_.tb_refinement);
    Switch("tb", options_.tb);
    Switch("save_to_file", options_.save_to_file);
    Switch("flex_ts_fix", options_.flex_ts_fix);
    Switch("disable_input_warnings", !options_.disable_input_warnings);
    Switch("comm_summarize_seq", options_.comm_summarize_seq);
    Switch("power_stats", options_.power_stats);
    Text("time_unit", options_.time_unit);
    Switch("ignore_crit", options_.ignore_crit);
    Switch("version", false);
  }

  PythonJson json_;
  const Options& options_;
};

}  // namespace

std::string OtherData(const Options& options) {
  std::string out;
  Settings settings(out, options);
  settings.Begin();
  settings.All();
  settings.End();
  return out;
}

std::string OtherDataOfStage(const Options& options, const std::string& path) {
  std::string out;
  Settings settings(out, options);
  settings.Begin();
  settings.Text("output", path);
  settings.End();
  return out;
}

}  // namespace debrief::accel

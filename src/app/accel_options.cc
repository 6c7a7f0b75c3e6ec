#include "app/accel_options.h"

#include <fmt/format.h>

#include "base/version.h"

namespace debrief {

namespace {

void AddAccelFiles(CLI::App& accel, accel::Arguments& options) {
  accel
      .add_option("-i,--input", options.input,
                  "Traces (JSON, also .gz and .zst): a list with commas, quoted patterns")
      ->type_name("LIST")
      ->required();
  accel
      .add_option("-o,--output", options.output,
                  "Main output and stem of all others (processed_trace.pt.trace.json)")
      ->type_name("FILE");
  accel.add_option("-f,--format", options.format, "json, pddf or protobuf")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "pddf", "protobuf"}).description(""));
  accel
      .add_option("-c,--compiler_info", options.compiler_info,
                  "Compiler logs or folders of ideal cycles, one a rank, with commas")
      ->type_name("LIST");
  accel
      .add_option("--autopilot_data", options.autopilot_data,
                  "Another run, as the source of categories and utilisation")
      ->type_name("FILE");
  accel.add_option("-P,--profile", options.profile, "Which passes run: a file or a built-in name")
      ->type_name("NAME");
  accel.add_flag("-I,--intermediate", options.intermediate, "Also write the events of every pass");
  accel.add_flag("--disable_file", options.disable_file, "No main output");
  accel.add_flag("-t,--no_stats", options.no_stats, "No CSV statistics");
  accel.add_flag("--tb", options.tb, "Also a file a rank for TensorBoard");
  accel.add_flag("--disable_tb", options.disable_tb, "Names as they are, processed_trace.json");
  accel.add_flag("--compat", options.compat, "The results of acelyzer, its mistakes included");
}

void AddAccelSelection(CLI::App& accel, accel::Arguments& options) {
  accel
      .add_option("-C,--counter", options.counters,
                  "power_ts4 power_ts3 coll_bw bandwidth prep_queue rcu_util; none: no counters")
      ->type_name("NAME")
      ->expected(0, 6)
      ->check(CLI::IsMember(
                  {"power_ts4", "power_ts3", "coll_bw", "bandwidth", "prep_queue", "rcu_util"})
                  .description(""));
  accel
      .add_option("--event_filter", options.event_filter,
                  "Leave out slices where ATTRIBUTE matches REGEX; a list with commas")
      ->type_name("A:R");
  accel
      .add_option("--event_limit", options.event_limit,
                  "{\"skip\": N, \"count\": N, \"ts_start\": T, \"ts_end\": T}")
      ->type_name("JSON");
  accel.add_option("-F,--filter", options.filter, "Keep these phases only")->type_name("PH");
  accel.add_flag("--drop_globals", options.drop_globals, "Leave out wrappers of the runtime");
  accel.add_flag("--keep_prep", options.keep_prep, "Keep Prep slices beside their counter");
  accel.add_flag("--keep_names", options.keep_names, "Do not strip digits from names");
  accel.add_flag("-k,--skip_events", options.skip_events, "Skip some pairs for the power");
  accel.add_flag("--power-stats", options.power_stats, "Statistics of the power");
  accel.add_flag("--flow", options.flow, "Arrows between the ranks of a collective");
  accel.add_flag("-R,--build_coll_event", options.build_coll_event, "A slice a collective");
  accel.add_flag("--comm_summarize_seq", options.comm_summarize_seq, "Merge the steps of sends");
}

void AddAccelTime(CLI::App& accel, accel::Arguments& options) {
  accel
      .add_option("--freq", options.freq,
                  "MHz of SoC and core (1000:1100), or auto: estimated from the events")
      ->type_name("SOC:CORE");
  accel.add_option("--freq_scaling", options.freq_scaling)->group("");
  accel.add_option("-O,--overlap", options.overlap, "drop, tid, async, warn or shift (tid)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"drop", "tid", "async", "warn", "shift"}).description(""));
  accel
      .add_option("--max_tid_streams", options.max_tid_streams,
                  "With --compat: extra lanes a thread (5)")
      ->type_name("N");
  accel.add_flag("-M,--no_mp_sync", options.no_mp_sync, "Do not align ranks on collectives");
  accel.add_flag("-S,--use_mp_sync_v2", options.mp_sync_v2, "Align them, other algorithm");
  accel.add_flag("--flex_ts_fix", options.flex_ts_fix, "Shift jobs into their host's wrapper");
  accel.add_flag("-s,--split_events", options.split_events, "Split device events in phases");
  accel.add_flag("--ignore_crit", options.ignore_crit, "Stamps out of order are only told");
  accel.add_option("--time_unit", options.time_unit, "displayTimeUnit: ns or ms")
      ->type_name("UNIT")
      ->check(CLI::IsMember({"ns", "ms"}).description(""));
  accel.add_flag("-T,--sync_to_dev", options.sync_to_dev)->group("");
  accel.add_flag("--disable_input_warnings", options.disable_input_warnings)->group("");
}

}  // namespace

CLI::App* AddAccel(CLI::App& app, accel::Arguments& options, GlobalOptions& global) {
  auto* accel = app.add_subcommand(
      "accel", "Traces of accelerators: a clean timeline, counters (drop-in for acelyzer)");
  AddAccelFiles(*accel, options);
  AddAccelSelection(*accel, options);
  AddAccelTime(*accel, options);
  accel->add_option("-D,--loglevel", options.level, "0 errors .. 4 everything (2)")
      ->type_name("N")
      ->check(CLI::Range(0, 4).description(""));
  accel->add_flag("-V,--verify", options.verify, "Only check the input");
  accel->set_version_flag("--version", fmt::format("debrief {}", kVersion));
  accel->add_option("--jobs", global.jobs, "Threads; 0 = one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  accel->add_flag("--quiet", global.quiet, "Only warnings and errors");
  accel->footer("Example:\n  debrief accel -i examples/accel/flex_rank0.json --freq 560:800");
  return accel;
}

}  // namespace debrief

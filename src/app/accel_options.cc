#include "app/accel_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/nearest.h"
#include "base/version.h"

namespace debrief {

CLI::Validator OneOf(std::vector<std::string> words) {
  std::string list = fmt::format("{}", fmt::join(words, " "));
  return CLI::Validator(
             [words = std::move(words)](const std::string& word) {
               if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
               const std::string_view nearest = NearestName(word, words);
               return fmt::format(
                   "{} is not one of {}{}", word, fmt::join(words, ", "),
                   nearest.empty() ? "" : fmt::format(". Did you mean {}?", nearest));
             },
             "")
      .name(std::move(list));
}

namespace {

void AddAccelFiles(CLI::App& accel, accel::Arguments& options) {
  AddOption(accel, "-i,--input", options.input, "LIST",
            "Traces (JSON, Perfetto; also .gz and .zst): a list with commas, quoted patterns")
      ->required();
  AddOption(accel, "-o,--output", options.output, "FILE",
            "Main output and stem of all others (processed_trace.pt.trace.json)");
  AddOption(accel, "-f,--format", options.format, "FORMAT", "json, pddf or protobuf")
      ->check(OneOf({"json", "pddf", "protobuf"}));
  AddOption(accel, "-c,--compiler_info,--compiler_log", options.compiler_info, "LIST",
            "Compiler logs (also .gz and .zst) or folders of ideal cycles, with commas: one, or "
            "one a rank");
  AddOption(accel, "--autopilot_data", options.autopilot_data, "FILE",
            "Another run, as the source of categories and utilisation");
  AddOption(accel, "-P,--profile", options.profile, "NAME",
            "Which passes run: a file or a built-in name");
  accel.add_flag("-I,--intermediate", options.intermediate, "Also write the events of every pass");
  accel.add_flag("--disable_file", options.disable_file, "No main output");
  accel.add_flag("-t,--no_stats", options.no_stats, "No CSV statistics");
  accel.add_flag("--tb", options.tb, "Also a file a rank for TensorBoard");
  accel.add_flag("--disable_tb", options.disable_tb, "Names as they are, processed_trace.json");
  accel.add_flag("--compat", options.compat, "The results of acelyzer, its mistakes included");
}

void AddAccelSelection(CLI::App& accel, accel::Arguments& options) {
  AddOption(accel, "-C,--counter", options.counters, "NAME",
            "power_ts4 power_ts3 coll_bw bandwidth prep_queue rcu_util; none: no counters")
      ->expected(0, 6)
      ->check(OneOf({"power_ts4", "power_ts3", "coll_bw", "bandwidth", "prep_queue", "rcu_util"}));
  AddOption(accel, "--event_filter", options.event_filter, "A:R",
            "Leave out slices where ATTRIBUTE matches REGEX; a list with commas");
  AddOption(accel, "--event_limit", options.event_limit, "JSON",
            "{\"skip\": N, \"count\": N, \"ts_start\": T, \"ts_end\": T}");
  AddOption(accel, "-F,--filter", options.filter, "PH", "Keep these phases only");
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
  AddOption(accel, "--freq", options.freq, "SOC:CORE",
            "MHz of SoC and core (1000:1100), or auto: estimated from the events");
  accel.add_option("--freq_scaling", options.freq_scaling)->group("");
  AddOption(accel, "-O,--overlap", options.overlap, "HOW", "drop, tid, async, warn or shift (tid)")
      ->check(OneOf({"drop", "tid", "async", "warn", "shift"}));
  AddOption(accel, "--max_tid_streams", options.max_tid_streams, "N",
            "With --compat: extra lanes a thread (5)");
  accel.add_flag("-M,--no_mp_sync", options.no_mp_sync, "Do not align ranks on collectives");
  accel.add_flag("-S,--use_mp_sync_v2", options.mp_sync_v2, "Align them, other algorithm");
  accel.add_flag("--flex_ts_fix", options.flex_ts_fix, "Shift jobs into their host's wrapper");
  accel.add_flag("-s,--split_events", options.split_events, "Split device events in phases");
  accel.add_flag("--ignore_crit", options.ignore_crit, "Stamps out of order are only reported");
  AddOption(accel, "--time_unit", options.time_unit, "UNIT", "displayTimeUnit: ns or ms")
      ->check(OneOf({"ns", "ms"}));
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
  AddOption(*accel, "-D,--loglevel", options.level, "N", "0 errors .. 4 everything (2)")
      ->check(Between(0, 4));
  accel->add_flag("-V,--verify", options.verify, "Only check the input");
  accel->set_version_flag("--version", fmt::format("debrief {}", kVersion));
  AddOption(*accel, "--jobs", global.jobs, "N", "Threads; 0 = one per core")
      ->check(Between(0, 1024));
  accel->add_flag("--quiet", global.quiet, "Only warnings and errors");
  accel->footer("Example:\n  debrief accel -i examples/accel/flex_rank0.json --freq 560:800");
  return accel;
}

}  // namespace debrief

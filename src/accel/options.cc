#include "accel/options.h"

#include <fmt/format.h>

#include "base/json/cursor.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

namespace {

Status ParseFrequency(const std::string& text, Options& options) {
  if (text.empty()) return {};
  if (text == "auto" && !options.compat) {
    options.freq_is_auto = true;
    return {};
  }
  const size_t colon = text.find(':');
  const auto soc = PythonNumber(text.substr(0, colon));
  std::optional<double> core = options.core_mhz;
  if (colon != std::string::npos) {
    const std::string rest = text.substr(colon + 1);
    core = PythonNumber(rest.substr(0, rest.find(':')));
  }
  if (!soc || !core || !(*soc > 0) || !(*core > 0)) {
    return Status(Code::kInvalid,
                  fmt::format("--freq {}: frequencies are positive numbers of MHz", text))
        .Remedy("Write --freq SOC or --freq SOC:CORE, for example --freq 560:800.");
  }
  options.soc_mhz = *soc;
  options.core_mhz = *core;
  return {};
}

Status ParseLimitField(std::string_view key, JsonValue value, EventLimit& limit) {
  std::optional<double> number = value.Double();
  if (key == "skip" && value.Int()) {
    limit.skip = *value.Int();
  } else if (key == "count" && value.Int()) {
    limit.count = *value.Int();
  } else if (key == "ts_start" && number) {
    limit.ts_start = *number;
  } else if (key == "ts_end" && number) {
    limit.ts_end = *number;
  } else if (key == "no_count_types" && value.String()) {
    limit.no_count_types = std::string(*value.String());
  } else {
    return Status(Code::kUsage, fmt::format("--event_limit: no such key or value: {}", key))
        .Remedy("Keys are skip, count, ts_start, ts_end, no_count_types.");
  }
  return {};
}

Status ParseLimit(const std::string& text, EventLimit& limit) {
  if (text.empty()) return {};
  JsonReader reader;
  Status status = reader.OpenCopy(text);
  if (status.ok()) {
    status = reader.root().ForEachField(
        [&](std::string_view key, JsonValue value) { return ParseLimitField(key, value, limit); });
  }
  if (status.ok() || status.code() == Code::kUsage) return status;
  return Status(Code::kUsage, "--event_limit must be a dictionary in JSON")
      .Remedy("For example --event_limit '{\"skip\": 100, \"count\": 1000}'.");
}

Status ChooseCounters(const Arguments& arguments, Options& options) {
  if (!arguments.has_counters) {
    options.counter_names = {"power_ts4", "coll_bw", "prep_queue", "rcu_util"};
    return {};
  }
  options.has_default_counters = false;
  options.counter_names = arguments.counters;
  std::erase(options.counter_names, "");  // -C without a name
  Counters& chosen = options.counters = {false, false, false, false, false, false};
  for (const std::string& name : arguments.counters) {
    if (name == "power_ts4") chosen.power_ts4 = true;
    if (name == "power_ts3") chosen.power_ts3 = true;
    if (name == "coll_bw") chosen.coll_bw = true;
    if (name == "bandwidth") chosen.bandwidth = true;
    if (name == "prep_queue") chosen.prep_queue = true;
    if (name == "rcu_util") chosen.rcu_util = true;
  }
  if (chosen.power_ts3 && chosen.power_ts4)
    return Status(Code::kInvalid, "-C: power_ts3 and power_ts4 exclude each other");
  return {};
}

Overlap OverlapOf(const std::string& name) {
  if (name == "drop") return Overlap::kDrop;
  if (name == "async") return Overlap::kAsync;
  if (name == "warn") return Overlap::kWarn;
  if (name == "shift") return Overlap::kShift;
  return Overlap::kTid;
}

}  // namespace

Result<Options> MakeOptions(const Arguments& arguments) {
  Options options;
  options.compat = arguments.compat;
  static_cast<Given&>(options) = arguments;
  if (options.output.empty())
    options.output =
        arguments.disable_tb ? "processed_trace.json" : "processed_trace.pt.trace.json";
  options.stats = !arguments.no_stats;
  options.tb_refinement = !arguments.disable_tb;
  options.save_to_file = !arguments.disable_file;
  options.format = arguments.format == "pddf"       ? Format::kPddf
                   : arguments.format == "protobuf" ? Format::kProtobuf
                                                    : Format::kJson;
  options.overlap = OverlapOf(arguments.overlap);
  options.level = static_cast<Level>(arguments.level);
  TRY(ParseLimit(arguments.event_limit, options.limit));
  TRY(ChooseCounters(arguments, options));
  TRY(ParseFrequency(arguments.freq, options));
  if (arguments.freq_scaling != 0)
    return Status(Code::kInvalid, "--freq_scaling is obsolete").Remedy("Use --freq SOC:CORE.");
  if (arguments.build_coll_event && !arguments.flow && !options.compat) options.flow = true;
  return options;
}

}  // namespace debrief::accel

// What the command line of `debrief accel` says; see docs/accel.md for each option.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace debrief::accel {

enum class Overlap : uint8_t { kDrop, kTid, kAsync, kWarn, kShift };
enum class Format : uint8_t { kJson, kPddf, kProtobuf };
enum class Level : uint8_t { kError, kWarning, kInfo, kDebug, kTrace };

// Counters that -C chooses.
struct Counters {
  bool power_ts4 = true;
  bool power_ts3 = false;
  bool coll_bw = true;
  bool bandwidth = false;
  bool prep_queue = true;
  bool rcu_util = true;
};

struct EventLimit {
  int64_t skip = 0;
  int64_t count = int64_t{1} << 60;
  double ts_start = 0;
  double ts_end = std::numeric_limits<double>::max();
  std::string no_count_types = "M";
};

// What is taken over from the command line as it was typed.
struct Given {
  std::string input, output;  // the list as it was given; with the default filled in
  std::string compiler_info, event_filter;
  std::string filter;          // phases that are kept; empty: all
  std::string profile;         // name or path; empty: the default of the mode
  std::string autopilot_data;  // another run, as the source of categories and utilisation
  std::string time_unit = "ns";
  int64_t max_tid_streams = 5;
  bool flow = false, build_coll_event = false, comm_summarize_seq = false, intermediate = false;
  bool skip_events = false, drop_globals = false, no_mp_sync = false, mp_sync_v2 = false;
  bool split_events = false, verify = false, keep_prep = false, keep_names = false, tb = false;
  bool flex_ts_fix = false, power_stats = false, ignore_crit = false, sync_to_dev = false;
  bool disable_input_warnings = false;
};

// The words of the command line, as they were typed.
struct Arguments : Given {
  std::string format = "json", event_limit, freq, overlap = "tid";
  std::vector<std::string> counters;
  bool has_counters = false;  // -C, maybe without a name
  int level = 2;
  double freq_scaling = 0;
  bool compat = false, no_stats = false, disable_tb = false, disable_file = false;
};

struct Options : Given {
  std::string trace_path;    // of the main output, where it is not `output`
  std::string command_line;  // as typed, for otherData
  std::vector<std::string> counter_names;
  bool has_default_counters = true;
  Format format = Format::kJson;
  Overlap overlap = Overlap::kTid;
  Level level = Level::kInfo;
  Counters counters;
  EventLimit limit;
  double soc_mhz = 1000;
  double core_mhz = 1100;
  bool freq_is_auto = false;  // --freq auto: estimated
  bool compat = false;        // the reference's results, its mistakes included
  bool stats = true, tb_refinement = true, save_to_file = true;
  // How a trace that is no JSON becomes one: the path of a file that holds the same trace, none
  // when the file is no such trace. Null: only JSON is read.
  std::function<Result<std::optional<std::string>>(const std::string& path)> to_json;
};

// kUsage for what the command line does not allow (exit code 2), kInvalid for values that make no
// sense (exit code 1).
Result<Options> MakeOptions(const Arguments& arguments);

}  // namespace debrief::accel

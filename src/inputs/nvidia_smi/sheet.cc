#include "inputs/nvidia_smi/sheet.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text/strings.h"
#include "inputs/records/host_metrics.h"
#include "inputs/sniffing.h"
#include "torch/glog_time.h"

namespace debrief::inputs::nvidia_smi {

namespace {

constexpr size_t kMostColumns = 256;

// Fields without the quotes that who writes the table again may put around them.
std::vector<std::string_view> SplitAt(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  while (fields.size() < kMostColumns) {
    const size_t end = std::min(line.find(separator), line.size());
    fields.push_back(Trimmed(Trimmed(line.substr(0, end)), "\""));
    if (end == line.size()) break;
    line.remove_prefix(end + 1);
  }
  return fields;
}

std::vector<std::string_view> SplitAtBlanks(std::string_view line) {
  std::vector<std::string_view> words;
  while (words.size() < kMostColumns) {
    line = Trimmed(line);
    if (line.empty()) break;
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
  return words;
}

// "clocks.current.sm [MHz]" without its unit.
std::string_view WithoutUnit(std::string_view column) {
  return Trimmed(column.substr(0, column.find(" [")));
}

// One bit of clocks_throttle_reasons.active that has a column of its own; 0 for other columns.
double ReasonBit(std::string_view column) {
  struct Reason {
    std::string_view name;
    double bit;
  };
  static constexpr Reason kReasons[] = {{"gpu_idle", 0x1},
                                        {"applications_clocks_setting", 0x2},
                                        {"sw_power_cap", 0x4},
                                        {"hw_slowdown", 0x8},
                                        {"sync_boost", 0x10},
                                        {"sw_thermal_slowdown", 0x20},
                                        {"hw_thermal_slowdown", 0x40},
                                        {"hw_power_brake_slowdown", 0x80}};
  for (std::string_view family : {"clocks_throttle_reasons.", "clocks_event_reasons."}) {
    if (!column.starts_with(family)) continue;
    for (const Reason& reason : kReasons) {
      if (column.substr(family.size()) == reason.name) return reason.bit;
    }
  }
  return 0;
}

bool IsIdentityColumn(std::string_view column) {
  constexpr std::string_view kColumns[] = {"timestamp",      "index",      "uuid",      "gpu_uuid",
                                           "pci.bus_id",     "gpu_bus_id", "name",      "gpu_name",
                                           "driver_version", "pstate",     "serial",    "hostname",
                                           "count",          "pci.bus",    "gpu_serial"};
  return std::find(std::begin(kColumns), std::end(kColumns), column) != std::end(kColumns);
}

bool IsSmClock(std::string_view column) { return HostMetricOf(column).name == "sm_clock"; }

bool IsValueColumn(std::string_view column) {
  if (column == "clocks.current.graphics" || column == "clocks.gr") return true;
  return !HostMetricOf(column).name.empty() || ReasonBit(column) != 0;
}

// "1980 MHz", "98 %", "0x0000000000000004"; nothing of "[N/A]".
std::optional<double> NumberOf(std::string_view text) {
  if (text.starts_with("0x")) {
    uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    return error == std::errc() ? std::optional(static_cast<double>(bits)) : std::nullopt;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// "2026/11/15 23:22:09.123", local time.
int64_t TimeOfSmi(std::string_view text) {
  if (!HasShape(text, "0000/00/00 00:00:00")) return kNone64;
  std::string iso(text);
  iso[4] = iso[7] = '-';
  return ParseIsoTime(iso);
}

// What stands between the columns of a head; nothing where the line is none.
std::optional<char> SeparatorOf(std::string_view line) {
  for (char separator : {',', ';', '\t'}) {
    size_t known = 0, values = 0, all = 0;
    for (std::string_view field : SplitAt(line, separator)) {
      const std::string_view column = WithoutUnit(field);
      ++all;
      known += IsIdentityColumn(column) ? 1 : 0;
      values += IsValueColumn(column) ? 1 : 0;
    }
    if (values > 0 && all > 1 && (known + values) * 2 > all) return separator;
  }
  return std::nullopt;
}

// dmon separates by blanks, or with --format csv by commas.
std::vector<std::string_view> MonitorFields(std::string_view line) {
  return Contains(line, ",") ? SplitAt(line, ',') : SplitAtBlanks(line);
}

constexpr std::string_view kEntity = "Entity";  // the first column of dcgmi: "GPU 3"

bool IsMonitorHead(std::string_view line) {
  if (!line.starts_with('#')) return false;
  const std::vector<std::string_view> words = MonitorFields(line.substr(1));
  auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  return (has("gpu") || has(kEntity)) && std::ranges::any_of(words, IsValueColumn) && !has("pid");
}

}  // namespace

bool SmiSheet::IsHead(std::string_view first_line) {
  if (IsMonitorHead(first_line) || SeparatorOf(first_line)) return true;
  SmiSample sample;
  return AddBare(first_line, sample);
}

bool SmiSheet::ReadHead(std::string_view line) {
  const bool monitor = IsMonitorHead(line);
  const std::optional<char> separator = monitor ? std::nullopt : SeparatorOf(line);
  if (!monitor && !separator) return false;
  columns_.clear();
  form_ = monitor ? Form::kMonitor : Form::kCsv;
  separator_ = separator.value_or(separator_);
  if (monitor) line.remove_prefix(1);
  for (std::string_view column : monitor ? MonitorFields(line) : SplitAt(line, separator_))
    columns_.emplace_back(WithoutUnit(column));
  // The graphics clock is that of the SMs.
  if (std::ranges::none_of(columns_, IsSmClock)) {
    for (std::string& column : columns_) {
      if (column == "clocks.current.graphics" || column == "clocks.gr") column = "clocks.sm";
    }
  }
  return true;
}

bool SmiSheet::Add(std::string_view line, SmiSample& sample) {
  if (line.empty() || ReadHead(line)) return true;
  if (form_ == Form::kMonitor) return line.front() == '#' || AddMonitor(line, sample);
  if (form_ == Form::kCsv) return AddCsv(line, sample);
  return AddBare(line, sample);
}

bool SmiSheet::AddCsv(std::string_view line, SmiSample& sample) const {
  const std::vector<std::string_view> fields = SplitAt(line, separator_);
  if (fields.size() != columns_.size()) return false;
  double reasons = 0;
  bool has_reasons = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& column = columns_[i];
    if (column == "timestamp") sample.time_ns = TimeOfSmi(fields[i]);
    if (column == "index") sample.gpu = RankOrNone(ParseNumber<int64_t>(fields[i]));
    if (column == "uuid" || column == "gpu_uuid") sample.uuid = fields[i];
    if (column == "pci.bus_id" || column == "gpu_bus_id") sample.bus_id = fields[i];
    if (column == "hostname") sample.host = fields[i];
    if (const double bit = ReasonBit(column); bit != 0) {
      has_reasons = true;
      reasons += fields[i] == "Active" ? bit : 0;
      continue;
    }
    if (HostMetricOf(column).name.empty()) continue;
    if (const auto number = NumberOf(fields[i])) sample.values.push_back({column, *number});
  }
  if (has_reasons) sample.values.push_back({"clocks_throttle_reasons.active", reasons});
  return true;
}

// Without a head the units say what is what; of two of one unit the first is the one that most
// people ask for first.
bool SmiSheet::AddBare(std::string_view line, SmiSample& sample) {
  const std::vector<std::string_view> fields = SplitAt(line, ',');
  sample.time_ns = TimeOfSmi(fields.front());
  if (sample.time_ns == kNone64) return false;
  bool clock = false, power = false, share = false;
  auto take = [&](std::string_view field, std::string_view unit, std::string_view source,
                  bool& taken) {
    if (taken || !field.ends_with(unit)) return;
    if (const auto number = NumberOf(field))
      sample.values.push_back({std::string(source), *number});
    taken = true;
  };
  for (size_t i = 1; i < fields.size(); ++i) {
    const std::string_view field = fields[i];
    if (sample.gpu == kNone32 && i <= 2) sample.gpu = RankOrNone(ParseNumber<int64_t>(field));
    if (field.starts_with("GPU-")) sample.uuid = field;
    if (HasShape(field, "00000000:??:??.?")) sample.bus_id = field;
    take(field, " MHz", "clocks.current.sm", clock);
    take(field, " W", "power.draw", power);
    take(field, " %", "utilization.gpu", share);
  }
  return !sample.values.empty();
}

bool SmiSheet::AddMonitor(std::string_view line, SmiSample& sample) const {
  std::vector<std::string_view> words = MonitorFields(line);
  if (columns_.front() == kEntity) {
    // Units below the head, and what is no GPU.
    if (words.front() != "GPU") return true;
    words.erase(words.begin());
  }
  if (words.size() != columns_.size()) return false;
  std::string date;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& column = columns_[i];
    if (column == "gpu" || column == kEntity)
      sample.gpu = RankOrNone(ParseNumber<int64_t>(words[i]));
    if (column == "Date" && words[i].size() == 8) {
      date = std::string(words[i].substr(0, 4)) + "-" + std::string(words[i].substr(4, 2)) + "-" +
             std::string(words[i].substr(6)) + " ";
    }
    if (column == "Time") sample.time_ns = ParseIsoTime(date + std::string(words[i]));
    if (HostMetricOf(column).name.empty()) continue;
    if (const auto number = NumberOf(words[i])) sample.values.push_back({column, *number});
  }
  return sample.gpu != kNone32;
}

}  // namespace debrief::inputs::nvidia_smi

#include "inputs/nsys/export_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "inputs/nsys/ids.h"

namespace debrief::inputs::nsys {

namespace {

constexpr int64_t kMostBaseNs = 4'000'000'000'000'000'000;
constexpr size_t kMostNames = size_t{1} << 20;  // of processes, threads, domains
constexpr size_t kMostFactBytes = 4096;
constexpr int64_t kRecorderErrorLevel = 3;

constexpr std::string_view kStrings = "StringIds";

int64_t NumberIn(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? number : 0;
}

// 3.x and 2.x name the table differently.
std::string_view MetaTable(const SqliteDatabase& database) {
  return database.HasTable("META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
}

// CUDA_VISIBLE_DEVICES renumbers the devices of a process: which GPU its device is, where told.
std::unordered_map<int64_t, int64_t> DeviceOfGpu(SqliteDatabase& database, int64_t process) {
  constexpr std::array<std::string_view, 3> kColumns = {"gpuId", "cudaId", "pid"};
  std::unordered_map<int64_t, int64_t> device_of;
  SqliteScan scan(database, "TARGET_INFO_CUDA_DEVICE", kColumns);
  while (scan.Next() && device_of.size() < kMostNames) {
    if (process == kNone64 || scan.Int(2) == process)
      device_of.try_emplace(scan.Int(0), scan.Int(1));
  }
  return device_of;
}

void ReadDevices(SqliteDatabase& database, int64_t process, ExportFacts& facts) {
  constexpr std::array<std::string_view, 7> kColumns = {
      "id", "cuDevice", "name", "totalMemory", "smCount", "computeMajor", "computeMinor"};
  const auto device_of = DeviceOfGpu(database, process);
  SqliteScan scan(database, "TARGET_INFO_GPU", kColumns);
  while (scan.Next() && facts.devices.size() < 1024) {
    const auto told = device_of.find(scan.Int(0));
    ExportDevice device{.device = told == device_of.end() ? scan.Int(1) : told->second,
                        .name = std::string(scan.Text(2)),
                        .memory_bytes = scan.Int(3),
                        .multiprocessors = scan.Int(4)};
    if (device.device == kNone64) device.device = scan.Int(0);
    if (!scan.IsNull(5))
      device.compute_capability = fmt::format("{}.{}", scan.Int(5), scan.Int(6, 0));
    facts.devices.push_back(std::move(device));
  }
  std::stable_sort(facts.devices.begin(), facts.devices.end(),
                   [](const auto& a, const auto& b) { return a.device < b.device; });
}

void ReadVersions(SqliteDatabase& database, ExportFacts& facts) {
  constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
  constexpr std::array<std::string_view, 7> kKept = {
      "EXPORT_PRODUCT_VERSION", "EXPORT_SCHEMA_VERSION", "NvDriverVersion", "CudaDriverVersion",
      "OsDescription",          "CpuDescription",        "Hostname"};
  for (std::string_view table : {MetaTable(database), std::string_view("TARGET_INFO_SYSTEM_ENV")}) {
    SqliteScan scan(database, table, kColumns);
    while (scan.Next() && facts.facts.size() < 100) {
      if (std::find(kKept.begin(), kKept.end(), scan.Text(0)) == kKept.end()) continue;
      std::string name(scan.Text(0));
      facts.facts.emplace_back(std::move(name), scan.Text(1).substr(0, kMostFactBytes));
    }
  }
}

void ReadNames(SqliteDatabase& database, ExportFacts& facts) {
  constexpr std::array<std::string_view, 3> kProcess = {"pid", "globalPid", "name"};
  SqliteScan processes(database, "PROCESSES", kProcess);
  while (processes.Next() && facts.process_names.size() < kMostNames) {
    const int64_t pid = processes.IsNull(0) ? PidOf(processes.Int(1)) : processes.Int(0);
    facts.process_names.insert_or_assign(pid, std::string(processes.Text(2)));
  }
  constexpr std::array<std::string_view, 2> kThread = {"globalTid", "nameId"};
  SqliteTexts texts(database, kStrings, "value");
  SqliteScan threads(database, "ThreadNames", kThread);
  while (threads.Next() && facts.thread_names.size() < kMostNames)
    facts.thread_names.insert_or_assign(threads.Int(0), std::string(texts.Find(threads.Int(1))));
}

void ReadDomains(SqliteDatabase& database, ExportFacts& facts) {
  constexpr std::array<std::string_view, 5> kColumns = {"globalTid", "domainId", "text", "textId",
                                                        "eventType"};
  constexpr int64_t kDomainIsMade = 75;
  SqliteTexts texts(database, kStrings, "value");
  SqliteScan scan(database, "NVTX_EVENTS", kColumns);
  while (scan.Next() && facts.domains.size() < kMostNames) {
    if (scan.Int(4) != kDomainIsMade) continue;
    std::string_view name = scan.IsNull(2) ? texts.Find(scan.Int(3)) : scan.Text(2);
    facts.domains.emplace(DomainKey(scan.Int(0, 0), scan.Int(1, 0)), std::string(name));
  }
}

void ReadRecorderErrors(SqliteDatabase& database, ExportFacts& facts) {
  constexpr std::array<std::string_view, 2> kColumns = {"severity", "text"};
  SqliteScan scan(database, "DIAGNOSTIC_EVENT", kColumns);
  while (scan.Next() && facts.recorder_errors.size() < 100) {
    if (scan.Int(0) != kRecorderErrorLevel) continue;
    const std::string_view text = scan.Text(1);
    facts.recorder_errors.emplace_back(text.substr(0, std::min<size_t>(text.find('\n'), 200)));
  }
}

}  // namespace

int64_t DomainKey(int64_t global_id, int64_t domain) {
  return static_cast<int64_t>(static_cast<uint64_t>(PidOf(global_id)) << 32 ^
                              static_cast<uint64_t>(domain));
}

int64_t BaseOf(SqliteDatabase& database) {
  constexpr std::array<std::string_view, 1> kEpoch = {"utcEpochNs"};
  SqliteScan scan(database, "TARGET_INFO_SESSION_START_TIME", kEpoch);
  if (!scan.Next() || scan.IsNull(0)) return kNone64;
  int64_t base = scan.Int(0);
  constexpr std::array<std::string_view, 2> kNamed = {"name", "value"};
  SqliteScan shifts(database, MetaTable(database), kNamed);
  while (shifts.Next()) {
    if (shifts.Text(0) != "EXPORT_CONFIG_TIME_SHIFT") continue;
    if (__builtin_add_overflow(base, NumberIn(shifts.Text(1)), &base)) return kNone64;
  }
  return base > 0 && base <= kMostBaseNs ? base : kNone64;
}

std::string SystemProperty(SqliteDatabase& database, std::string_view name) {
  constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
  SqliteScan scan(database, "TARGET_INFO_SYSTEM_ENV", kColumns);
  while (scan.Next()) {
    if (scan.Text(0) == name) return std::string(scan.Text(1));
  }
  return {};
}

ExportFacts ReadExportFacts(SqliteDatabase& database, int64_t process) {
  ExportFacts facts;
  facts.base_ns = BaseOf(database);
  ReadDevices(database, process, facts);
  ReadVersions(database, facts);
  ReadNames(database, facts);
  ReadDomains(database, facts);
  ReadRecorderErrors(database, facts);
  return facts;
}

}  // namespace debrief::inputs::nsys

// What an export says about itself beside its events: clock, host, devices, names of processes and
// threads, NVTX domains. Small tables alone are read, but for one pass over NVTX_EVENTS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "base/sqlite/database.h"

namespace debrief::inputs::nsys {

struct ExportDevice {
  int64_t device = kNone64;  // as CUDA numbers it
  std::string name;
  int64_t memory_bytes = kNone64;
  int64_t multiprocessors = kNone64;
  std::string compute_capability;
};

struct ExportFacts {
  int64_t base_ns = kNone64;  // since 1970, of time 0
  std::vector<ExportDevice> devices;
  std::vector<std::pair<std::string, std::string>> facts;  // versions and the like
  std::vector<std::string> recorder_errors;                // texts
  std::unordered_map<int64_t, std::string> process_names;  // by pid
  std::unordered_map<int64_t, std::string> thread_names;   // by global thread id
  std::unordered_map<int64_t, std::string> domains;        // of NVTX; see DomainKey
};

// Domains are numbered within their process.
int64_t DomainKey(int64_t global_id, int64_t domain);

// `process`: whose numbers devices have; none: the only one.
ExportFacts ReadExportFacts(SqliteDatabase& database, int64_t process);

// When the recording began, nanoseconds since 1970; none when not told.
int64_t BaseOf(SqliteDatabase& database);

// A property of the machine that was recorded, for example Hostname; empty when not told.
std::string SystemProperty(SqliteDatabase& database, std::string_view name);

}  // namespace debrief::inputs::nsys

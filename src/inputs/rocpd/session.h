// One recording inside of a database of rocprofiler: its tables share the end of their names,
// rocpd_string_0b1c, rocpd_region_0b1c, ... A merged database has several recordings. What is small
// and what events refer to is read once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/pools/ids.h"
#include "base/sqlite/database.h"

namespace debrief::inputs::rocpd {

// The ends of names, sorted; one recording each.
std::vector<std::string> SessionsOf(const std::vector<std::string_view>& tables);

struct Agent {
  bool is_gpu = false;
  int64_t device = kNone64;  // among those of its type
  std::string name;
};

// Numbers of rows, which events refer to, and what stands there.
struct Session {
  std::string suffix;
  std::unordered_map<int64_t, int64_t> pids, tids;
  std::unordered_map<int64_t, std::string> process_names, thread_names, kernels;
  std::unordered_map<int64_t, std::string> environments;  // of processes, JSON
  std::unordered_map<int64_t, Agent> agents;
  std::string host;

  std::string Table(std::string_view base) const { return std::string(base) + suffix; }
  int64_t Pid(int64_t row) const;
  int64_t Tid(int64_t row) const;
};

Session ReadSession(SqliteDatabase& database, std::string suffix);

// What the event of a call or of a kernel tells: which of them belong together.
struct EventRef {
  int64_t stack = kNone64;     // the same for a call and what it put on a device
  int64_t category = kNone64;  // number of a text
};

// All events of a recording; as many as it has calls and kernels.
class EventRefs {
 public:
  EventRefs(SqliteDatabase& database, const Session& session);
  EventRef Find(int64_t event) const;
  // What kept some from being read; empty when nothing did.
  const std::string& damage() const { return damage_; }

 private:
  std::string damage_;
  std::unordered_map<int64_t, EventRef> refs_;
};

}  // namespace debrief::inputs::rocpd

#include "inputs/rocpd/session.h"

#include <algorithm>
#include <array>
#include <utility>

namespace debrief::inputs::rocpd {

namespace {

constexpr size_t kMostSessions = 256;
constexpr size_t kMostInfos = size_t{1} << 20;

int64_t FoundOr(const std::unordered_map<int64_t, int64_t>& numbers, int64_t row) {
  const auto found = numbers.find(row);
  return found == numbers.end() ? 0 : found->second;
}

void ReadProcesses(SqliteDatabase& database, Session& session) {
  constexpr std::array<std::string_view, 4> kColumns = {"id", "pid", "command", "environment"};
  SqliteScan scan(database, session.Table("rocpd_info_process"), kColumns);
  while (scan.Next() && session.pids.size() < kMostInfos) {
    session.pids[scan.Int(0)] = scan.Int(1, 0);
    session.process_names[scan.Int(0)] = std::string(scan.Text(2).substr(0, 200));
    session.environments[scan.Int(0)] = std::string(scan.Text(3));
  }
}

void ReadThreads(SqliteDatabase& database, Session& session) {
  constexpr std::array<std::string_view, 3> kColumns = {"id", "tid", "name"};
  SqliteScan scan(database, session.Table("rocpd_info_thread"), kColumns);
  while (scan.Next() && session.tids.size() < kMostInfos) {
    session.tids[scan.Int(0)] = scan.Int(1, 0);
    session.thread_names[scan.Int(0)] = std::string(scan.Text(2).substr(0, 200));
  }
}

void ReadAgents(SqliteDatabase& database, Session& session) {
  constexpr std::array<std::string_view, 6> kColumns = {"id",   "type",         "type_index",
                                                        "name", "product_name", "logical_index"};
  SqliteScan scan(database, session.Table("rocpd_info_agent"), kColumns);
  while (scan.Next() && session.agents.size() < kMostInfos) {
    Agent agent{.is_gpu = scan.Text(1) == "GPU",
                .device = scan.Int(scan.IsNull(2) ? 5 : 2, 0),
                .name = std::string(scan.Text(scan.Text(4).empty() ? 3 : 4))};
    session.agents[scan.Int(0)] = std::move(agent);
  }
}

void ReadKernels(SqliteDatabase& database, Session& session) {
  constexpr std::array<std::string_view, 3> kColumns = {"id", "display_name", "kernel_name"};
  SqliteScan scan(database, session.Table("rocpd_info_kernel_symbol"), kColumns);
  while (scan.Next() && session.kernels.size() < kMostInfos)
    session.kernels[scan.Int(0)] = std::string(scan.Text(scan.Text(1).empty() ? 2 : 1));
}

void ReadHost(SqliteDatabase& database, Session& session) {
  constexpr std::array<std::string_view, 1> kColumns = {"hostname"};
  SqliteScan scan(database, session.Table("rocpd_info_node"), kColumns);
  if (scan.Next()) session.host = std::string(scan.Text(0).substr(0, 200));
}

}  // namespace

std::vector<std::string> SessionsOf(const std::vector<std::string_view>& tables) {
  std::vector<std::string> suffixes;
  for (std::string_view table : tables) {
    for (std::string_view base : {"rocpd_kernel_dispatch", "rocpd_region", "rocpd_memory_copy"}) {
      if (table.starts_with(base)) suffixes.emplace_back(table.substr(base.size()));
    }
  }
  std::ranges::sort(suffixes);
  const auto repeated = std::ranges::unique(suffixes);
  suffixes.erase(repeated.begin(), repeated.end());
  suffixes.resize(std::min(suffixes.size(), kMostSessions));
  return suffixes;
}

int64_t Session::Pid(int64_t row) const { return FoundOr(pids, row); }
int64_t Session::Tid(int64_t row) const { return FoundOr(tids, row); }

Session ReadSession(SqliteDatabase& database, std::string suffix) {
  Session session{.suffix = std::move(suffix)};
  ReadProcesses(database, session);
  ReadThreads(database, session);
  ReadAgents(database, session);
  ReadKernels(database, session);
  ReadHost(database, session);
  return session;
}

EventRefs::EventRefs(SqliteDatabase& database, const Session& session) {
  constexpr std::array<std::string_view, 4> kColumns = {"id", "stack_id", "correlation_id",
                                                        "category_id"};
  SqliteScan scan(database, session.Table("rocpd_event"), kColumns);
  while (scan.Next()) {
    const int64_t stack = scan.Int(1, 0);
    const int64_t correlation = stack != 0 ? stack : scan.Int(2, 0);
    refs_[scan.Int(0)] = {.stack = correlation == 0 ? kNone64 : correlation,
                          .category = scan.Int(3)};
  }
  damage_ = scan.damage();
}

EventRef EventRefs::Find(int64_t event) const {
  const auto found = refs_.find(event);
  return found == refs_.end() ? EventRef() : found->second;
}

}  // namespace debrief::inputs::rocpd

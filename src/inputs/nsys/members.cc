#include "inputs/nsys/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "base/sqlite/database.h"
#include "base/text/strings.h"
#include "inputs/nsys/diagnostics.h"
#include "inputs/nsys/export_facts.h"
#include "inputs/nsys/ids.h"
#include "inputs/sniffing.h"

namespace debrief::inputs::nsys {

namespace {

constexpr size_t kMostProcesses = 64;  // of a node
constexpr size_t kMostTexts = 256, kMostTextBytes = size_t{32} << 20;
constexpr int64_t kMostMarks = 100'000;  // rows of NVTX_EVENTS that are looked at

using Ranks = std::map<int64_t, int32_t>;  // by pid

// Pieces of work by device, of each process.
using DeviceCounts = std::map<int64_t, std::map<int64_t, int64_t>>;

DeviceCounts WorkOfProcesses(SqliteDatabase& database) {
  constexpr std::array<std::string_view, 2> kColumns = {"globalPid", "deviceId"};
  DeviceCounts work;
  for (std::string_view table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}) {
    SqliteScan scan(database, table, kColumns);
    while (scan.Next() && work.size() <= kMostProcesses)
      ++work[PidOf(scan.Int(0, 0))][scan.Int(1, 0)];
  }
  return work;
}

// Processes with a CUDA context, which a small table lists.
std::set<int64_t> ProcessesWithContext(SqliteDatabase& database) {
  constexpr std::array<std::string_view, 1> kColumns = {"processId"};
  std::set<int64_t> pids;
  SqliteScan scan(database, "TARGET_INFO_CUDA_CONTEXT_INFO", kColumns);
  while (scan.Next() && pids.size() <= kMostProcesses) pids.insert(scan.Int(0));
  return pids;
}

// "MPI Rank 3", "rank 3", "Rank: 3".
int32_t RankInName(std::string_view name) {
  size_t at = std::min(name.find("Rank"), name.find("rank"));
  if (at == std::string_view::npos) return kNone32;
  at = name.find_first_not_of(" :#_=-", at + 4);
  return at == std::string_view::npos ? kNone32 : RankOrNone(NumberAt(name, at));
}

void TakeRank(int64_t pid, int32_t rank, Ranks& ranks) {
  if (rank != kNone32) ranks.try_emplace(pid, rank);
}

// As MPI numbers them, or as threads are called.
Ranks ToldRanks(SqliteDatabase& database) {
  Ranks ranks;
  constexpr std::array<std::string_view, 2> kMpi = {"globalTid", "rank"};
  SqliteScan mpi(database, "MPI_RANKS", kMpi);
  while (mpi.Next() && ranks.size() <= kMostProcesses)
    TakeRank(PidOf(mpi.Int(0, 0)), RankOrNone(mpi.Int(1)), ranks);
  SqliteTexts texts(database, "StringIds", "value");
  constexpr std::array<std::string_view, 2> kThreads = {"globalTid", "nameId"};
  SqliteScan threads(database, "ThreadNames", kThreads);
  while (threads.Next()) {
    const std::string_view name = texts.Find(threads.Int(1));
    TakeRank(PidOf(threads.Int(0, 0)), RankInName(name), ranks);
  }
  constexpr std::array<std::string_view, 4> kMarks = {"globalTid", "eventType", "text", "textId"};
  constexpr int64_t kThreadName = 39;
  SqliteScan marks(database, "NVTX_EVENTS", kMarks);
  for (int64_t looked_at = 0; looked_at < kMostMarks && marks.Next(); ++looked_at) {
    if (marks.Int(1) != kThreadName) continue;
    const std::string_view name = marks.IsNull(2) ? texts.Find(marks.Int(3)) : marks.Text(2);
    TakeRank(PidOf(marks.Int(0, 0)), RankInName(name), ranks);
  }
  return ranks;
}

// ---- The environment of the command: PROCESS_0:ENVIRONMENT_VARIABLE has  RANK="3"

struct Environment {
  int32_t rank = kNone32, world_size = kNone32;
};

// The number of the first of `names` that is set.
template <size_t count>
int32_t FirstSet(const std::map<std::string, int64_t, std::less<>>& variables,
                 const std::array<std::string_view, count>& names) {
  for (std::string_view name : names) {
    auto found = variables.find(name);
    if (found != variables.end()) return RankOrNone(found->second);
  }
  return kNone32;
}

Environment ReadEnvironment(SqliteDatabase& database) {
  constexpr std::array<std::string_view, 6> kRank = {
      "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PALS_RANKID", "SLURM_PROCID"};
  constexpr std::array<std::string_view, 4> kWorld = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
                                                      "PMI_SIZE", "SLURM_NTASKS"};
  constexpr std::array<std::string_view, 2> kColumns = {"name", "value"};
  std::map<std::string, int64_t, std::less<>> variables;
  SqliteScan scan(database, "META_DATA_CAPTURE", kColumns);
  while (scan.Next() && variables.size() < 100'000) {
    if (!scan.Text(0).ends_with(":ENVIRONMENT_VARIABLE")) continue;
    const std::string text(scan.Text(1));
    const size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const auto number = ParseNumber<int64_t>(Trimmed(text.substr(equals + 1), "\""));
    if (number) variables.try_emplace(text.substr(0, equals), *number);
  }
  return {FirstSet(variables, kRank), FirstSet(variables, kWorld)};
}

// ---- Processes.

// The device that each process uses most, where no two share one.
Ranks DevicesAsRanks(const DeviceCounts& work) {
  Ranks devices;
  std::set<int32_t> seen;
  for (const auto& [pid, by_device] : work) {
    const auto most =
        std::max_element(by_device.begin(), by_device.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const int32_t device = RankOrNone(most->first);
    if (device == kNone32 || !seen.insert(device).second) return {};
    devices[pid] = device;
  }
  return devices;
}

// One of `processes` that a command on each node started, where that is one of several: the command
// is a launcher, and its own number that of the node.
void PlaceOnNode(const Environment& command, int32_t local_rank, size_t processes,
                 Recognition& found) {
  found.local_rank = local_rank;
  const auto count = static_cast<int64_t>(processes);
  const bool is_of_nodes = command.rank != kNone32 && command.world_size > 1 && local_rank < count;
  if (!is_of_nodes || found.rank != kNone32) return;
  found.rank = RankOrNone(command.rank * count + local_rank);
  found.world_size = RankOrNone(command.world_size * count);
}

std::vector<InputMember> ListProcesses(SqliteDatabase& database) {
  Recognition common{
      .mine = true, .start_ns = BaseOf(database), .host = SystemProperty(database, "Hostname")};
  const Ranks ranks = ToldRanks(database);
  const std::set<int64_t> contexts = ProcessesWithContext(database);
  // The events themselves are counted only where it matters.
  DeviceCounts work;
  if (contexts.size() != 1) work = WorkOfProcesses(database);
  if (work.size() <= 1 || work.size() > kMostProcesses) {
    const Environment environment = ReadEnvironment(database);
    const int64_t pid = !work.empty()          ? work.begin()->first
                        : contexts.size() == 1 ? *contexts.begin()
                                               : kNone64;
    const auto told = ranks.find(pid);
    common.pid = pid;
    common.rank = told == ranks.end() ? environment.rank : told->second;
    common.world_size = environment.world_size;
    return {{.name = "", .recognition = common}};
  }
  const Ranks devices = DevicesAsRanks(work);
  const Environment command = ReadEnvironment(database);
  std::vector<InputMember> members;
  for (const auto& [pid, by_device] : work) {
    InputMember member{
        .name = fmt::format("process {}", pid), .recognition = common, .number = pid};
    const auto told = ranks.find(pid), device = devices.find(pid);
    member.recognition.pid = pid;
    if (told != ranks.end()) member.recognition.rank = told->second;
    if (device != devices.end())
      PlaceOnNode(command, device->second, work.size(), member.recognition);
    members.push_back(std::move(member));
  }
  return members;
}

// ---- What processes printed.

void AddTexts(SqliteDatabase& database, std::vector<InputMember>& members) {
  constexpr std::array<std::string_view, 3> kColumns = {"globalPid", "filenameId", "contentId"};
  SqliteTexts names(database, "StringIds", "value"), contents(database, "StringIds", "value");
  const Recognition common = members.front().recognition;
  SqliteScan scan(database, "ProcessStreams", kColumns);
  size_t texts = 0, bytes = 0;
  while (scan.Next() && texts < kMostTexts && bytes < kMostTextBytes) {
    std::string_view content = contents.Find(scan.Int(2));
    if (content.empty()) continue;
    content = content.substr(0, kMostTextBytes);
    const std::string_view name = FileName(names.Find(scan.Int(1)));
    const int64_t pid = PidOf(scan.Int(0, 0));
    InputMember member{
        .name = name.empty() ? fmt::format("pid_{}_stdout.log", pid) : std::string(name),
        .is_text = true,
        .text = std::string(content)};
    member.recognition.host = common.host;
    member.recognition.pid = pid;
    for (const InputMember& process : members) {
      if (!process.is_text && process.recognition.pid == pid)
        member.recognition.rank = process.recognition.rank;
    }
    ++texts;
    bytes += content.size();
    members.push_back(std::move(member));
  }
}

}  // namespace

std::vector<InputMember> ListMembers(const Source& source) {
  auto head = source.View(0, 16);
  if (!head.ok()) return {};
  if (!LooksLikeSqlite(head.value().text()))
    return {{.recognition = {.mine = true}, .unread = &kNotExported}};
  auto database = SqliteDatabase::Open(source);
  if (!database.ok()) return {};
  std::vector<InputMember> members = ListProcesses(*database.value());
  AddTexts(*database.value(), members);
  return members;
}

}  // namespace debrief::inputs::nsys

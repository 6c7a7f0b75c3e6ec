// Databases of rocprofiler (rocprofv3 --output-format rocpd): <pid>_results.db, SQLite.
// docs/formats/rocpd.md
#include "inputs/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text/strings.h"
#include "inputs/rocpd/diagnostics.h"
#include "inputs/rocpd/session.h"
#include "inputs/rocpd/session_rows.h"
#include "inputs/sniffing.h"
#include "model/timeline/kinds.h"
#include "tables/timeline.h"
#include "tables/timeline_device.h"
#include "torch/nvtx_text.h"

namespace debrief::inputs::rocpd {

namespace {

constexpr std::array<std::string_view, 9> kMakes = {"timeline",
                                                    "timeline_process",
                                                    "timeline_track",
                                                    "timeline_slice",
                                                    "timeline_device_work",
                                                    "timeline_op",
                                                    "timeline_collective",
                                                    "timeline_flow",
                                                    "timeline_device"};

Recognition Sniff(const SniffInput& input) {
  return {.mine = std::ranges::any_of(input.tables, [](const std::string& name) {
            return name.starts_with("rocpd_kernel_dispatch") || name.starts_with("rocpd_region");
          })};
}

// ---- Who it is of.

// A number in the environment of a process, which is JSON: "RANK": "3".
int32_t RankInEnvironment(std::string_view environment, std::string_view name) {
  return RankOrNone(PayloadNumber(environment, fmt::format("\"{}\"", name)));
}

// Rows of processes with kernels.
std::vector<int64_t> WorkingProcesses(SqliteDatabase& database, const Session& session) {
  constexpr std::array<std::string_view, 1> kColumns = {"pid"};
  constexpr size_t kMostProcesses = 64;
  std::map<int64_t, int64_t> kernels;
  SqliteScan scan(database, session.Table("rocpd_kernel_dispatch"), kColumns);
  while (scan.Next() && kernels.size() <= kMostProcesses) ++kernels[scan.Int(0, 0)];
  std::vector<int64_t> rows;
  for (const auto& [row, count] : kernels) rows.push_back(row);
  return rows;
}

Recognition RecogniseProcess(const Session& session, int64_t row) {
  Recognition found{.mine = true, .host = session.host, .pid = session.Pid(row)};
  const auto environment = session.environments.find(row);
  if (environment == session.environments.end()) return found;
  for (std::string_view name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (found.rank == kNone32) found.rank = RankInEnvironment(environment->second, name);
  }
  found.world_size = RankInEnvironment(environment->second, "WORLD_SIZE");
  return found;
}

// Which recording and which process of it.
int64_t MemberNumber(size_t session, int64_t process) {
  return static_cast<int64_t>(session) << 32 | (process & 0xffffffff);
}

std::vector<InputMember> ListMembers(const Source& source) {
  auto database = SqliteDatabase::Open(source);
  if (!database.ok()) return {};
  std::vector<InputMember> members;
  const std::vector<std::string> suffixes = SessionsOf(database.value()->Tables());
  for (size_t i = 0; i < suffixes.size(); ++i) {
    const Session session = ReadSession(*database.value(), suffixes[i]);
    for (int64_t row : WorkingProcesses(*database.value(), session)) {
      members.push_back({.name = fmt::format("process {}", session.Pid(row)),
                         .recognition = RecogniseProcess(session, row),
                         .number = MemberNumber(i, row)});
    }
  }
  if (members.size() == 1) {
    members.front().name.clear();
    members.front().number = kNone64;
  }
  return members;
}

// ---- Reading.

class RocpdReader final : public Reader {
 public:
  explicit RocpdReader(const ImportContext& context)
      : who_(context.who), member_(context.member), joiner_(context.who) {}

  Status Read(const Source& source, ByteRange, Part& part) const override {
    ASSIGN_OR_RETURN(auto database, SqliteDatabase::Open(source));
    timeline::TimelineWriter writer(who_, part);
    auto notes = std::make_unique<Notes>();
    const std::vector<std::string> suffixes = SessionsOf(database->Tables());
    for (size_t i = 0; i < suffixes.size(); ++i) {
      if (member_ != kNone64 && member_ >> 32 != static_cast<int64_t>(i)) continue;
      const Session session = ReadSession(*database, suffixes[i]);
      const int64_t process = member_ == kNone64 ? kNone64 : member_ & 0xffffffff;
      const EventCounts counts = AddSession(*database, session, process, who_, writer);
      notes->counts.events += counts.events;
      notes->counts.lost += counts.lost;
      NameAll(session, part);
      AddDevices(session, part);
    }
    part.notes = std::move(notes);
    return database->trouble();
  }

  Status Merge(Part&& part, Part& whole) override {
    if (part.notes != nullptr) counts_ = static_cast<const Notes&>(*part.notes).counts;
    part.notes.reset();
    joiner_.Merge(std::move(part), whole);
    return {};
  }

  Status Finish(Part& whole) override {
    if (counts_.events == 0) {
      whole.diagnostics.Add(kNoEvents, who_.input, {});
      return {};
    }
    // Times count from the start of the machine.
    joiner_.Finish({.producer = "rocpd", .events = counts_.events, .lost = counts_.lost}, whole);
    return {};
  }

 private:
  struct Notes final : PartNotes {
    EventCounts counts;
  };

  static void NameAll(const Session& session, Part& part) {
    std::map<std::string, std::string_view, std::less<>> threads, processes;
    for (const auto& [row, tid] : session.tids) {
      const auto name = session.thread_names.find(row);
      if (name != session.thread_names.end()) threads.emplace(std::to_string(tid), name->second);
    }
    for (const auto& [row, pid] : session.pids)
      processes.emplace(std::to_string(pid), session.process_names.at(row));
    auto& tracks = part.tables.Edit<TimelineTrackTable>();
    auto& process_rows = part.tables.Edit<TimelineProcessTable>();
    const StringId stream = part.pools.Intern(timeline::kStream);
    for (size_t i = 0; i < tracks.size(); ++i) {
      const auto process = static_cast<size_t>(tracks.process[i]);
      if (tracks.kind[i] == stream) {
        tracks.name[i] = part.pools.Intern(fmt::format("stream {}", tracks.stream[i]));
        process_rows.name[process] = process_rows.labels[process] =
            part.pools.Intern(fmt::format("GPU {}", part.pools.Text(process_rows.pid[process])));
        continue;
      }
      const auto name = threads.find(part.pools.Text(tracks.tid[i]));
      if (name != threads.end() && !name->second.empty())
        tracks.name[i] = part.pools.Intern(name->second);
      const auto command = processes.find(part.pools.Text(process_rows.pid[process]));
      if (command != processes.end())
        process_rows.name[process] = part.pools.Intern(command->second);
    }
  }

  void AddDevices(const Session& session, Part& part) const {
    std::map<int64_t, std::string_view> devices;
    for (const auto& [row, agent] : session.agents) {
      if (agent.is_gpu) devices.emplace(agent.device, agent.name);
    }
    for (const auto& [device, name] : devices) {
      auto row = Part::RowOf<TimelineDeviceRow>(who_);
      row.device = static_cast<int32_t>(std::clamp<int64_t>(device, 0, 1 << 20));
      row.name = part.pools.Intern(name);
      part.tables.Edit<TimelineDeviceTable>().Add(row);
    }
  }

  Identity who_;
  int64_t member_;
  EventCounts counts_;
  timeline::TimelineJoiner joiner_;
};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "rocpd",
               .sentence = "profile of rocprofiler (rocprofv3) as SQLite",
               .example = "node1/4711_results.db",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<RocpdReader>,
      .members = ListMembers};
  return kImporter;
}

}  // namespace debrief::inputs::rocpd

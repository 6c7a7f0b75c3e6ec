// How do the clocks of all sources of all ranks relate, and which process was which rank?
//
//   host_clocks.h   where the clock of each rank's host stands
//
// Dump, compile log and text of a rank are written by one process and read one clock; a profile may
// count from elsewhere and has an offset of its own. Cost: linear in the inputs.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/join/clocks/host_clocks.h"
#include "model/timeline/view.h"
#include "tables/comm_arrival.h"
#include "tables/comm_dump.h"
#include "tables/compile_entry.h"
#include "tables/compile_life.h"
#include "tables/input.h"
#include "tables/join_clock.h"
#include "tables/rank.h"
#include "tables/rank_process.h"
#include "tables/run_clock.h"
#include "tables/text_event.h"
#include "tables/timeline.h"
#include "tables/timeline_clock.h"
#include "tables/timeline_process.h"

namespace debrief::analyses::join_clocks {

namespace {

RankKey KeyOf(const Identity& who) { return {who.job, who.attempt, who.rank}; }

class Writer {
 public:
  Writer(const Model& model, Part& part) : model_(model), clocks_(model), part_(part) {}

  void Run() {
    AddProfiles();
    AddHostSources<CommDumpTable>("dump");
    AddHostSources<CompileLifeTable>("compile_log");
    AddHostSources<TextEventTable>("text");
    ReadHosts();
    AddProfileProcesses();
    AddLogProcesses();
  }

 private:
  void AddClock(const Identity& who, std::string_view source, bool wall, const Placed& placed) {
    auto row = Part::RowOf<RunClockRow>(who);
    row.source = part_.pools.Intern(source);
    row.clock = part_.pools.Intern(wall ? "wall" : "own");
    row.offset_ns = placed.offset_ns;
    if (!placed.how.empty()) row.how = part_.pools.Intern(placed.how);
    row.residual_ns = placed.residual_ns;
    part_.tables.Edit<RunClockTable>().Add(row);
  }

  void AddProfiles() {
    for (const ProfileClock& profile : clocks_.profiles()) {
      auto [job, attempt, rank] = profile.rank;
      AddClock({profile.input, job, attempt, rank}, "profile", profile.wall, profile.placed);
    }
  }

  // Inputs and ranks that have rows of a table, each once: they stand together.
  template <typename Table>
  void AddHostSources(std::string_view source) {
    const auto& table = model_.tables.Get<Table>();
    std::set<std::pair<int32_t, int32_t>> known;
    for (size_t row = 0; row < table.size(); ++row) {
      bool same = row > 0 && table.input[row] == table.input[row - 1] &&
                  table.rank[row] == table.rank[row - 1];
      if (same || !known.emplace(table.input[row], table.rank[row]).second) continue;
      Identity who{table.input[row], table.job[row], table.attempt[row], table.rank[row]};
      Placed host = clocks_.HostOf(KeyOf(who));
      // What was compared was the dump; the others read the same clock.
      if (source != "dump" && host.offset_ns != kNone64 && host.how != "assumed")
        host = {host.offset_ns, "host", kNone64};
      AddClock(who, source, true, host);
    }
  }

  void ReadHosts() {
    const auto& ranks = model_.tables.Get<RankTable>();
    for (size_t row = 0; row < ranks.size(); ++row)
      hosts_[{ranks.job[row], ranks.attempt[row], ranks.rank[row]}] = ranks.host[row];
  }

  void AddProcess(const Identity& who, std::string_view source, int64_t pid, int64_t thread) {
    auto row = Part::RowOf<RankProcessRow>(who);
    row.source = part_.pools.Intern(source);
    auto host = hosts_.find(KeyOf(who));
    if (host != hosts_.end() && host->second != StringId::kNone)
      row.host = part_.pools.Intern(model_.pools.Text(host->second));
    row.pid = pid;
    row.thread = thread;
    part_.tables.Edit<RankProcessTable>().Add(row);
  }

  // Kineto labels the process of the program CPU; devices are processes, too.
  void AddProfileProcesses() {
    const auto& processes = model_.tables.Get<TimelineProcessTable>();
    for (size_t row = 0; row < processes.size(); ++row) {
      if (model_.pools.Text(processes.labels[row]) != "CPU") continue;
      std::string_view text = model_.pools.Text(processes.pid[row]);
      int64_t pid = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
      if (error != std::errc() || end != text.data() + text.size() || pid <= 0) continue;
      Identity who{processes.input[row], processes.job[row], processes.attempt[row],
                   processes.rank[row]};
      AddProcess(who, "profile", pid, kNone64);
      pids_.emplace(KeyOf(who), pid);
    }
  }

  // A log names threads. The main thread has the number of its process: told when a profile of the
  // rank has that process.
  void AddLogProcesses() {
    const auto& entries = model_.tables.Get<CompileEntryTable>();
    std::set<std::pair<int32_t, int32_t>> known;
    std::pair<int32_t, int32_t> last{kNone32, kNone32};
    for (size_t row = 0; row < entries.size(); ++row) {
      std::pair<int32_t, int32_t> key(entries.input[row], entries.rank[row]);
      if ((row > 0 && key == last) || !known.insert(key).second) continue;
      last = key;
      Identity who{key.first, entries.job[row], entries.attempt[row], key.second};
      int64_t thread = entries.thread[row];
      auto [first, end] = pids_.equal_range(KeyOf(who));
      bool main = std::any_of(first, end, [&](const auto& pid) { return pid.second == thread; });
      AddProcess(who, "compile_log", main ? thread : kNone64, thread);
    }
  }

  const Model& model_;
  HostClocks clocks_;
  Part& part_;
  std::map<RankKey, StringId> hosts_;
  std::multimap<RankKey, int64_t> pids_;
};

Status Run(const Model& model, AnalysisResult& result) {
  Writer(model, result.part).Run();
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "join_clocks",
               .sentence = "How do the clocks of all sources relate, and which process is which "
                           "rank?",
               .example = "(makes tables only)",
               .needs = kTableNames<InputTable>,
               .makes = kTableNames<RunClockTable, RankProcessTable>,
               .uses = kTableNames<TimelineTable, TimelineClockTable, JoinClockTable, CommDumpTable,
                                   CommArrivalTable, CompileLifeTable, CompileEntryTable,
                                   TextEventTable, RankTable, TimelineProcessTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::join_clocks

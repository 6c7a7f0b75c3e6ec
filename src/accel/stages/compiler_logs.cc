// Compiler logs (-c): reading them, which is whose, and those that belong to another run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "accel/run.h"
#include "accel/stages/utilisation.h"
#include "base/bytes/decompress.h"
#include "base/bytes/source.h"
#include "base/bytes/spill.h"

namespace debrief::accel {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostLogBytes = uint64_t{1} << 30;

// Calls `use` with the text of a file, unpacked; of one that is cut with what it has.
template <typename Use>
Status WithText(const std::string& path, const Use& use) {
  ASSIGN_OR_RETURN(std::unique_ptr<Source> source, OpenFileSource(path));
  SpillBudget budget;
  budget.max_stream_memory = budget.max_memory_bytes = kMostLogBytes;
  ASSIGN_OR_RETURN(const ByteView head, source->View(0, 4));
  Spilled unpacked;
  if (const Packing packing = DetectPacking(head.text()); packing != Packing::kNone) {
    unpacked = Spill(*Decompress(packing, MakeSourceStream(*source), ExpansionLimits()), budget);
  }
  const Source& text = unpacked.source == nullptr ? *source : *unpacked.source;
  if (text.size() > kMostLogBytes) {
    return Status(Code::kLimit, path + " is too large for a compiler log");
  }
  ASSIGN_OR_RETURN(const ByteView bytes, text.View(0, static_cast<size_t>(text.size())));
  use(bytes.text());
  return unpacked.trouble;
}

LogRules RulesOf(const Options& options) {
  return options.compat ? LogRules::kReference : LogRules::kRight;
}

// Sorted by kernel, so that the result does not depend on the file system.
std::vector<fs::path> KernelFolders(const fs::path& folder) {
  std::vector<fs::path> kernels;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    kernels.push_back(at->path());
  }
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

CompilerLog ReadFolder(const std::string& path, const Options& options, Console& console) {
  IdealTable table;
  for (const fs::path& kernel : KernelFolders(fs::path(path) / "inductor-spyre")) {
    const std::string file = (kernel / "perf" / "ideal_cycles.json").string();
    std::error_code error;
    if (!fs::exists(file, error)) continue;
    Status added;
    const Status status = WithText(file, [&](std::string_view text) {
      added = AddIdealCycles(kernel.filename().string(), text, RulesOf(options), table);
    });
    for (const Status& each : {status, added}) {
      if (!each.ok()) console.Error("UTL: " + file + ": " + each.message());
    }
  }
  CompilerLog log;
  if (!table.kernels.empty()) log.tables.push_back(std::move(table));
  return log;
}

CompilerLog ReadLog(const std::string& path, const Options& options, Console& console) {
  CompilerLog log;
  const Status status = WithText(
      path, [&](std::string_view text) { log = ParseCompilerLog(text, RulesOf(options)); });
  if (!status.ok()) console.Error("UTL: " + path + ": " + status.message());
  for (const std::string& warning : log.warnings) console.Warning("UTL: " + warning);
  if (status.ok() && log.tables.empty() && !options.compat) {
    console.Warning("UTL: " + path +
                    " has no table of ideal cycles (\"~~~~ Ideal/Total Cycles ~~~~\"). Check that "
                    "it is the log of the compiler.");
  }
  return log;
}

CompilerLog ReadEntry(const std::string& path, const Options& options, Console& console) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return ReadFolder(path, options, console);
  if (fs::exists(status)) return ReadLog(path, options, console);
  console.Warning("UTL: " + path +
                  " is not there: no ideal cycles are known for it. Check the list behind -c.");
  return {};
}

void LogTables(const CompilerLog& log, Console& console) {
  if (log.autopilot) {
    console.Warning(
        "UTL: Detected autopilot=on. Event categorization, cycles table matching and other "
        "utilization-related data might be unreliable.");
  }
  for (const IdealTable& table : log.tables) {
    console.Info(fmt::format("UTL: Adding ideal cycles table ({}) with {} kernels", table.phase,
                             table.kernels.size()));
  }
}

}  // namespace

const CompilerLog* CompilerInfo::LogOf(const Value& rank) const {
  if (logs.empty()) return nullptr;
  size_t at = 0;
  if (logs.size() > 1 && !log_of_rank.empty()) {
    const size_t* place = log_of_rank.Find(rank);
    at = place == nullptr ? logs.size() : *place;
  } else if (logs.size() > 1) {
    if (!rank.IsInteger() || rank.integer < 0) return nullptr;
    at = static_cast<size_t>(rank.integer);
  }
  return at < logs.size() && !logs[at].tables.empty() ? &logs[at] : nullptr;
}

bool CompilerInfo::HasTables() const {
  return std::any_of(logs.begin(), logs.end(),
                     [](const CompilerLog& log) { return !log.tables.empty(); });
}

CompilerInfo LoadCompilerInfo(const Options& options, Console& console) {
  CompilerInfo info;
  std::string_view rest = options.compiler_info;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) {
      info.paths.emplace_back(rest.substr(0, comma));
      info.logs.push_back(ReadEntry(info.paths.back(), options, console));
    }
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (info.logs.size() > 1) {
    console.Info(fmt::format("UTL: Multi-AIU logs provided. Entries: {}", info.logs.size()));
  }
  for (const CompilerLog& log : info.logs) LogTables(log, console);
  return info;
}

const CompilerInfo& Utilization::Info(Run& run) {
  if (!loaded) info = LoadCompilerInfo(run.options, run.console);
  loaded = true;
  return info;
}

namespace {

// Ranks that have kernels, in order.
std::vector<Value> RanksWithKernels(const EventList& events, Run& run) {
  ByValue<bool> seen;
  for (const Event& event : events) {
    if (IsDeviceKernel(event, run)) seen[RankOf(event)] = true;
  }
  std::vector<Value> ranks;
  for (const auto& [rank, unused] : seen) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end(),
            [&](const Value& a, const Value& b) { return PidBefore(a, b, run.strings); });
  return ranks;
}

// Which log went where; a list that is too short or too long is likely a mistake.
void TellLogsOfRanks(const CompilerInfo& info, const std::vector<Value>& ranks, Run& run) {
  std::string text, without;
  for (size_t i = 0; i < std::max(ranks.size(), info.paths.size()); ++i) {
    const std::string rank = i < ranks.size() ? ranks[i].AsText(run.strings) : std::string();
    if (i >= info.paths.size()) {
      without += fmt::format("; rank {} has none", rank);
    } else if (i >= ranks.size()) {
      without += fmt::format("; {} is not used", info.paths[i]);
    } else {
      text += fmt::format("{}rank {}: {}", text.empty() ? "" : ", ", rank, info.paths[i]);
    }
  }
  run.console.Info("UTL: logs in the order of ranks: " + text);
  if (without.empty()) return;
  run.console.Warning(fmt::format("UTL: {} logs behind -c and {} ranks with kernels{}",
                                  info.paths.size(), ranks.size(), without));
}

}  // namespace

const CompilerInfo& Utilization::Info(const EventList& events, Run& run) {
  Info(run);
  if (std::exchange(has_ranks, true) || info.logs.size() < 2) return info;
  const std::vector<Value> ranks = RanksWithKernels(events, run);
  for (size_t i = 0; i < ranks.size(); ++i) info.log_of_rank[ranks[i]] = i;
  TellLogsOfRanks(info, ranks, run);
  return info;
}

namespace {

// What ran on the ranks of one log.
struct LogUse {
  size_t kernels = 0, known = 0;
  std::string example;  // a kernel that the log does not name
};

bool Names(const CompilerLog& log, const Event& event, Utilization& state, Run& run) {
  return std::any_of(log.tables.begin(), log.tables.end(), [&](const IdealTable& table) {
    NamedTable& named = state.Table(table);
    return (event.Has(key::kFnIdx) ? named.RowOf(KernelName(event, run))
                                   : named.RowOf(event.name, run)) >= 0;
  });
}

}  // namespace

void WarnOfStrangeLogs(const EventList& events, Utilization& state, Run& run) {
  const std::vector<CompilerLog>& logs = state.info.logs;
  std::vector<LogUse> uses(logs.size());
  for (const Event& event : events) {
    if (!IsDeviceKernel(event, run)) continue;
    const CompilerLog* log = state.info.LogOf(RankOf(event));
    if (log == nullptr || log->autopilot) continue;  // programs have other names than kernels
    LogUse& use = uses[static_cast<size_t>(log - logs.data())];
    ++use.kernels;
    if (use.known > 0) continue;
    use.known += Names(*log, event, state, run);
    use.example = KernelName(event, run);
  }
  for (size_t i = 0; i < logs.size(); ++i) {
    if (uses[i].kernels == 0 || uses[i].known > 0) continue;
    run.console.Warning(
        fmt::format("UTL: {} names none of the {} kernels that ran (for example {}). Check that "
                    "the log (-c) belongs to this run.",
                    state.info.paths[i], uses[i].kernels, uses[i].example));
  }
}

}  // namespace debrief::accel

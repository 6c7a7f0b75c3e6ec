#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "accel/run.h"
#include "accel/stages/utilisation.h"
#include "base/bytes/decompress.h"
#include "base/bytes/source.h"
#include "base/bytes/spill.h"
#include "model/accel/iterations.h"

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

namespace {

uint64_t PairKey(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace

int32_t NamedTable::RowOf(StringId name, const Run& run) {
  const auto [at, is_new] = rows_.try_emplace(name, -1);
  if (is_new) at->second = RowOf(WithoutExec(run.Text(name)));
  return at->second;
}

int32_t NamedTable::RowOf(std::string_view kernel) const {
  const auto at = table_.by_name.find(std::string(kernel));
  return at == table_.by_name.end() ? -1 : static_cast<int32_t>(at->second);
}

// The last row is followed by the first: a job may hold several rounds.
bool NamedTable::Follows(int32_t first, int32_t second) {
  const std::vector<uint32_t>& sequence = table_.sequence;
  if (pairs_.empty() && !sequence.empty()) {
    for (size_t i = 0; i < sequence.size(); ++i) {
      pairs_.insert(PairKey(sequence[i], sequence[(i + 1) % sequence.size()]));
    }
  }
  if (first < 0 || second < 0) return false;
  return pairs_.contains(PairKey(static_cast<uint32_t>(first), static_cast<uint32_t>(second)));
}

CategoryUse& TableUse::Of(std::string_view category) {
  const auto at = std::find_if(categories.begin(), categories.end(),
                               [&](const CategoryUse& use) { return use.category == category; });
  if (at != categories.end()) return *at;
  // Total stays last.
  return *categories.insert(categories.end() - 1, CategoryUse{.category = std::string(category)});
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

NamedTable& Utilization::Table(const IdealTable& table) {
  std::unique_ptr<NamedTable>& named = tables[&table];
  if (named == nullptr) named = std::make_unique<NamedTable>(table);
  return *named;
}

TableUse& Utilization::Use(const Value& pid, const IdealTable& table, bool autopilot) {
  std::vector<size_t>& of_pid = uses_of_pid[pid];
  for (const size_t at : of_pid) {
    if (uses[at].table == &table) return uses[at];
  }
  of_pid.push_back(uses.size());
  TableUse& use = uses.emplace_back();
  use.pid = pid;
  use.table = &table;
  use.autopilot = autopilot;
  use.categories.push_back({.category = "Total"});
  use.Of("StcdpHbm");
  use.Of("other");
  for (const std::string& category : table.categories) use.Of(category);
  return use;
}

std::pair<uint32_t, int64_t> JobKey(const Event& event, const Run& run) {
  return {event.job, IntegerArg(event, key::kCorrelation, run).value_or(-1)};
}

namespace {

using KernelRows = std::vector<uint32_t>;  // indices of events

struct Score {
  double known = 0;  // share of the kernels
  double value = 0;
};

Score Rate(std::span<const uint32_t> piece, const EventList& events, NamedTable& table, Run& run) {
  double known = 0, in_order = 0, possible = 0, ideal = 0, time = 0;
  int32_t last = -1;
  for (const uint32_t at : piece) {
    const Event& event = events[at];
    const int32_t row = table.RowOf(event.name, run);
    const auto cycles =
        row < 0 ? 0.0 : static_cast<double>(table.table().kernels[static_cast<size_t>(row)].cycles);
    const double ideal_us = cycles / run.options.core_mhz;
    known += row >= 0;
    in_order += table.Follows(last, row);
    possible += row >= 0 && ideal_us <= event.dur;
    ideal += ideal_us;
    time += event.dur;
    last = row;
  }
  const auto count = static_cast<double>(piece.size());
  const double filled = time > 0 ? std::min(1.0, ideal / time) : 0;
  return {known / count, (known + possible) / count + 0.5 * in_order / count + 0.1 * filled};
}

void ChooseForPiece(std::span<const uint32_t> piece, const EventList& events,
                    const CompilerLog& log, Utilization& state, Run& run, TableChoice& choice) {
  if (piece.empty()) return;
  Score best;
  uint32_t best_table = 0;
  for (size_t i = 0; i < log.tables.size(); ++i) {
    const Score score = Rate(piece, events, state.Table(log.tables[i]), run);
    if (score.value <= best.value) continue;
    best = score;
    best_table = static_cast<uint32_t>(i);
  }
  ++choice.pieces;
  choice.unclear_pieces += best.known < 0.5;
  for (const uint32_t at : piece) choice.table[at] = best_table;
}

void ChooseForJob(KernelRows& kernels, const EventList& events, const CompilerLog& log,
                  Utilization& state, Run& run, TableChoice& choice) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](uint32_t a, uint32_t b) { return events[a].ts < events[b].ts; });
  std::vector<uint32_t> names;
  for (const uint32_t at : kernels) names.push_back(static_cast<uint32_t>(events[at].name));
  const Iterations iterations = FindIterations(names);
  std::vector<size_t> borders{0};
  for (const size_t start : iterations.starts) {
    borders.push_back(start);
    borders.push_back(start + iterations.period);
  }
  borders.push_back(kernels.size());
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::span<const uint32_t> all(kernels);
    ChooseForPiece(all.subspan(borders[i], borders[i + 1] - borders[i]), events, log, state, run,
                   choice);
  }
}

}  // namespace

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

TableChoice ChooseTables(const EventList& events, Utilization& state, Run& run) {
  TableChoice choice;
  choice.table.resize(events.size(), 0);
  ByValue<ByValue<KernelRows>> ranks;  // by job
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (!IsDeviceKernel(event, run)) continue;
    const CompilerLog* log = state.info.LogOf(RankOf(event));
    if (log == nullptr || log->tables.size() < 2) continue;
    ranks[RankOf(event)][Value::Integer(event.job)].push_back(static_cast<uint32_t>(i));
  }
  for (auto& [rank, jobs] : ranks) {
    for (auto& [job, kernels] : jobs) {
      ChooseForJob(kernels, events, *state.info.LogOf(rank), state, run, choice);
    }
  }
  return choice;
}

}  // namespace debrief::accel

#include "analyses/text/stacks/histories.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include "analyses/text/process_ranks.h"
#include "base/text/strings.h"
#include "tables/input.h"
#include "tables/stack_dump.h"

namespace debrief::analyses::text_stacks {

namespace {

std::vector<FrameView> FramesOf(const Model& model, size_t row) {
  std::vector<FrameView> frames;
  for (FrameId id : model.pools.GetStack(model.tables.Get<StackDumpTable>().stack[row])) {
    const Frame& frame = model.pools.GetFrame(id);
    frames.push_back({model.pools.Text(frame.file), model.pools.Text(frame.function), frame.line});
  }
  return frames;
}

Stand StandOf(const Model& model, size_t row) {
  Stand stand;
  stand.row = row;
  stand.error = model.pools.Text(model.tables.Get<StackDumpTable>().error[row]);
  std::vector<FrameView> frames = FramesOf(model, row);
  StackSummary summary = SummariseStack(frames);
  stand.doing = summary.doing;
  stand.what = std::move(summary.what);
  if (summary.user < frames.size()) {
    stand.place = LineInWords(frames[summary.user]);
    if (!frames[summary.user].function.starts_with('<'))
      stand.function = frames[summary.user].function;
    stand.file = frames[summary.user].file;
    stand.line = frames[summary.user].line;
  }
  // Hosts may have the program in different folders.
  for (size_t i : summary.path) {
    stand.key +=
        fmt::format("{}:{} {}\n", FileName(frames[i].file), frames[i].line, frames[i].function);
  }
  if (!stand.error.empty()) stand.key = stand.error;
  return stand;
}

// The main thread waits for the one that computes gradients: there the hooks of DDP, FSDP and of
// the user run, with no frame of the program around them.
bool ComputesGradients(const Model& model, size_t row) {
  std::vector<FrameView> frames = FramesOf(model, row);
  if (frames.empty()) return false;
  return frames.back().function != "<module>" &&
         !frames.back().function.starts_with("_bootstrap") && !IsIdleThread(frames);
}

struct Dump {
  size_t main = SIZE_MAX;
  std::vector<size_t> others;
};

Stand ChooseStand(const Model& model, const Dump& dump) {
  Stand stand = StandOf(model, dump.main);
  if (stand.doing != Doing::kDevice || !stand.error.empty()) return stand;
  for (size_t row : dump.others) {
    if (!ComputesGradients(model, row)) continue;
    Stand other = StandOf(model, row);
    bool waits = other.doing == Doing::kWait || other.doing == Doing::kSync;
    bool tells = waits || other.doing == Doing::kWork || other.doing == Doing::kCall;
    if (!tells) continue;
    if (other.place.empty() || waits) {
      other.place = stand.place;
      other.function = stand.function;
      other.file = stand.file;
      other.line = stand.line;
    }
    other.key += stand.key;
    return other;
  }
  return stand;
}

struct Process {
  int32_t rank;
  int64_t pid;
  auto operator<=>(const Process&) const = default;
};

// When it was made, as far as that is known; inputs come in the order of their paths.
struct Order {
  int64_t time_ns;
  int32_t input;
  int32_t dump;
  auto operator<=>(const Order&) const = default;
};

using Dumps = std::map<Process, std::map<Order, Dump>>;
using SeriesKey = std::tuple<int32_t, int32_t, std::string_view>;

// The process in the name of a file that tells none inside: hang_456.txt. Small numbers are of
// nodes, rounds and the like.
int64_t PidInName(std::string_view path) {
  constexpr int64_t kLeast = 100;
  std::string_view name = FileName(path);
  size_t last = name.find_last_of("0123456789");
  if (last == std::string_view::npos) return kNone64;
  size_t before = name.find_last_not_of("0123456789", last);
  int64_t pid = kNone64;
  size_t first = before == std::string_view::npos ? 0 : before + 1;
  std::from_chars(name.data() + first, name.data() + last + 1, pid);
  return pid < kLeast ? kNone64 : pid;
}

// Rows of one tool in one attempt, sorted by whose they are.
class Sorter {
 public:
  explicit Sorter(const Model& model)
      : model_(model), table_(model.tables.Get<StackDumpTable>()), ranks_(model) {}

  std::map<SeriesKey, Dumps> Sort() {
    for (size_t row = 0; row < table_.size(); ++row) CountProcesses(row);
    for (size_t row = 0; row < table_.size(); ++row) AddRow(row);
    return std::move(all_);
  }

 private:
  SeriesKey KeyOf(size_t row) const {
    return {table_.job[row], table_.attempt[row], model_.pools.Text(table_.source[row])};
  }

  // Launchers and workers are no ranks, whatever the file is called; a crash is told by
  // outputs, and is no picture of a wait.
  bool IsOfRank(size_t row) const {
    if (table_.child[row] || table_.job[row] == kNone32) return false;
    if (model_.pools.Text(table_.reason[row]).starts_with("Fatal")) return false;
    return !table_.main[row] || StandOf(model_, row).doing != Doing::kHelper;
  }

  // Two processes of one rank: local ranks of several hosts, taken for ranks.
  void CountProcesses(size_t row) {
    bool counts = table_.main[row] && table_.rank[row] != kNone32 && table_.pid[row] != kNone64;
    if (!counts || !IsOfRank(row)) return;
    auto [known, is_new] = pids_.try_emplace({KeyOf(row), table_.rank[row]}, table_.pid[row]);
    if (!is_new && known->second != table_.pid[row]) known->second = kNone64;
  }

  Process ProcessOf(size_t row) const {
    Process process{table_.rank[row], kNone64};
    int64_t pid = table_.pid[row];
    auto one = pids_.find({KeyOf(row), process.rank});
    if (one != pids_.end() && one->second == kNone64) process.rank = kNone32;
    if (process.rank != kNone32) return process;
    if (pid == kNone64) {
      const auto& inputs = model_.tables.Get<InputTable>();
      auto input = static_cast<size_t>(table_.input[row]);
      if (input < inputs.size()) pid = PidInName(model_.pools.Text(inputs.path[input]));
    }
    if (table_.rank[row] == kNone32)
      process.rank = ranks_.RankOf(table_.job[row], table_.attempt[row], pid);
    if (process.rank == kNone32) process.pid = pid;
    return process;
  }

  void AddRow(size_t row) {
    if (!IsOfRank(row)) return;
    Process process = ProcessOf(row);
    if (process.rank == kNone32 && process.pid == kNone64) return;
    Order order{table_.time_ns[row], table_.input[row], table_.dump[row]};
    Dump& dump = all_[KeyOf(row)][process][order];
    if (table_.main[row] || table_.error[row] != StringId::kNone) {
      dump.main = row;
    } else {
      dump.others.push_back(row);
    }
  }

  const Model& model_;
  const StackDumpTable& table_;
  ProcessRanks ranks_;
  std::map<std::pair<SeriesKey, int32_t>, int64_t> pids_;  // kNone64: several
  std::map<SeriesKey, Dumps> all_;
};

}  // namespace

size_t History::still() const {
  size_t still = 1;
  const Stand& now = last();
  for (size_t i = stands.size() - 1; i-- > 0;) {
    bool same = stands[i].key == now.key && stands[i].doing == now.doing;
    if (!same) break;
    ++still;
  }
  return still;
}

bool History::moved_before() const {
  size_t earlier = stands.size() - still();
  return std::any_of(stands.begin(), stands.begin() + static_cast<std::ptrdiff_t>(earlier),
                     [](const Stand& stand) { return stand.doing != Doing::kStartUp; });
}

std::vector<Series> CollectSeries(const Model& model) {
  std::vector<Series> result;
  for (const auto& [key, dumps] : Sorter(model).Sort()) {
    Series series;
    std::tie(series.job, series.attempt, series.source) = key;
    for (const auto& [process, ordered] : dumps) {
      History history{process.rank, process.pid, {}};
      for (const auto& [order, dump] : ordered) {
        if (dump.main != SIZE_MAX) history.stands.push_back(ChooseStand(model, dump));
      }
      if (!history.stands.empty()) series.processes.push_back(std::move(history));
    }
    result.push_back(std::move(series));
  }
  return result;
}

}  // namespace debrief::analyses::text_stacks

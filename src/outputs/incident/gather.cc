#include "outputs/incident/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "tables/attempt.h"
#include "tables/comm_arrival.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/first_incomplete.h"
#include "tables/job.h"
#include "tables/process_exit.h"
#include "tables/progress.h"
#include "tables/rank.h"
#include "tables/stack_dump.h"
#include "tables/text_event.h"
#include "torch/collective_names.h"
#include "torch/end_signs.h"
#include "torch/stacks/stack_roles.h"

namespace debrief::incident {

namespace {

constexpr int32_t kMostRanks = 100'000;  // a world size beyond it is not believed
constexpr int64_t kFarApart = int64_t{3600} * 1'000'000'000;
constexpr int64_t kMs = 1'000'000;

void Earliest(int64_t& time, int64_t other) {
  if (other != kNone64) time = time == kNone64 ? other : std::min(time, other);
}
void Latest(int64_t& time, int64_t other) { time = std::max(time, other); }

// "all_reduce #16 of mesh_dp".
std::string OpWords(std::string_view op, int64_t seq, std::string_view group) {
  std::string words(timeline::PublicOp(op));
  if (seq != kNone64) words += fmt::format(" #{}", seq);
  if (!group.empty()) words += fmt::format(" of {}", group);
  return words;
}

// "train.py" of "/home/user/train.py".
std::string_view BaseName(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

class Gatherer {
 public:
  Gatherer(const Model& model, const Finding& finding) : model_(model) {
    facts_.job = finding.job;
    facts_.attempt = finding.attempt;
    for (int32_t rank : finding.ranks) facts_.ranks[rank].is_blamed = finding.role == Role::kCause;
  }

  Facts Gather() {
    AddRanks();
    FindClocks();
    AddDumps();
    AddCompilations();
    AddOutput();
    AddExits();
    AddStacks();
    FindRestart();
    return std::move(facts_);
  }

 private:
  template <typename Table>
  bool IsOurs(const Table& table, size_t row) const {
    return facts_.Has(table.job[row], table.attempt[row]);
  }

  template <typename Table>
  RankFacts* FactsOf(const Table& table, size_t row) {
    if (!IsOurs(table, row) || table.rank[row] == kNone32) return nullptr;
    if (last_ != nullptr && last_rank_ == table.rank[row])
      return last_;  // rows of a rank follow each other
    auto found = facts_.ranks.find(table.rank[row]);
    last_rank_ = table.rank[row];
    return last_ = found == facts_.ranks.end() ? nullptr : &found->second;
  }

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  // Ranks that left something, and those that the job was started with.
  void AddRanks() {
    const auto& ranks = model_.tables.Get<RankTable>();
    for (size_t row = 0; row < ranks.size(); ++row) {
      if (IsOurs(ranks, row) && ranks.rank[row] != kNone32)
        facts_.ranks[ranks.rank[row]].has_data = true;
    }
    const auto& jobs = model_.tables.Get<JobTable>();
    for (size_t row = 0; row < jobs.size(); ++row) {
      if ((facts_.job != kNone32 && jobs.job[row] != facts_.job) || jobs.world_size[row] == kNone32)
        continue;
      for (int32_t rank = 0; rank < std::min(jobs.world_size[row], kMostRanks); ++rank)
        facts_.ranks[rank];
    }
  }

  void FindClocks() {
    const auto& arrivals = model_.tables.Get<CommArrivalTable>();
    for (size_t row = 0; row < arrivals.size(); ++row) {
      if (IsOurs(arrivals, row) && arrivals.clock_correction_ns[row] != kNone64)
        facts_.ranks[arrivals.rank[row]].clock = arrivals.clock_correction_ns[row];
    }
  }

  static int64_t OnRunClock(const RankFacts& rank, int64_t time) {
    return time == kNone64 ? time : time - rank.clock;
  }

  // Of the ops of a rank: when the first and the last of them were issued, and the last completed.
  void AddDump(int64_t first, int64_t last, int64_t done, RankFacts& rank) {
    rank.has_dump = true;
    Earliest(rank.first, OnRunClock(rank, first));
    Latest(rank.last_done, OnRunClock(rank, done));
    const int64_t newest = OnRunClock(rank, std::max(last, done));
    Latest(rank.last, newest);
    Latest(dumps_end_, newest);
  }

  void AddDumps() {
    const auto& ops = model_.tables.Get<CommOpTable>();
    for (size_t row = 0; row < ops.size();) {
      const size_t begin = row;
      const int32_t job = ops.job[row], attempt = ops.attempt[row], rank = ops.rank[row];
      int64_t first = kNone64, last = kNone64, done = kNone64;
      for (; row < ops.size() && ops.rank[row] == rank && ops.job[row] == job &&
             ops.attempt[row] == attempt;
           ++row) {
        Earliest(first, ops.created_ns[row]);
        Latest(last, ops.created_ns[row]);
        Latest(done, ops.completed_ns[row]);
      }
      if (RankFacts* facts = FactsOf(ops, begin)) AddDump(first, last, done, *facts);
    }
    const auto& open = model_.tables.Get<FirstIncompleteTable>();
    for (size_t row = 0; row < open.size(); ++row) {
      RankFacts* rank = FactsOf(open, row);
      const auto op = static_cast<size_t>(open.op_row[row]);
      if (rank == nullptr || open.op_row[row] < 0 || op >= ops.size()) continue;
      const int64_t created = OnRunClock(*rank, ops.created_ns[op]);
      if (created == kNone64 || (rank->pending.from != kNone64 && rank->pending.from <= created))
        continue;
      const std::string_view group = Text(open.group_desc[row]);
      rank->pending = {created, OpWords(Text(open.op[row]), open.seq[row],
                                        group.empty() ? Text(open.group_name[row]) : group)};
    }
  }

  void AddCompilations() {
    const auto& compilations = model_.tables.Get<CompilationTable>();
    for (size_t row = 0; row < compilations.size(); ++row) {
      RankFacts* rank = FactsOf(compilations, row);
      const int64_t from = compilations.start_ns[row], to = compilations.end_ns[row];
      if (rank == nullptr || from == kNone64 || to == kNone64 || to < from) continue;
      std::string words = fmt::format("compiling {}", Text(compilations.function[row]));
      if (!Text(compilations.file[row]).empty())
        words +=
            fmt::format(" ({}:{})", BaseName(Text(compilations.file[row])), compilations.line[row]);
      Earliest(rank->first, from);
      Latest(rank->last, to);
      rank->spans.push_back({from, to, Activity::kCompiling, std::move(words)});
    }
  }

  // ---- what ranks print

  // Times of texts have guessed zones: an hour and more away from the dumps they are not used.
  bool IsOnRunClock(int64_t time) {
    if (time == kNone64) return false;
    const bool is_near = dumps_end_ == kNone64 || std::abs(time - dumps_end_) < kFarApart;
    facts_.has_other_clock |= !is_near;
    return is_near;
  }

  void AddOutput() {
    const auto& events = model_.tables.Get<TextEventTable>();
    for (size_t row = 0; row < events.size(); ++row) {
      RankFacts* rank = FactsOf(events, row);
      if (rank == nullptr) continue;
      rank->has_data = true;
      AddEvent(events, row, *rank);
    }
    const auto& progress = model_.tables.Get<ProgressTable>();
    for (size_t row = 0; row < progress.size(); ++row) {
      RankFacts* rank = FactsOf(progress, row);
      if (rank == nullptr || !IsOnRunClock(progress.time_ns[row])) continue;
      Latest(rank->last, progress.time_ns[row]);
      Earliest(rank->first, progress.time_ns[row]);
      if (progress.step[row] != kNone64)
        rank->marks.push_back(
            {progress.time_ns[row], MarkKind::kStep, fmt::format("step {}", progress.step[row])});
    }
  }

  void AddEvent(const TextEventTable& events, size_t row, RankFacts& rank) {
    const std::string_view kind = Text(events.kind[row]);
    const std::string words = EventWords(events, row);
    const bool has_time = IsOnRunClock(events.time_ns[row]);
    const int64_t at = has_time ? OnRunClock(rank, events.time_ns[row]) : kNone64;
    if (has_time) {
      Earliest(rank.first, at);
      Latest(rank.last, at);
    } else if (!words.empty()) {
      rank.untimed = words;
    }
    if (kind == "watchdog_timeout") AddTimeout(events, row, at, rank);
    if (!has_time) return;
    if (kind == "traceback" || kind == "out_of_memory" || kind == "cuda_error" ||
        kind == "device_assert")
      rank.marks.push_back({at, MarkKind::kError, words});
    if (kind == "teardown") AddEnd(at, "ended by its watchdog", rank);
    if (kind == "signal" || kind == "exit") AddEnd(at, words, rank);
  }

  // What is worth a word about a rank; "" of an event that tells little.
  std::string EventWords(const TextEventTable& events, size_t row) const {
    const std::string_view kind = Text(events.kind[row]);
    if (kind == "watchdog_timeout")
      return fmt::format("watchdog timeout in {}", OpWords(Text(events.op[row]), events.seq[row],
                                                           Text(events.group_desc[row])));
    if (kind == "signal" || kind == "exit") return ExitWords(events.exit_code[row]);
    if (kind == "traceback" || kind == "out_of_memory" || kind == "cuda_error")
      return std::string(Text(events.text[row]).substr(0, 120));
    return "";
  }

  static std::string ExitWords(int32_t code) {
    if (code == kNone32) return "ended";
    const int32_t exact = SignalOrCode(code);
    return exact < 0 ? fmt::format("ended by {}", SignalName(-exact))
                     : fmt::format("exit code {}", exact);
  }

  // The dump, where there is one, knows better what the rank waits in and since when.
  void AddTimeout(const TextEventTable& events, size_t row, int64_t at, RankFacts& rank) {
    if (at == kNone64) return;
    Earliest(rank.timeout, at);
    rank.marks.push_back({at, MarkKind::kTimeout, EventWords(events, row)});
    const int64_t ran = events.ran_ms[row];
    if (rank.has_dump || ran == kNone64 || ran < 0 || ran > 1000 * kFarApart / kMs) return;
    const int64_t from = at - ran * kMs;
    if (rank.pending.from == kNone64 || from < rank.pending.from)
      rank.pending = {from,
                      OpWords(Text(events.op[row]), events.seq[row], Text(events.group_desc[row]))};
  }

  // Launchers tell whole seconds: a process is not dead before the last thing that it did.
  static void AddEnd(int64_t at, const std::string& words, RankFacts& rank) {
    if (rank.ended != kNone64 && rank.ended <= at) return;
    rank.ended = std::max({at, rank.last_done, rank.pending.from});
    rank.end_words = words;
  }

  void AddExits() {
    const auto& exits = model_.tables.Get<ProcessExitTable>();
    for (size_t row = 0; row < exits.size(); ++row) {
      RankFacts* rank = FactsOf(exits, row);
      if (rank == nullptr) continue;
      const std::string words = ExitWords(exits.exit_code[row]);
      if (IsOnRunClock(exits.time_ns[row]))
        AddEnd(OnRunClock(*rank, exits.time_ns[row]), words, *rank);
      else if (rank->untimed.empty())
        rank->untimed = words;
    }
    for (auto& [number, rank] : facts_.ranks) {
      if (rank.ended == kNone64) continue;
      rank.marks.push_back({rank.ended, MarkKind::kExit, rank.end_words});
      Latest(rank.last, rank.ended);
    }
  }

  // ---- stacks

  // Where the main thread of each rank stood when its last stack was printed.
  void AddStacks() {
    const auto& dumps = model_.tables.Get<StackDumpTable>();
    std::map<int32_t, size_t> newest;
    for (size_t row = 0; row < dumps.size(); ++row) {
      if (FactsOf(dumps, row) == nullptr || dumps.main[row] == 0 || dumps.child[row] != 0 ||
          dumps.stack[row] == StackId::kNone)
        continue;
      const auto [found, is_new] = newest.try_emplace(dumps.rank[row], row);
      if (!is_new && dumps.time_ns[row] >= dumps.time_ns[found->second]) found->second = row;
    }
    for (const auto& [number, row] : newest) {
      RankFacts& rank = facts_.ranks[number];
      rank.has_data = true;
      rank.host = SpanOfStack(dumps.stack[row], dumps.time_ns[row]);
    }
  }

  Span SpanOfStack(StackId stack, int64_t time) const {
    std::vector<FrameView> frames;
    for (FrameId id : model_.pools.GetStack(stack)) {
      const Frame& frame = model_.pools.GetFrame(id);
      frames.push_back({Text(frame.file), Text(frame.function), frame.line});
    }
    const StackSummary summary = SummariseStack(frames);
    Span span{.from = time, .to = time, .activity = Activity::kComputing, .words = {}};
    if (summary.user >= frames.size() || summary.doing == Doing::kWait) return span;
    const FrameView& frame = frames[summary.user];
    span.words = fmt::format("in {} ({})", frame.function, LineInWords(frame));
    span.activity = ActivityOfName(frame.function, summary.what);
    return span;
  }

  static Activity ActivityOfName(std::string_view function, std::string_view what) {
    const auto has = [&](std::initializer_list<std::string_view> words) {
      return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return function.find(word) != std::string_view::npos ||
               what.find(word) != std::string_view::npos;
      });
    };
    if (has({"save", "checkpoint", "write", "dump"})) return Activity::kSaving;
    if (has({"load", "read", "fetch", "dataset", "next_data"})) return Activity::kLoading;
    if (has({"compil"})) return Activity::kCompiling;
    return Activity::kComputing;
  }

  void FindRestart() {
    const auto& attempts = model_.tables.Get<AttemptTable>();
    for (size_t row = 0; row < attempts.size(); ++row) {
      if (attempts.job[row] == facts_.job && attempts.attempt[row] == facts_.attempt + 1)
        facts_.restart = attempts.start_ns[row];
    }
    const auto& events = model_.tables.Get<TextEventTable>();
    for (size_t row = 0; row < events.size() && facts_.restart == kNone64; ++row) {
      if (events.job[row] == facts_.job && events.attempt[row] == facts_.attempt + 1)
        facts_.restart = events.time_ns[row];
    }
  }

  const Model& model_;
  Facts facts_;
  int64_t dumps_end_ = kNone64;
  RankFacts* last_ = nullptr;  // what FactsOf() found last
  int32_t last_rank_ = kNone32;
};

}  // namespace

Facts GatherFacts(const Model& model, const Finding& finding) {
  return Gatherer(model, finding).Gather();
}

void AddLongCollectives(const Model& model, int64_t from, int64_t to, int64_t least_ns,
                        Facts& facts) {
  const auto& ops = model.tables.Get<CommOpTable>();
  for (size_t row = 0; row < ops.size(); ++row) {
    const int64_t begin = ops.created_ns[row], end = ops.completed_ns[row];
    if (begin == kNone64 || end == kNone64 || end - begin < least_ns || end < from || begin > to)
      continue;
    if (!facts.Has(ops.job[row], ops.attempt[row])) continue;
    auto found = facts.ranks.find(ops.rank[row]);
    if (found == facts.ranks.end()) continue;
    const int32_t seq = ops.is_p2p[row] != 0 ? ops.p2p_seq[row] : ops.collective_seq[row];
    const std::string_view group = model.pools.Text(ops.group_desc[row]);
    const int64_t clock = found->second.clock;
    found->second.spans.push_back(
        {begin - clock, end - clock, Activity::kCollective,
         OpWords(model.pools.Text(ops.op[row]), seq == kNone32 ? kNone64 : seq,
                 group.empty() ? model.pools.Text(ops.group_name[row]) : group)});
  }
}

}  // namespace debrief::incident

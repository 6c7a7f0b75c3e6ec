// Sorts what the outputs say: by rank, and by the works that watchdogs gave up.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "analyses/text/hang/hang.h"
#include "base/text/strings.h"
#include "model/rotated_inputs.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/progress.h"
#include "tables/rank.h"
#include "tables/tail_line.h"
#include "torch/collective_names.h"

namespace debrief::analyses::text_hang {

namespace {

using Key = std::pair<int32_t, int32_t>;

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

bool IsSuspicion(std::string_view kind) {
  return kind == "heartbeat_lost" || kind == "gil_hang" || kind == "stuck" || kind == "desync";
}

// A fault of this process, whatever its peers do.
bool IsOwnTrouble(std::string_view kind) {
  return kind == "out_of_memory" || kind == "signal" || kind == "exit" || kind == "cuda_error" ||
         kind == "device_assert" || kind == "terminate" || kind == "no_start";
}

// "[.../unbound_buffer.cc:78] Timed out waiting 15000ms for recv operation to complete"; of a
// barrier that watches its ranks, all who came to it end with its name.
bool IsGlooTimeout(std::string_view text) {
  return (Contains(text, "Timed out waiting") && Contains(text, "operation to complete")) ||
         Contains(text, "monitoredBarrier");
}

// "EOFError: Ran out of input" in multiprocessing/spawn.py: the parent failed while it sent its
// child what to do.
bool IsOfOrphan(const Model& model, size_t row) {
  const auto& events = model.tables.Get<TextEventTable>();
  return model.pools.Text(events.text[row]).starts_with("EOFError: Ran out of input") &&
         FileName(model.pools.Text(events.file[row])) == "spawn.py";
}

void AddRow(const Model& model, size_t row, RankTalk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::string_view kind = model.pools.Text(events.kind[row]);
  std::string_view text = model.pools.Text(events.text[row]);
  talk.has_text = true;
  if (events.time_ns[row] != kNone64) talk.last_ns = std::max(talk.last_ns, events.time_ns[row]);
  // Gloo has no watchdog: the call itself gives up.
  const bool gave_up = kind == "traceback" && IsGlooTimeout(text);
  if (kind == "watchdog_timeout" || gave_up) talk.timeouts.push_back(row);
  if (kind == "dump_signal") talk.dump_signals.push_back(row);
  if (events.last_enqueued[row] != kNone64 && events.group_name[row] != StringId::kNone)
    talk.counters.push_back(row);
  if (kind == "left") talk.left = row;
  if (kind == "normal_end") talk.normal_ends[events.input[row]] = events.line[row];
  if (kind == "teardown") {
    talk.teardown = true;
    // Its monitor ends a process whose watchdog does not get through.
    bool aborted = !Contains(text, "erminating the process after");
    if (aborted && !talk.gave_up) talk.gave_up_ns = events.time_ns[row];
    talk.gave_up |= aborted;
  }
  if (kind == "last_line") talk.last_line = talk.last_lines[events.input[row]] = row;
  bool remote = (kind == "nccl_error" || kind == "store_error") && BlamesARemote(text);
  if (remote) talk.remote_errors.push_back(row);
  if (kind == "nccl_error") talk.nccl_lines.push_back(row);
  if (kind == "nccl_error" && events.seq[row] != kNone64) talk.failed_works.push_back(row);
  if (IsSuspicion(kind)) talk.suspicions.push_back(row);
  if (kind == "printed") talk.printed.push_back(row);
  if (kind.starts_with("engine_")) talk.engine_lines.push_back(row);
  // What was raised for the end of a peer follows from it.
  const size_t root = kind == "traceback" ? RootException(model, row) : row;
  bool aftermath = kind == "traceback" &&
                   (IsAftermath(model.pools.Text(events.text[root])) || IsOfOrphan(model, row));
  if (aftermath) talk.aftermaths.push_back(row);
  if (kind == "exit" && events.exit_code[row] == 0) return;  // a normal end
  if (IsOwnTrouble(kind) || (kind == "traceback" && !aftermath && !gave_up))
    talk.troubles.push_back(row);
}

// Rows about the whole job: they count for nobody.
bool AddJobRow(const Model& model, size_t row, Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::string_view kind = model.pools.Text(events.kind[row]);
  if (kind == "scheduler") talk.scheduler.push_back(row);
  const bool of_kernel = kind == "xid" || kind == "driver" || kind == "blocked";
  if (of_kernel) talk.kernel.push_back(row);
  if (kind == "store_error") talk.setup.push_back(row);
  return of_kernel || kind == "scheduler" || kind == "stopping";
}

// What torchrun --tee printed of a rank is in that rank's own file, too: it counts once. Only the
// end of a text is asked for by file.
class Seen {
 public:
  bool IsAgain(const Model& model, size_t row) {
    const auto& events = model.tables.Get<TextEventTable>();
    if (events.rank[row] == kNone32 || model.pools.Text(events.kind[row]) == "last_line")
      return false;
    auto [first, is_new] =
        input_of_.try_emplace({events.job[row], events.attempt[row], events.rank[row],
                               events.kind[row], events.text[row], events.time_ns[row]},
                              events.input[row]);
    return !is_new && first->second != events.input[row];
  }

 private:
  using What = std::tuple<int32_t, int32_t, int32_t, StringId, StringId, int64_t>;
  std::map<What, int32_t> input_of_;
};

// Which ranks left a text that would hold their errors, an empty one included. A file of stdout
// alone does not.
void AddKnownOutputs(const Model& model, std::map<Key, Talk>& talks) {
  const auto& inputs = model.tables.Get<InputTable>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto talk = talks.find({inputs.job[i], inputs.attempt[i]});
    bool text = model.pools.Text(inputs.kind[i]) == "job_text" || inputs.bytes[i] == 0;
    if (talk == talks.end() || inputs.rank[i] == kNone32 || !text) continue;
    std::string_view name = FileName(model.pools.Text(inputs.path[i]));
    if (!Contains(name, "stdout")) talk->second.with_errors.insert(inputs.rank[i]);
  }
  const auto& events = model.tables.Get<TextEventTable>();
  std::map<int32_t, int32_t> rank_of_input;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.rank[row] == kNone32 || model.pools.Text(events.kind[row]) != "last_line") continue;
    auto [first, is_new] = rank_of_input.try_emplace(events.input[row], events.rank[row]);
    auto talk = talks.find({events.job[row], events.attempt[row]});
    if (!is_new && first->second != events.rank[row] && talk != talks.end())
      talk->second.is_teed = true;
  }
}

// The throughput that a server reports is the work of all its workers. The report behind a failure
// may still count what was done before it: the last but one tells that it went on.
void AddServed(const Model& model, std::map<Key, Talk>& talks) {
  const auto& progress = model.tables.Get<ProgressTable>();
  std::map<std::pair<Key, int32_t>, int64_t> last;
  for (size_t row = 0; row < progress.size(); ++row) {
    const bool served = progress.step[row] == kNone64 && std::isnan(progress.loss[row]) &&
                        std::isnan(progress.epoch[row]) && progress.throughput[row] > 0;
    const Key key(progress.job[row], progress.attempt[row]);
    auto talk = talks.find(key);
    if (!served || talk == talks.end()) continue;
    auto [line, is_first] = last.try_emplace({key, progress.input[row]}, kNone64);
    const int64_t before = std::exchange(line->second, progress.line[row]);
    if (is_first) continue;
    talk->second.nobody.last_steps[progress.input[row]] = before;
    for (auto& [rank, each] : talk->second.ranks) {
      int64_t& step = each.last_steps.try_emplace(progress.input[row], before).first->second;
      step = std::max(step, before);
    }
  }
}

// A bar is drawn once more as its process ends: only another step shows that the process went on.
bool IsDrawnAgain(const ProgressTable& progress, size_t before, size_t row) {
  return before != RankTalk::kNoRow && progress.step[row] != kNone64 &&
         progress.step[before] == progress.step[row] &&
         progress.input[before] == progress.input[row] && std::isnan(progress.loss[row]) &&
         progress.not_finite[row] == 0;
}

// Steps and last lines of ranks that are known.
void AddPlainRows(const Model& model, std::map<Key, Talk>& talks) {
  const auto& progress = model.tables.Get<ProgressTable>();
  for (size_t row = 0; row < progress.size(); ++row) {
    auto talk = talks.find({progress.job[row], progress.attempt[row]});
    if (talk == talks.end()) continue;
    int32_t rank = progress.rank[row];
    RankTalk& each = rank == kNone32 ? talk->second.nobody : talk->second.ranks[rank];
    if (IsDrawnAgain(progress, each.last_step, row)) continue;
    each.last_steps[progress.input[row]] = progress.line[row];
    each.step_lines[progress.input[row]].emplace_back(progress.line[row], progress.step[row]);
    if (progress.step[row] != kNone64) each.last_step = row;
  }
  const auto& tails = model.tables.Get<TailLineTable>();
  for (size_t row = 0; row < tails.size(); ++row) {
    auto talk = talks.find({tails.job[row], tails.attempt[row]});
    if (talk == talks.end()) continue;
    int32_t rank = tails.rank[row];
    (rank == kNone32 ? talk->second.nobody : talk->second.ranks[rank]).tail.push_back(row);
  }
}

// Whatever a part of a text ends with that was put aside, its process went on where the newest part
// reports steps.
void AddNewerParts(const Model& model, std::map<Key, Talk>& talks) {
  const auto newest = NewestParts(model);
  auto add = [&](RankTalk& talk) {
    for (const auto& [older, newer] : newest) {
      if (talk.WentOn(newer, 0)) talk.normal_ends[older] = std::numeric_limits<int64_t>::max();
    }
  };
  for (auto& [key, talk] : talks) {
    add(talk.nobody);
    for (auto& [rank, each] : talk.ranks) add(each);
  }
}

// A text of the job says that it ended well: what a logger called an error was no end.
void ForgetLoggedErrors(const Model& model, std::map<Key, Talk>& talks) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::set<Key> ended_well;
  for (size_t row = 0; row < events.size(); ++row) {
    const std::string_view kind = model.pools.Text(events.kind[row]);
    const bool well = kind == "normal_end" || (kind == "exit" && events.exit_code[row] == 0);
    if (well) ended_well.emplace(events.job[row], events.attempt[row]);
  }
  for (auto& [key, talk] : talks) {
    if (!ended_well.contains(key)) continue;
    auto forget = [&](RankTalk& each) {
      std::erase_if(each.troubles, [&](size_t row) {
        return IsLoggedError(model.pools.Text(events.text[row])) &&
               events.file[row] == StringId::kNone;
      });
    };
    forget(talk.nobody);
    for (auto& [rank, each] : talk.ranks) forget(each);
  }
}

// A signal that stands before any collective was left by an earlier attempt in the same store.
bool IsStaleSignal(const Model& model, size_t row) {
  const auto& events = model.tables.Get<TextEventTable>();
  return model.pools.Text(events.kind[row]) == "dump_signal" && events.last_enqueued[row] == -1;
}

// "Collective WorkNCCL(...) raised the following async exception: NCCL error: invalid usage": what
// a peer sent does not fit to what this rank called.
bool IsMismatch(const Model& model, size_t row) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::string_view text = model.pools.Text(events.text[row]);
  return events.seq[row] != kNone64 && model.pools.Text(events.kind[row]) == "nccl_error" &&
         Contains(text, "async exception") && Contains(text, "invalid usage");
}

void AddKnownRanks(const Model& model, std::map<Key, Talk>& talks) {
  const auto& ranks = model.tables.Get<RankTable>();
  for (size_t i = 0; i < ranks.size(); ++i) {
    auto talk = talks.find({ranks.job[i], ranks.attempt[i]});
    if (talk != talks.end()) talk->second.ranks.try_emplace(ranks.rank[i]);
  }
  const auto& jobs = model.tables.Get<JobTable>();
  for (auto& [key, talk] : talks) {
    if (key.first < 0 || static_cast<size_t>(key.first) >= jobs.size()) continue;
    int32_t world_size = jobs.world_size[static_cast<size_t>(key.first)];
    for (int32_t rank = 0; rank < world_size; ++rank) talk.ranks.try_emplace(rank);
  }
}

// Python's own sockets: an object store, a queue, a web service. The peers of a job are reached by
// C++, which raises exceptions of its own.
bool IsOfPythonSocket(std::string_view text) {
  return text.starts_with("ConnectionResetError") || text.starts_with("BrokenPipeError") ||
         text.starts_with("ConnectionAbortedError") || text.starts_with("ConnectionRefusedError");
}

// "... ncclSystemError ... Last error: Call to ibv_reg_mr failed with error Cannot allocate
// memory": what NCCL could not get from this host. What it says of sockets and completions is of a
// peer.
bool IsOfOwnHost(std::string_view text) {
  constexpr std::string_view kLast = "\nLast error: ";
  const size_t at = text.find(kLast);
  if (at == std::string_view::npos || BlamesARemote(text)) return false;
  const std::string_view last = text.substr(at + kLast.size());
  return ContainsAny(last, {"Call to ", "Failed to ", "failed to "}) &&
         !ContainsAny(last,
                      {"ocket", "onnect", "peer", "emote", "imed out", "imeout", "ompletion"});
}

}  // namespace

bool BlamesARemote(std::string_view text) {
  if (IsOfPythonSocket(text)) return false;
  return ContainsAny(
      text, {"ncclRemoteError", "remote process exited", "closed by remote peer",
             "onnection reset by peer", "onnection closed by peer", "failed to recv, got 0 bytes",
             "sendBytes failed", "Remote Rank did not send the data"});
}

bool IsAftermath(std::string_view text) {
  if (IsOfPythonSocket(text)) return false;
  // The rank's own GPU or set-up, reported by the communication library.
  bool own = ContainsAny(
      text,
      {"unhandled cuda error", "ncclUnhandledCudaError", "Cuda failure", "Duplicate GPU",
       "ncclInvalidUsage", "ncclInvalidArgument", "Mismatched NCCL version",
       "no socket interface found", "creating shared memory segment", "No space left on device",
       "failed to listen on", "failed to bind", "EADDRINUSE", "ddress already in use"});
  if (own || IsOfOwnHost(text)) return false;
  return BlamesARemote(text) || ContainsAny(text, {"DistBackendError",
                                                   "DistNetworkError",
                                                   "DistStoreError",
                                                   "communicator was aborted",
                                                   "Broken pipe",
                                                   "ChildFailedError",
                                                   "Horovod detected that one or more processes",
                                                   "other ranks that didn't finish loading",
                                                   "SignalException",
                                                   "KeyboardInterrupt",
                                                   "CalledProcessError",
                                                   "ProcessRaisedException",
                                                   "ProcessExitedException",
                                                   "killed by signal: Terminated",
                                                   "WorkerCrashedError",
                                                   "ActorDiedError",
                                                   "ActorUnavailableError",
                                                   "RayTaskError",
                                                   "Watchdog caught collective",
                                                   "monitoredBarrier",
                                                   "RendezvousConnectionError",
                                                   "RendezvousClosedError",
                                                   "exited before the operation completed",
                                                   "peer closed connection",
                                                   "EngineDeadError",
                                                   "Engine core initialization failed",
                                                   "WorkerProc initialization failed",
                                                   "Engine process failed to start",
                                                   "Worker failed with error '",
                                                   "See root cause above",
                                                   "RPC call to ",
                                                   "RuntimeError: cancelled"});
}

// An exception that nobody caught ends its process. What was still in the buffer of its output is
// written behind it, and bars are drawn once more: only where steps stand before it, and several
// behind it, did another process go on in the same text.
bool RankTalk::WentOn(int32_t input, int64_t line) const {
  constexpr int kFewest = 3;
  const auto normal_end = normal_ends.find(input);
  if (normal_end != normal_ends.end() && normal_end->second > line) return true;
  const auto last = last_steps.find(input);
  if (last == last_steps.end() || last->second <= line) return false;
  const auto steps = step_lines.find(input);
  if (!end.raised.contains({input, line}) || steps == step_lines.end()) return true;
  bool before = false, numbered = false;
  for (const auto& [at, step] : steps->second) {
    before |= at < line;
    numbered |= at < line && step != kNone64;
  }
  const auto behind = std::ranges::count_if(steps->second, [&](const auto& each) {
    return each.first > line && (!numbered || each.second != kNone64);
  });
  return before && behind >= kFewest;
}

std::vector<int32_t> Talk::RanksThatTimedOut() const {
  std::vector<int32_t> timed_out;
  for (const auto& [rank, talk] : ranks) {
    if (!talk.timeouts.empty()) timed_out.push_back(rank);
  }
  return timed_out;
}

bool Talk::EndedBadly() const {
  return std::any_of(ranks.begin(), ranks.end(), [](const auto& each) {
    const RankTalk& rank = each.second;
    return !rank.timeouts.empty() || !rank.remote_errors.empty() || rank.teardown ||
           !rank.aftermaths.empty() || rank.end.lost ||
           (rank.end.known() && rank.end.exit_code != 0);
  });
}

std::vector<Talk> CollectTalks(const Model& model) {
  const auto& events = model.tables.Get<TextEventTable>();
  const auto& exits = model.tables.Get<ProcessExitTable>();
  std::map<Key, Talk> talks;
  Seen seen;
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.job[row] == kNone32 || seen.IsAgain(model, row)) continue;
    Talk& talk = talks[{events.job[row], events.attempt[row]}];
    if (AddJobRow(model, row, talk)) continue;
    int32_t rank = events.rank[row];
    AddRow(model, row, rank == kNone32 ? talk.nobody : talk.ranks[rank]);
    talk.stale_signal |= IsStaleSignal(model, row);
    talk.mismatch |= IsMismatch(model, row);
    bool timeout = model.pools.Text(events.kind[row]) == "watchdog_timeout";
    if (!timeout || events.time_ns[row] == kNone64) continue;
    if (talk.first_timeout_ns == kNone64 || events.time_ns[row] < talk.first_timeout_ns)
      talk.first_timeout_ns = events.time_ns[row];
  }
  for (size_t row = 0; row < exits.size(); ++row) {
    if (exits.job[row] != kNone32) talks[{exits.job[row], exits.attempt[row]}];
  }
  AddKnownRanks(model, talks);
  AddKnownOutputs(model, talks);
  AddPlainRows(model, talks);
  AddNewerParts(model, talks);
  ForgetLoggedErrors(model, talks);
  AddServed(model, talks);
  std::vector<Talk> result;
  for (auto& [key, talk] : talks) {
    std::tie(talk.job, talk.attempt) = key;
    result.push_back(std::move(talk));
  }
  AddEnds(model, result);
  for (Talk& talk : result) {
    ClaimPrinted(talk);
    ClaimOwnTroubles(model, talk);
    ForgetCaught(model, talk);
  }
  return result;
}

int64_t NumberAfter(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return kNone64;
  const char* begin = text.data() + at + key.size();
  int64_t number = kNone64;
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
}

namespace {

Work ToWork(const Model& model, size_t row) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::string_view text = model.pools.Text(events.text[row]);
  Work work{.rank = events.rank[row],
            .row = row,
            .seq = events.seq[row],
            .op = model.pools.Text(events.op[row]),
            .elements_in = NumberAfter(text, "NumelIn="),
            .elements_out = NumberAfter(text, "NumelOut="),
            .last_enqueued = events.last_enqueued[row],
            .last_completed = events.last_completed[row]};
  if (events.time_ns[row] != kNone64 && events.ran_ms[row] != kNone64)
    work.start_ns = events.time_ns[row] - events.ran_ms[row] * 1'000'000;
  return work;
}

}  // namespace

std::vector<GroupWorks> CollectWorks(const Model& model, const Talk& talk) {
  const auto& events = model.tables.Get<TextEventTable>();
  std::map<std::pair<std::string_view, std::string_view>, std::map<int32_t, Work>> groups;
  for (const auto& [rank, each] : talk.ranks) {
    Rows rows = each.timeouts;
    if (talk.mismatch) rows.insert(rows.end(), each.failed_works.begin(), each.failed_works.end());
    for (size_t row : rows) {
      std::string_view name = model.pools.Text(events.group_name[row]);
      if (name.empty() || events.seq[row] == kNone64) continue;
      auto& works = groups[{model.pools.Text(events.group_desc[row]), name}];
      auto [known, is_new] = works.try_emplace(rank, ToWork(model, row));
      if (!is_new && events.seq[row] < known->second.seq) known->second = ToWork(model, row);
    }
  }
  std::vector<GroupWorks> result;
  for (const auto& [key, works] : groups) {
    GroupWorks& group = result.emplace_back(GroupWorks{key.second, key.first, {}});
    for (const auto& [rank, work] : works) group.works.push_back(work);
  }
  return result;
}

std::string OpInWords(std::string_view op) {
  std::string name(timeline::PublicOp(op));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name.empty() ? "work" : name;
}

std::string WorkInWords(const GroupWorks& group, const Work& work) {
  bool named = !group.desc.empty() && group.desc != "undefined";
  return fmt::format("{} #{} of {}{}", OpInWords(work.op), work.seq, named ? "" : "group ",
                     named ? group.desc : group.name);
}

GroupRef ToRef(const GroupWorks& group) {
  GroupRef ref{std::string(group.name), std::string(group.desc), {}};
  for (const Work& work : group.works) ref.ranks.push_back(work.rank);
  return ref;
}

}  // namespace debrief::analyses::text_hang

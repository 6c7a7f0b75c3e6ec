#include "analyses/compile/recompiles/compilations.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "analyses/compile/recompiles/without_id.h"
#include "model/compile/frames.h"
#include "tables/compile_phase.h"
#include "torch/stacks/user_frames.h"

namespace debrief::analyses::compile_recompiles {

namespace {

constexpr std::array<std::pair<std::string_view, EntryKind>, 10> kKinds = {
    {{"dynamo_start", EntryKind::kStart},
     {"compilation_metrics", EntryKind::kMetrics},
     {"bwd_compilation_metrics", EntryKind::kBackwardMetrics},
     {"recompile_reasons", EntryKind::kReasons},
     {"dynamo_graph_break_reason", EntryKind::kBreak},
     {"dynamo_cpp_guards_str", EntryKind::kGuards},
     {"dynamo_output_graph", EntryKind::kGraph},
     {"torch_version", EntryKind::kVersion},
     {"create_symbol", EntryKind::kShape},
     {"guard_added_fast", EntryKind::kShape}}};

}  // namespace

Compilations::Compilations(const Model& model)
    : model_(model),
      entries_(model.tables.Get<CompileEntryTable>()),
      metrics_(model.tables.Get<CompileMetricsTable>()) {
  for (size_t row = 0; row < entries_.size(); ++row) {
    const int32_t process = ProcessOfRow(row);
    Process& of = processes_[static_cast<size_t>(process)];
    if (of.first_entry == kNone64) of.first_entry = entries_.entry[row];
    of.last_entry = entries_.entry[row];
    of.names_version |= KindOf(row) == EntryKind::kVersion;
    int32_t at = CompilationOfRow(process, row);
    if (at == kNobody) continue;
    if (BeginsAnew(at, row)) at = Replace(at, row);
    of.last = at;
    Note(all_[static_cast<size_t>(at)], row);
  }
  JoinMetrics();
  if (processes_.size() > 1) JoinCutLogs();
  Drop();
  for (Compilation& compilation : all_) FillIn(compilation);
  CheckCallers();
  FindEndsOfLogs();
  Chain();
  AddWithoutId();
}

EntryKind KindNamed(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (known == name) return kind;
  }
  return EntryKind::kOther;
}

// Artifacts are told apart by their names.
EntryKind Compilations::KindOf(size_t row) {
  return is_artifact_(entries_.kind[row]) ? kind_named_(entries_.name[row])
                                          : kind_named_(entries_.kind[row]);
}

// Most entries are of the process of the entry before.
int32_t Compilations::ProcessOfRow(size_t row) {
  const ProcessKey key = debrief::ProcessOf(entries_, row);
  if (last_process_ != nullptr && last_process_->first == key) return last_process_->second;
  auto [found, is_new] = by_key_.try_emplace(key, static_cast<int32_t>(processes_.size()));
  if (is_new) processes_.push_back({.row = row});
  last_process_ = &*found;
  return found->second;
}

// And of its compilation.
int32_t Compilations::CompilationOfRow(int32_t process, size_t row) {
  const std::string_view id = WithoutAttempt(model_.pools.Text(entries_.compile_id[row]));
  if (id.empty() || id == "-/-") return kNobody;  // an entry that carries no id at all
  if (last_named_ != nullptr && last_named_->first == std::pair(process, id))
    return last_named_->second;
  auto [found, is_first] = by_id_.try_emplace({process, id}, static_cast<int32_t>(all_.size()));
  if (is_first) {
    Compilation& made = all_.emplace_back();
    made.process = process;
    made.id = id;
    made.frame_id = entries_.frame_id[row];
  }
  last_named_ = &*found;
  return found->second;
}

// torch._dynamo.reset() makes the numbers begin at 0 again, and ids come a second time: the first
// attempt of an id that has ended already is another compilation.
bool Compilations::BeginsAnew(int32_t at, size_t row) {
  const int64_t attempt = entries_.compile_attempt[row];
  return all_[static_cast<size_t>(at)].ended && KindOf(row) == EntryKind::kStart &&
         (attempt == 0 || attempt == kNone64);
}

int32_t Compilations::Replace(int32_t old, size_t row) {
  const auto made = static_cast<int32_t>(all_.size());
  Compilation& again = all_.emplace_back();
  again.process = all_[static_cast<size_t>(old)].process;
  again.id = all_[static_cast<size_t>(old)].id;
  again.frame_id = entries_.frame_id[row];
  again.begins_anew = true;
  by_id_[{again.process, again.id}] = made;
  return made;
}

void Compilations::Note(Compilation& to, size_t row) {
  const int64_t time = entries_.time_ns[row];
  if (to.first_entry == kNone64) {
    to.first_entry = entries_.entry[row];
    to.start_ns = time;
  }
  to.last_entry = entries_.entry[row];
  to.end_ns = std::max(to.end_ns, time);
  if (entries_.compile_attempt[row] != kNone64)
    to.last_attempt = std::max(to.last_attempt, entries_.compile_attempt[row]);
  Classify(to, row);
}

void Compilations::Classify(Compilation& to, size_t row) {
  switch (KindOf(row)) {
    case EntryKind::kStart:
      if (to.start == kNoRow) to.start = row;
      break;
    case EntryKind::kMetrics:
      to.ended = true;
      [[fallthrough]];
    case EntryKind::kBackwardMetrics:
      metrics_entries_[{entries_.input[row], entries_.entry[row]}] =
          static_cast<int32_t>(&to - all_.data());
      break;
    case EntryKind::kReasons:
      if (to.reasons == kNoRow) to.reasons = row;
      break;
    case EntryKind::kBreak:
      to.breaks.push_back(row);
      break;
    case EntryKind::kGuards:
      to.guards = row;  // of the last attempt
      break;
    case EntryKind::kGraph:
      to.has_graph = true;
      break;
    case EntryKind::kShape:
      if (to.shape == kNoRow && entries_.stack[row] != StackId::kNone) to.shape = row;
      break;
    case EntryKind::kVersion:
    case EntryKind::kOther:
      break;
  }
}

void Compilations::JoinMetrics() {
  for (size_t row = 0; row < metrics_.size(); ++row) {
    auto found = metrics_entries_.find({metrics_.input[row], metrics_.entry[row]});
    if (found == metrics_entries_.end()) continue;
    Compilation& of = all_[static_cast<size_t>(found->second)];
    const bool failed = metrics_.fail_type[row] != StringId::kNone;
    if (model_.pools.Text(metrics_.kind[row]) != "compilation_metrics") {
      if (failed && of.backward_failure == kNoRow) of.backward_failure = row;
      continue;
    }
    // A failure is not undone by metrics that follow.
    if (of.metrics == kNoRow || metrics_.fail_type[of.metrics] == StringId::kNone) of.metrics = row;
  }
  // 2.6 writes the metrics of a frame that failed before it had a graph as those of a backward.
  for (Compilation& of : all_) {
    if (of.metrics != kNoRow || of.backward_failure == kNoRow) continue;
    of.metrics = std::exchange(of.backward_failure, kNoRow);
    of.ended = true;
  }
}

// A log that was cut in several files: what began in one of them and ended in another, in the same
// process, is one compilation, and is told where it ended.
void Compilations::JoinCutLogs() {
  using Key = std::tuple<int32_t, int32_t, int32_t, int64_t, std::string_view>;
  auto key = [&](const Compilation& of) {
    const size_t row = ProcessOf(of).row;
    return Key(entries_.job[row], entries_.attempt[row], entries_.rank[row], entries_.thread[row],
               of.id);
  };
  std::map<Key, Compilation*> ended;
  for (Compilation& of : all_) {
    if (of.start == kNoRow && of.metrics != kNoRow) ended.emplace(key(of), &of);
  }
  if (ended.empty()) return;
  for (Compilation& of : all_) {
    if (of.start == kNoRow || of.metrics != kNoRow) continue;
    auto found = ended.find(key(of));
    if (found == ended.end() || found->second->start != kNoRow) continue;
    Compilation& end = *found->second;
    end.start = std::exchange(of.start, kNoRow);
    end.start_ns = of.start_ns;
    if (end.reasons == kNoRow) end.reasons = of.reasons;
    if (end.guards == kNoRow) end.guards = of.guards;
    end.breaks.insert(end.breaks.begin(), of.breaks.begin(), of.breaks.end());
    end.last_attempt = std::max(end.last_attempt, of.last_attempt);
  }
}

// Removes ids that neither began nor ended.
void Compilations::Drop() {
  std::vector<int32_t> renumbered(all_.size(), kNobody);
  size_t kept = 0;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].counts()) continue;
    renumbered[i] = static_cast<int32_t>(kept);
    if (kept != i) all_[kept] = std::move(all_[i]);
    ++kept;
  }
  all_.resize(kept);
  auto renumber = [&](int32_t& at) {
    if (at != kNobody) at = renumbered[static_cast<size_t>(at)];
  };
  for (auto& [key, at] : by_id_) renumber(at);
  for (Process& process : processes_) renumber(process.last);
}

void Compilations::FillPlaces(Compilation& to) {
  if (to.start == kNoRow || entries_.stack[to.start] == StackId::kNone) return;
  const Pools& pools = model_.pools;
  auto place = [&](FrameId id) { return Place{pools.GetFrame(id).file, pools.GetFrame(id).line}; };
  auto frames = WithoutConvertFrame(pools, entries_.stack[to.start]);
  if (frames.empty()) return;
  to.function = pools.GetFrame(frames[0]).function;
  to.code = place(frames[0]);
  auto user = UserFrames(pools, entries_.stack[to.start]);
  if (user.empty()) return;
  to.user = place(user[0]);
  // The caller is the next user frame outward of the function itself.
  const size_t from = user[0] == frames[0] ? 1 : 0;
  for (size_t i = from; i < frames.size(); ++i) {
    if (!is_user_file_(pools.GetFrame(frames[i]).file)) continue;
    to.caller = place(frames[i]);
    break;
  }
}

// Outwards of the innermost frames of Dynamo: what called the function that it compiles.
Place Compilations::CallerIn(StackId stack) {
  bool is_outside = false;
  for (FrameId id : model_.pools.GetStack(stack)) {
    const Frame& frame = model_.pools.GetFrame(id);
    is_outside |= is_dynamo_file_(frame.file);
    if (is_outside && is_user_file_(frame.file)) return {.file = frame.file, .line = frame.line};
  }
  return {};
}

// PyTorch 2.14 leaves the frame that called the function out of dynamo_start, and what stands there
// is the caller's caller. The whole stack of a symbol has it. Where that is missing, none is better
// than a wrong one.
void Compilations::CheckCallers() {
  std::vector<bool> is_wrong(processes_.size());
  for (size_t i = 0; i < processes_.size(); ++i) is_wrong[i] = processes_[i].names_version;
  for (Compilation& of : all_) {
    if (of.shape != kNoRow) of.caller_of_symbol = CallerIn(entries_.stack[of.shape]);
    if (of.caller_of_symbol != Place{} && of.start != kNoRow && of.caller != of.caller_of_symbol)
      is_wrong[static_cast<size_t>(of.process)] = true;
  }
  for (Compilation& of : all_) {
    if (is_wrong[static_cast<size_t>(of.process)]) of.caller = of.caller_of_symbol;
  }
}

void Compilations::FillIn(Compilation& to) {
  FillPlaces(to);
  to.restarts = static_cast<int32_t>(to.last_attempt);
  if (to.metrics == kNoRow) {
    to.outcome = "unfinished";
    return;
  }
  const size_t row = to.metrics;
  if (metrics_.co_name[row] != StringId::kNone) to.function = metrics_.co_name[row];
  if (metrics_.co_filename[row] != StringId::kNone) to.code.file = metrics_.co_filename[row];
  if (metrics_.co_firstlineno[row] != kNone32) to.code.line = metrics_.co_firstlineno[row];
  if (metrics_.restart_reasons[row] != kNone32)
    to.restarts = std::max(to.restarts, metrics_.restart_reasons[row]);
  const int64_t ops = metrics_.graph_op_count[row];
  // An interrupt (Ctrl-C, sys.exit) is no exception of the compiler: the metrics of a graph that
  // was there tell nothing of it.
  const bool is_interrupted = to.has_graph && ops == kNone64;
  to.outcome = metrics_.fail_type[to.failure()] != StringId::kNone ? "failed"
               : is_interrupted                                    ? "unfinished"
               : ops == kNone64 || ops == 0                        ? "empty"
               : to.restarts > 0                                   ? "restarted"
                                                                   : "ok";
}

// A backward graph is compiled after the metrics of its frame: that phases of it are open at the
// end of the log is all that tells. Of a process with several logs another one may go on.
void Compilations::FindEndsOfLogs() {
  for (size_t i = 0; i < all_.size(); ++i)
    all_[i].ends_log =
        all_[i].outcome == "unfinished" && ProcessOf(all_[i]).last == static_cast<int32_t>(i);
  auto rank_of = [&](const Process& process) {
    return std::tuple(entries_.job[process.row], entries_.attempt[process.row],
                      entries_.rank[process.row]);
  };
  std::map<std::tuple<int32_t, int32_t, int32_t>, int> logs;
  for (const Process& process : processes_) ++logs[rank_of(process)];
  const auto& phases = model_.tables.Get<CompilePhaseTable>();
  for (size_t row = 0; row < phases.size(); ++row) {
    const int32_t at = phases.open[row] != 0 && phases.depth[row] == 0 ? At(phases, row) : kNobody;
    if (at == kNobody) continue;
    Compilation& of = all_[static_cast<size_t>(at)];
    const Process& process = ProcessOf(of);
    // What a frame left open itself is damage of the log: it ended, as its metrics say.
    if (of.metrics == kNoRow || phases.entry[row] < metrics_.entry[of.metrics]) continue;
    if (of.outcome == "failed" || process.last != at || logs[rank_of(process)] > 1) continue;
    of.outcome = "unfinished";
    of.ends_log = true;
  }
}

// What was given up before it began (at the limit of recompilations) has no name of its own: it is
// another compilation of the same function.
void Compilations::TakePlaces(const Compilation& before, Compilation& to) {
  if (to.function != StringId::kNone) return;
  to.function = before.function;
  to.code = before.code;
  to.user = before.user;
  to.caller = before.caller;
}

// Numbers the compilations of each frame.
void Compilations::Chain() {
  std::map<std::pair<int32_t, std::string_view>, int32_t> last;  // process and id of the frame
  for (size_t i = 0; i < all_.size(); ++i) {
    Compilation& compilation = all_[i];
    const std::string_view frame = compilation.id.substr(0, compilation.id.rfind('/'));
    auto [found, is_first] =
        last.try_emplace({compilation.process, frame}, static_cast<int32_t>(i));
    if (is_first) continue;
    if (!compilation.begins_anew) {
      const Compilation& before = all_[static_cast<size_t>(found->second)];
      compilation.previous = found->second;
      compilation.number = before.number + 1;
      TakePlaces(before, compilation);
    }
    found->second = static_cast<int32_t>(i);
  }
}

// The log ends inside of one when nothing with an id follows it.
void Compilations::AddWithoutId() {
  for (WithoutId& one : FindWithoutId(model_)) {
    auto process = by_key_.find(one.process);
    if (process == by_key_.end()) continue;
    Compilation& of = all_.emplace_back(std::move(one.compilation));
    of.process = process->second;
    const int32_t last = ProcessOf(of).last;
    of.ends_log &= last == kNobody || all_[static_cast<size_t>(last)].first_entry < of.first_entry;
  }
}

int32_t Compilations::Find(int32_t process, std::string_view id) const {
  auto found = by_id_.find({process, WithoutAttempt(id)});
  return found == by_id_.end() ? kNobody : found->second;
}

int32_t Compilations::At(int32_t input, int32_t rank, StringId compile_id, int64_t entry) const {
  auto behind = by_key_.upper_bound({input, rank, std::numeric_limits<int32_t>::max()});
  while (behind != by_key_.begin()) {
    const auto& [key, process] = *--behind;
    if (std::get<0>(key) != input || std::get<1>(key) != rank) break;
    if (processes_[static_cast<size_t>(process)].first_entry <= entry)
      return Find(process, model_.pools.Text(compile_id));
  }
  return kNobody;
}

}  // namespace debrief::analyses::compile_recompiles

#include "accel/ingest/rank_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel {

namespace {

// Above every pid and thread id of an operating system.
constexpr int64_t kFirstTextNumber = int64_t{1} << 33;

bool IsSlice(const Event& event) {
  return event.phase == 'X' || event.phase == 'B' || event.phase == 'E';
}

}  // namespace

// Deterministic, unlike a hash: by the order of first sight.
Value RankRules::NumberOf(const Value& text) {
  const auto [at, is_new] =
      numbers_.try_emplace(text, kFirstTextNumber + static_cast<int64_t>(numbers_.size()));
  return Value::Integer(at->second);
}

void RankRules::MakeNumeric(Event& event) {
  auto fix = [&](Value& id, StringId key) {
    if (id.IsInteger() || id.IsNull()) return;
    if (id.kind == ValueKind::kNumber || id.kind == ValueKind::kDecimalText) {
      id = Value::Integer(id.AsInteger(run_.strings).value_or(0));
      return;
    }
    run_.args.Set(event, key, id);
    id = NumberOf(id);
  };
  fix(event.pid, key::kOPid);
  fix(event.tid, key::kOTid);
}

void RankRules::FixFlexRank(const TraceFile& file) {
  rank_is_fixed_ = facts_.rank.has_value();
  rank_ = facts_.rank.value_or(0);
  if (rank_is_fixed_ || !run_.options.compat || file.events.empty()) return;
  if (const auto pid = file.events.front().pid.AsInteger(run_.strings)) {
    rank_is_fixed_ = true;
    rank_ = *pid;
  }
}

void RankRules::ApplyFlex(Event& event) {
  if (const auto merged = rank_of_pid_.find(event.pid); merged != rank_of_pid_.end()) {
    event.pid = Value::Integer(merged->second);
  } else if (rank_is_fixed_) {
    event.pid = Value::Integer(rank_);
  } else if (const auto rank = event.pid.AsInteger(run_.strings)) {
    event.pid = Value::Integer(*rank);
  } else {
    run_.args.Set(event, key::kOPid, event.pid);
    event.pid = Value::Integer(NumberOf(event.pid).integer - kFirstTextNumber);
  }
  if (event.phase == 'C') return;  // arguments of a counter are its values
  run_.args.Set(event, key::kRank, event.pid);
}

// Pids of this file that a file of another rank has already get numbers of their own: the rank for
// a device, else the next that nobody has.
void RankRules::PlaceTorchPids(const TraceFile& file) {
  moved_pids_.clear();
  std::vector<Value> seen;
  std::unordered_set<Value, ValueHash> known;
  for (const Event& event : file.events) {
    if (event.phase == 'M') continue;  // devices that are named and do nothing may be shared
    const bool is_id = event.pid.IsInteger() || event.pid.IsString();
    if (is_id && known.insert(event.pid).second) seen.push_back(event.pid);
  }
  int64_t next = 100000 * (files_ + 1);
  for (const Value& pid : seen) {
    const auto owner = pid_owner_.find(pid);
    if (owner == pid_owner_.end() || owner->second == rank_) {
      pid_owner_[pid] = rank_;
      continue;
    }
    Value moved = Value::Integer(rank_);
    if (pid.IsString()) {
      const std::string text = fmt::format("{} (rank {})", pid.AsText(run_.strings), rank_);
      moved = Value::Text(run_.Intern(text));
    }
    while (pid_owner_.count(moved) > 0 || known.count(moved) > 0) moved = Value::Integer(next++);
    moved_pids_[pid] = moved;
    pid_owner_[moved] = rank_;
  }
}

// "rank 3: python" is what `debrief convert` calls the process of a rank among those of others.
void RankRules::ReadMergedRanks(const TraceFile& file) {
  constexpr std::string_view kPrefix = "rank ";
  rank_of_pid_.clear();
  for (const Event& event : file.events) {
    const Arg* name = event.phase == 'M' && run_.Text(event.name) == "process_name"
                          ? event.Find(key::kName)
                          : nullptr;
    if (name == nullptr || name->kind != ValueKind::kText) continue;
    const std::string_view text = run_.Text(name->text);
    const size_t colon = text.find(": ");
    if (!text.starts_with(kPrefix) || colon == std::string_view::npos) continue;
    if (const auto rank = ParseNumber<int64_t>(text.substr(kPrefix.size(), colon - kPrefix.size())))
      rank_of_pid_[event.pid] = *rank;
  }
}

void RankRules::ApplyTorch(Event& event) {
  const auto merged = rank_of_pid_.find(event.pid);
  const int64_t rank = merged == rank_of_pid_.end() ? rank_ : merged->second;
  if (const auto moved = moved_pids_.find(event.pid); moved != moved_pids_.end())
    event.pid = moved->second;
  if (event.phase == 'X') run_.args.Set(event, key::kRank, Value::Integer(rank));
}

void RankRules::Apply(TraceFile& file, const FileFacts& facts, uint32_t job) {
  facts_ = facts;
  if (!run_.options.compat) ReadMergedRanks(file);
  const bool is_torch = run_.jobs[job].dialect == Dialect::kTorch;
  if (is_torch) {
    rank_ = facts.rank.value_or(run_.options.compat ? 0 : files_);
    run_.jobs[job].rank = rank_;
    if (!run_.options.compat) PlaceTorchPids(file);
  } else {
    FixFlexRank(file);
  }
  for (Event& event : file.events) {
    event.job = job;
    if (IsSlice(event)) event.ts_is_integer = false;
    if (run_.options.verify) continue;
    if (IsSlice(event)) event.has_args = true;
    if (!is_torch) {
      ApplyFlex(event);
    } else if (run_.options.compat) {
      reference::PlaceTorchEvent(event, rank_, run_);
    } else {
      ApplyTorch(event);
    }
    if (IsSlice(event)) MakeNumeric(event);
  }
  ++files_;
}

}  // namespace debrief::accel

#include "accel/passes/utilization.h"

#include <algorithm>

#include "accel/categories.h"

namespace debrief::accel {
namespace {

constexpr std::string_view kSuffix = " Cmpt Exec";

std::string_view WithoutSuffix(std::string_view name) {
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

uint64_t Pair(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace

int32_t NamedTable::RowOf(StringId name, const Run& run) {
  const auto [at, is_new] = rows_.try_emplace(name, -1);
  if (is_new) at->second = RowOf(WithoutSuffix(run.Text(name)));
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
      pairs_.insert(Pair(sequence[i], sequence[(i + 1) % sequence.size()]));
    }
  }
  if (first < 0 || second < 0) return false;
  return pairs_.contains(Pair(static_cast<uint32_t>(first), static_cast<uint32_t>(second)));
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

std::string KernelName(const Event& event, const Run& run) {
  std::string name(WithoutSuffix(run.Text(event.name)));
  const Arg* index = event.Find(key::kFnIdx);
  const size_t at = index == nullptr ? std::string::npos : name.find("[N]");
  if (at != std::string::npos) name.replace(at, 3, index->value().AsText(run.strings));
  return name;
}

bool IsDeviceKernel(const Event& event, Run& run) {
  return event.phase == 'X' && IsDeviceEvent(event, run) && IsKernel(event, run);
}

std::pair<uint32_t, int64_t> JobKey(const Event& event, const Run& run) {
  return {event.job, IntegerArg(event, key::kCorrelation, run).value_or(-1)};
}

}  // namespace debrief::accel

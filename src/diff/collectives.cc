// Collectives by group and op: how often, how many bytes, how long, how long waiting for others.
//
// Profiles tell all of it, step by step and rank by rank. Flight Recorder dumps hold the last
// entries of a run, however long it was: of those only what is new or gone is told, and only where
// profiles are missing.
#include <fmt/format.h>

#include <map>
#include <set>

#include "diff/run_diff.h"
#include "tables/comm_traffic.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_wait.h"

namespace debrief::diff {

namespace {

// A collective that is less than this longer in a step does not matter.
constexpr int64_t kShortestNs = 1'000'000;

// Of one rank in one step.
struct Amount {
  int64_t count = 0, bytes = 0, time_ns = 0, wait_ns = 0;
};

using StepKey = std::pair<int32_t, int32_t>;  // input and step
using ByName = std::map<std::string, std::map<StepKey, Amount>>;

std::string NameOf(const Side& side, StringId op, StringId desc, StringId group) {
  const std::string_view name = side.Text(desc).empty() ? side.Text(group) : side.Text(desc);
  return fmt::format("{} of {}", side.Text(op), name.empty() ? "a group without a name" : name);
}

struct Collectives {
  ByName names;
  std::set<StepKey> steps;  // all there are: a name that is missing in one counts as none
};

Collectives CollectivesOf(const Side& side) {
  const auto& table = side.model.tables.Get<ProfileCollectiveTable>();
  const auto& waits = side.model.tables.Get<ProfileCollectiveWaitTable>();
  std::vector<int64_t> wait_of(table.size(), 0);
  for (size_t row = 0; row < waits.size(); ++row) {
    const auto at = static_cast<size_t>(waits.collective[row]);
    if (at < wait_of.size()) wait_of[at] = waits.wait_ns[row];
  }
  Collectives found;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row) || table.step[row] == kNone32) continue;
    const StepKey step{table.input[row], table.step[row]};
    found.steps.insert(step);
    Amount& amount =
        found
            .names[NameOf(side, table.op[row], table.group_desc[row], table.group_name[row])][step];
    ++amount.count;
    if (table.bytes[row] != kNone64) amount.bytes += table.bytes[row];
    amount.time_ns += table.duration_ns[row];
    amount.wait_ns += wait_of[row];
  }
  return found;
}

std::vector<int64_t> Values(const Collectives& all, const std::string& name,
                            int64_t Amount::* field) {
  std::vector<int64_t> values;
  auto amounts = all.names.find(name);
  for (const StepKey& step : all.steps) {
    const bool found = amounts != all.names.end() && amounts->second.contains(step);
    values.push_back(found ? amounts->second.at(step).*field : 0);
  }
  return values;
}

std::vector<Row> ByProfile(const Collectives& a, const Collectives& b) {
  std::set<std::string> names;
  for (const ByName* side : {&a.names, &b.names})
    for (const auto& [name, amounts] : *side) names.insert(name);
  std::vector<Row> rows;
  for (const std::string& name : names) {
    auto add = [&, &key = name](std::string_view what, Unit unit, int64_t Amount::* field,
                                int64_t floor) {
      const Change change = ChangeOf(Values(a, key, field), Values(b, key, field), floor);
      if (change.is_real) rows.push_back(RowOf(fmt::format("{}: {}", key, what), unit, change));
    };
    add("collectives per step", Unit::kCount, &Amount::count, 0);
    add("bytes per step", Unit::kBytes, &Amount::bytes, 0);
    add("time per step", Unit::kNanoseconds, &Amount::time_ns, kShortestNs);
    add("waiting for other ranks per step", Unit::kNanoseconds, &Amount::wait_ns, kShortestNs);
  }
  return rows;
}

std::set<std::string> NamesInDumps(const Side& side) {
  const auto& table = side.model.tables.Get<CommTrafficTable>();
  std::set<std::string> names;
  for (size_t row = 0; row < table.size(); ++row)
    if (side.HasAttempt(table.attempt[row]))
      names.insert(NameOf(side, table.op[row], table.group_desc[row], table.group_name[row]));
  return names;
}

std::vector<Row> ByDumps(const Side& a, const Side& b) {
  const std::set<std::string> of_a = NamesInDumps(a), of_b = NamesInDumps(b);
  std::vector<Row> rows;
  if (of_a.empty() || of_b.empty()) return rows;
  auto add = [&rows](std::string_view change, const std::string& name) {
    rows.push_back({.change = std::string(change), .name = name});
  };
  for (const std::string& name : of_b)
    if (!of_a.contains(name)) add("new", name);
  for (const std::string& name : of_a)
    if (!of_b.contains(name)) add("gone", name);
  return rows;
}

}  // namespace

void DiffCollectives(const Side& a, const Side& b, RunDiff& diff) {
  const Collectives of_a = CollectivesOf(a), of_b = CollectivesOf(b);
  const bool has_profiles = !of_a.steps.empty() && !of_b.steps.empty();
  AddSection("collectives", "Collectives", has_profiles ? ByProfile(of_a, of_b) : ByDumps(a, b),
             diff);
}

}  // namespace debrief::diff

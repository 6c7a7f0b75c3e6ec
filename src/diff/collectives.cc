// Collectives by group and op: how often, how many bytes, how long, how long waiting for others.
//
// Profiles tell all of it, step by step and rank by rank. Flight Recorder dumps hold the last
// entries of a run, however long it was: of those only what is new or gone and the size of one
// collective are compared, and only where profiles are missing.
#include <fmt/format.h>

#include <map>

#include "diff/run_diff.h"
#include "diff/tally.h"
#include "tables/comm_traffic.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_wait.h"

namespace debrief::diff {

namespace {

constexpr int64_t kSmallestPercent = 1;
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
  std::map<StepKey, bool> steps;  // all there are: a name that is missing in one counts as none
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
    if (!side.Has(table.rank[row]) || table.step[row] == kNone32) continue;
    const StepKey step{table.input[row], table.step[row]};
    found.steps[step] = true;
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
  for (const auto& [step, is_there] : all.steps) {
    const bool found = amounts != all.names.end() && amounts->second.contains(step);
    values.push_back(found ? amounts->second.at(step).*field : 0);
  }
  return values;
}

void AddRow(const std::string& name, std::string_view what, Unit unit, const Change& change,
            std::vector<Row>& rows) {
  if (!change.is_real) return;
  rows.push_back({.change = ChangeWord(change, unit),
                  .name = fmt::format("{}: {}", name, what),
                  .unit = unit,
                  .value = change});
}

std::vector<Row> ByProfile(const Collectives& a, const Collectives& b) {
  std::map<std::string, bool> names;
  for (const auto& [name, amounts] : a.names) names[name] = true;
  for (const auto& [name, amounts] : b.names) names[name] = true;
  std::vector<Row> rows;
  for (const auto& [name, there] : names) {
    auto compare = [&, &key = name](int64_t Amount::* field, int64_t floor) {
      return ChangeOf(Values(a, key, field), Values(b, key, field), floor);
    };
    AddRow(name, "collectives a step", Unit::kCount, compare(&Amount::count, 0), rows);
    AddRow(name, "bytes a step", Unit::kBytes, compare(&Amount::bytes, 0), rows);
    AddRow(name, "time a step", Unit::kNanoseconds, compare(&Amount::time_ns, kShortestNs), rows);
    AddRow(name, "waiting for other ranks a step", Unit::kNanoseconds,
           compare(&Amount::wait_ns, kShortestNs), rows);
  }
  return rows;
}

std::map<std::string, int64_t> SizesOf(const Side& side) {
  const auto& table = side.model.tables.Get<CommTrafficTable>();
  std::map<std::string, int64_t> sizes;
  for (size_t row = 0; row < table.size(); ++row) {
    if (table.count[row] <= 0) continue;
    const int64_t bytes = table.input_bytes[row] == kNone64 ? 0 : table.input_bytes[row];
    int64_t& size =
        sizes[NameOf(side, table.op[row], table.group_desc[row], table.group_name[row])];
    size = std::max(size, bytes / table.count[row]);
  }
  return sizes;
}

std::vector<Row> ByDumps(const Side& a, const Side& b) {
  const std::map<std::string, int64_t> of_a = SizesOf(a), of_b = SizesOf(b);
  std::vector<Row> rows;
  if (of_a.empty() || of_b.empty()) return rows;
  auto add_single = [&rows](std::string_view change, const std::string& name) {
    rows.push_back({.change = std::string(change), .name = name});
  };
  for (const auto& [name, size] : of_a) {
    auto other = of_b.find(name);
    if (other == of_b.end())
      add_single("gone", name);
    else
      AddRow(name, "bytes of one", Unit::kBytes,
             ChangeOfSingles(size, other->second, kSmallestPercent), rows);
  }
  for (const auto& [name, size] : of_b)
    if (!of_a.contains(name)) add_single("new", name);
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

// Do ranks run their compiled graphs in the same order? Place by place: what each rank ran there,
// and whether the collectives in it and the answers of the caches for it are the same. Two ranks
// that run different collectives at the same place wait for each other for ever.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analyses/compile/ranks/ranks.h"
#include "tables/compile_order.h"

namespace debrief::analyses::compile_ranks {

namespace {

struct Place {
  std::vector<const RankLogs::value_type*> logs;  // those whose order is that long
  bool ids_differ = false;
  bool schedules_differ = false;
  bool caches_differ = false;
};

// Whether two of `values` are there and differ.
template <typename Value>
bool Differ(const std::vector<const Value*>& values) {
  const Value* first = nullptr;
  for (const Value* value : values) {
    if (value == nullptr) continue;
    if (first == nullptr) first = value;
    if (*value != *first) return true;
  }
  return false;
}

template <typename Value>
const Value* Find(const std::map<std::string_view, Value>& map, std::string_view key) {
  auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

Place LookAt(size_t position, const std::vector<const RankLogs::value_type*>& logs) {
  Place place;
  std::vector<const std::string_view*> ids;
  std::vector<const std::vector<StringId>*> schedules;
  std::vector<const char*> caches;
  for (const auto* log : logs) {
    if (position >= log->second.order.size()) continue;
    place.logs.push_back(log);
    const std::string_view& id = log->second.order[position];
    ids.push_back(&id);
    schedules.push_back(Find(log->second.id_schedules, id));
    caches.push_back(Find(log->second.id_caches, id));
  }
  place.ids_differ = Differ(ids);
  place.schedules_differ = Differ(schedules);
  place.caches_differ = Differ(caches);
  return place;
}

void AddRows(size_t position, const Place& place, Verdicts& verdicts) {
  Part& part = verdicts.part();
  for (const auto* log : place.logs) {
    auto row = Part::RowOf<CompileOrderRow>(
        {.job = verdicts.job(), .attempt = verdicts.attempt(), .rank = log->first});
    row.position = static_cast<int32_t>(position);
    row.compile_id = part.pools.Intern(log->second.order[position]);
    row.schedule_mismatch = place.schedules_differ;
    row.cache_mismatch = place.caches_differ;
    part.tables.Edit<CompileOrderTable>().Add(row);
  }
}

void AddMismatch(std::string_view what, const std::set<int32_t>& ranks, Verdicts& verdicts) {
  if (ranks.empty()) return verdicts.Check(what, "consistent", "");
  verdicts.Check(what, "differs", "");
  verdicts.AddGroups(what, {{{ranks.begin(), ranks.end()}, "ranks at a place where they differ"}});
}

// "0/0 0/1 1/0 ..."
std::string Beginning(const std::vector<std::string_view>& order) {
  constexpr size_t kMost = 16;
  const bool is_cut = order.size() > kMost;
  auto end = is_cut ? order.begin() + kMost : order.end();
  return fmt::format("{}{}", fmt::join(order.begin(), end, " "), is_cut ? " ..." : "");
}

// tlparse looks only as far as the shorter of two orders goes.
void CheckOrder(const std::vector<const RankLogs::value_type*>& logs, bool ids_differ,
                Verdicts& verdicts) {
  std::map<std::vector<std::string_view>, Agreement> groups;
  std::set<size_t> lengths;
  for (const auto* log : logs) {
    Agreement& group = groups[log->second.order];
    group.ranks.push_back(log->first);
    group.detail = Beginning(log->second.order);
    lengths.insert(log->second.order.size());
  }
  std::string_view detail =
      lengths.size() > 1 ? "the orders have different lengths" : std::string_view();
  verdicts.Check("order", ids_differ ? "differs" : "consistent", detail);
  if (groups.size() < 2) return;
  std::vector<Agreement> agreements;
  for (const auto& [order, group] : groups) agreements.push_back(group);
  verdicts.AddGroups("order", std::move(agreements));
}

}  // namespace

void CompareOrders(const RankLogs& logs, Verdicts& verdicts) {
  std::vector<const RankLogs::value_type*> with_order;
  size_t longest = 0;
  for (const auto& log : logs) {
    if (!log.second.has_order) continue;
    with_order.push_back(&log);
    longest = std::max(longest, log.second.order.size());
  }
  if (with_order.size() < 2) {
    for (std::string_view what : {"order", "order_schedule", "order_cache"})
      verdicts.Check(what, "unavailable", "fewer than two ranks have an execution order");
    return;
  }
  bool ids_differ = false;
  std::set<int32_t> schedule_ranks, cache_ranks;
  for (size_t position = 0; position < longest; ++position) {
    Place place = LookAt(position, with_order);
    AddRows(position, place, verdicts);
    ids_differ = ids_differ || place.ids_differ;
    for (const auto* log : place.logs) {
      if (place.schedules_differ) schedule_ranks.insert(log->first);
      if (place.caches_differ) cache_ranks.insert(log->first);
    }
  }
  CheckOrder(with_order, ids_differ, verdicts);
  AddMismatch("order_schedule", schedule_ranks, verdicts);
  AddMismatch("order_cache", cache_ranks, verdicts);
}

}  // namespace debrief::analyses::compile_ranks

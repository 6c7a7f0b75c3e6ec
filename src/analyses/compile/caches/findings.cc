// A first run misses every key, and ranks that start together miss what the fastest of them is
// about to store: neither is trouble. A cache does not work when a key is missed that it must have
// had.
//
//   again    a process misses a key that it has looked up before: the answer was not stored
//   late     a rank begins to look up a key kMarginNs after another rank had stored or found it,
//   and
//            misses: the ranks do not share the cache (ranks of other hosts usually do not)
//   never    no hit in many compilations that took long: true of every first run, so only told
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyses/compile/caches/caches.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/compile_cache_total.h"
#include "tables/compile_cache_use.h"

namespace debrief::analyses::compile_caches {

namespace {

// A choice: room for clocks of hosts that differ and for the time that storing an answer takes,
// which logs do not tell.
constexpr int64_t kMarginNs = 2'000'000'000;
// Choices: a minute of compiling in five graphs or more, which a warm cache would have saved.
constexpr int64_t kManyMisses = 5;
constexpr double kLongSeconds = 60;

using CacheKey = std::tuple<int32_t, int32_t, StringId>;  // job, attempt, cache

struct Group {
  std::set<int32_t> ranks;
  std::vector<size_t> rows;
  double seconds = 0;

  void Add(const CompileCacheUseTable& uses, size_t row) {
    ranks.insert(uses.rank[row]);
    rows.push_back(row);
    if (uses.spent_s[row] > 0) seconds += uses.spent_s[row];
  }
};

// Without those of unknown rank.
std::vector<int32_t> KnownRanks(const Group& group) {
  std::vector<int32_t> known(group.ranks.begin(), group.ranks.end());
  std::erase(known, kNone32);
  return known;
}

Finding MakeFinding(const CacheKey& key, Severity severity, const Group& group) {
  constexpr size_t kMostRows = 64;
  Finding finding;
  finding.rule = "compile.cache_never_hits";
  finding.severity = severity;
  finding.job = std::get<0>(key);
  finding.attempt = std::get<1>(key);
  finding.ranks = KnownRanks(group);
  std::vector<int64_t> rows(group.rows.begin(), group.rows.end());
  rows.resize(std::min(rows.size(), kMostRows));
  finding.evidence.push_back(
      {.text = "the lookups that missed", .table = "compile_cache_use", .rows = std::move(rows)});
  return finding;
}

// "Rank 3 missed keys of fx_graph_cache again that ...: 4 times (12.5 s)"
std::string Missed(const Part& part, const CacheKey& key, const Group& group,
                   std::string_view which) {
  const std::vector<int32_t> ranks = KnownRanks(group);
  return fmt::format(
      "{} missed keys of {} {}: {} times{}", ranks.empty() ? "The job" : RanksAsSubject(ranks),
      part.pools.Text(std::get<2>(key)), which, group.rows.size(),
      group.seconds > 0 ? fmt::format(" ({})", SecondsInWords(std::llround(group.seconds * 1e9)))
                        : "");
}

// Returns the caches that it told of.
std::set<CacheKey> AddAgain(const Part& part, std::vector<Finding>& findings) {
  const auto& uses = part.tables.Get<CompileCacheUseTable>();
  std::map<CacheKey, Group> groups;
  std::set<CacheKey> told;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses.again[i]) groups[{uses.job[i], uses.attempt[i], uses.cache[i]}].Add(uses, i);
  }
  for (const auto& [key, group] : groups) {
    Finding finding = MakeFinding(key, Severity::kWarning, group);
    finding.headline = Missed(part, key, group, "again that had been looked up before");
    finding.why = "the same process asked for the same key twice; the first answer was not kept";
    finding.next_step =
        "Check that the cache folder can be written and is not emptied while the job runs "
        "(TORCHINDUCTOR_CACHE_DIR)";
    findings.push_back(std::move(finding));
    told.insert(key);
  }
  return told;
}

// When each key was there for others, and for which rank first.
struct Stored {
  int64_t ns = kNone64;
  int32_t rank = kNone32;
};

void AddLate(const Part& part, std::vector<Finding>& findings) {
  const auto& uses = part.tables.Get<CompileCacheUseTable>();
  std::map<std::tuple<CacheKey, StringId>, Stored> stored;
  auto key_of = [&](size_t i) {
    return std::tuple(CacheKey(uses.job[i], uses.attempt[i], uses.cache[i]), uses.key[i]);
  };
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses.key[i] == StringId::kNone || uses.asked_ns[i] == kNone64) continue;
    const bool is_hit = part.pools.Text(uses.status[i]) == "hit";
    if (!is_hit && !(uses.spent_s[i] > 0)) continue;  // not told when it was stored
    const double spent = is_hit ? 0 : uses.spent_s[i];
    const int64_t ns =
        uses.asked_ns[i] / 2 + static_cast<int64_t>(spent * 5e8);  // halves: no overflow
    Stored& first = stored[key_of(i)];
    if (first.ns == kNone64 || ns < first.ns) first = {ns, uses.rank[i]};
  }
  std::map<CacheKey, Group> groups;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (part.pools.Text(uses.status[i]) != "miss" || uses.again[i]) continue;
    auto found = stored.find(key_of(i));
    if (found == stored.end() || found->second.rank == uses.rank[i]) continue;
    if (uses.asked_ns[i] / 2 - kMarginNs / 2 > found->second.ns)
      groups[std::get<0>(key_of(i))].Add(uses, i);
  }
  for (const auto& [key, group] : groups) {
    Finding finding = MakeFinding(key, Severity::kInfo, group);
    finding.headline = Missed(part, key, group, "that another rank had stored before");
    finding.confidence = 0.6;
    finding.why = "by wall clock, which hosts may not agree about; ranks of one host share a cache";
    finding.next_step =
        "Put TORCHINDUCTOR_CACHE_DIR on storage that all hosts share, or turn on the remote cache";
    findings.push_back(std::move(finding));
  }
}

void AddNever(const Part& part, const std::set<CacheKey>& told, std::vector<Finding>& findings) {
  const auto& totals = part.tables.Get<CompileCacheTotalTable>();
  std::map<CacheKey, std::pair<Group, int64_t>> groups;  // ranks, and hits of any of them
  for (size_t i = 0; i < totals.size(); ++i) {
    auto& [group, hits] = groups[{totals.job[i], totals.attempt[i], totals.cache[i]}];
    hits += totals.hits[i];
    if (totals.misses[i] < kManyMisses || totals.spent_s[i] < kLongSeconds) continue;
    group.ranks.insert(totals.rank[i]);
    group.rows.push_back(i);
    group.seconds = std::max(group.seconds, totals.spent_s[i]);
  }
  for (const auto& [key, found] : groups) {
    const auto& [group, hits] = found;
    if (hits > 0 || group.rows.empty() || told.contains(key)) continue;
    Finding finding = MakeFinding(key, Severity::kInfo, group);
    finding.evidence.front() = {.text = "no hit, only misses",
                                .table = "compile_cache_total",
                                .rows = {group.rows.begin(), group.rows.end()}};
    finding.ranks.clear();
    finding.headline =
        fmt::format("{} never answered; compiling what it could have had took {:.0f} s",
                    part.pools.Text(std::get<2>(key)), group.seconds);
    finding.why = "a first run misses every key; only a second one that misses them is trouble";
    finding.next_step = "Compare with the next run; keep TORCHINDUCTOR_CACHE_DIR between runs";
    findings.push_back(std::move(finding));
  }
}

}  // namespace

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const std::set<CacheKey> told = AddAgain(part, findings);
  AddLate(part, findings);
  AddNever(part, told, findings);
}

}  // namespace debrief::analyses::compile_caches

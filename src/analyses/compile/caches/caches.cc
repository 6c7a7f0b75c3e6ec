// Do the compilation caches work? An artifact <cache>_hit, _miss or _bypass is one answer; its JSON
// tells the key, the reason and the time.
//
//   {"key": "fhwvaq...", "components": [60 KB], "cache_event_time": ns, "cache_state": "miss",
//    "time_taken_ns": 633931887, ...}              a hit has "time_saved_ns" or "time_saved_ms"
//
// Nearly all of it is `components`, what the key was made of, between the keys that are wanted: it
// is skipped by its brackets and never looked into. Cost: one pass over these bytes to find the
// brackets, and a walk over what was found.
#include "analyses/compile/caches/caches.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "model/compile/payload.h"
#include "tables/compile_cache_total.h"
#include "tables/compile_cache_use.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::compile_caches {

namespace {

// Compiling on one rank takes no longer; what claims to is broken.
constexpr double kMostSeconds = 1e8;

double Scaled(JsonValue value, double scale) {
  const double seconds = value.Double().value_or(kNoDouble) * scale;
  return seconds >= 0 && seconds < kMostSeconds ? seconds : kNoDouble;
}

struct Name {
  std::string_view cache;
  std::string_view status;
  bool is_answer = false;
};

Name NameOf(std::string_view artifact) {
  Name name;
  name.is_answer = SplitName(artifact, name.cache, name.status);
  return name;
}

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) {
      if (entries_.name[row] == StringId::kNone) continue;
      const Name& name = names_(entries_.name[row]);
      if (name.is_answer && Text(entries_.kind[row]) == "artifact" &&
          Text(entries_.state[row]) == "read")
        Add(row, name);
    }
    for (const auto& [key, total] : totals_) part_.tables.Edit<CompileCacheTotalTable>().Add(total);
  }

 private:
  void Add(size_t row, const Name& name) {
    auto made = RowOfEntry<CompileCacheUseRow>(entries_, row);
    made.compile_id = texts_(entries_.compile_id[row]);
    made.cache = part_.pools.Intern(name.cache);
    made.status = part_.pools.Intern(name.status);
    Read(row, made);
    if (made.asked_ns == kNone64) made.asked_ns = entries_.time_ns[row];
    const bool known =
        made.key != StringId::kNone &&
        !seen_.emplace(made.input, made.rank, entries_.life[row], made.cache, made.key).second;
    made.again = known && name.status == "miss";
    part_.tables.Edit<CompileCacheUseTable>().Add(made);
    AddToTotal(made, name.status);
  }

  // An answer that cannot be read is still an answer: its name tells it.
  void Read(size_t row, CompileCacheUseRow& made) {
    auto lines = PayloadLines(model_, entries_, row);
    if (!lines.ok() || !reader_.Open(lines.value().text()).ok()) return;
    Status status = reader_.root().ForEachField(
        [&](std::string_view key, JsonValue value) { ReadField(key, value, made); });
    static_cast<void>(status);  // what was read before the text broke is true
  }

  void ReadField(std::string_view key, JsonValue value, CompileCacheUseRow& made) {
    if (key == "components") return;
    const bool is_text = value.kind() == JsonKind::kString;
    auto text = [&] { return texts_(value.String().value_or("")); };
    if (key == "key" && is_text) made.key = text();
    if (key == "cache_status_detailed" && is_text) made.detail = text();
    if (key == "cache_bypass_reason" && is_text) made.reason = text();
    if (key == "cache_event_time") made.asked_ns = value.Int().value_or(kNone64);
    if (key == "time_saved_ns") made.saved_s = Scaled(value, 1e-9);
    if (key == "time_saved_ms") made.saved_s = Scaled(value, 1e-3);
    if (key == "time_taken_ns") made.spent_s = Scaled(value, 1e-9);
  }

  void AddToTotal(const CompileCacheUseRow& use, std::string_view status) {
    auto [at, is_new] = totals_.try_emplace({use.job, use.attempt, use.rank, use.cache});
    CompileCacheTotalRow& total = at->second;
    if (is_new) {
      total = Part::RowOf<CompileCacheTotalRow>(
          {.job = use.job, .attempt = use.attempt, .rank = use.rank});
      total.cache = use.cache;
      total.uses = total.hits = total.misses = total.bypasses = total.again = 0;
      total.saved_s = total.spent_s = 0;
    }
    ++total.uses;
    if (status == "hit") ++total.hits;
    if (status == "miss") ++total.misses;
    if (status == "bypass") ++total.bypasses;
    if (use.again) ++total.again;
    if (use.saved_s > 0) total.saved_s += use.saved_s;
    if (use.spent_s > 0) total.spent_s += use.spent_s;
  }

  JsonReader reader_;
  AskOnce<Name> names_{model_.pools, NameOf};
  std::set<std::tuple<int32_t, int32_t, int32_t, StringId, StringId>> seen_;
  std::map<std::tuple<int32_t, int32_t, int32_t, StringId>, CompileCacheTotalRow> totals_;
};

// A first run misses every key, and ranks that start together miss what the fastest of them is
// about to store: neither is trouble. A cache does not work when a key is missed that it must have
// had.
//
//   again    a process misses a key that it has looked up before: the answer was not stored
//   late     a rank begins to look up a key kMarginNs after another rank had stored or found it,
//   and
//            misses: the ranks do not share the cache (ranks of other hosts usually do not)
//   never    no hit in many compilations that took long: true of every first run, so only told

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
  Finding finding =
      NewFinding("compile.cache_never_hits", std::get<0>(key), std::get<1>(key), severity);
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
      "{} missed keys in {} {}: {} x{}", ranks.empty() ? "The job" : RanksAsSubject(ranks),
      part.pools.Text(std::get<2>(key)), which, group.rows.size(),
      group.seconds > 0 ? fmt::format(" ({})", DurationInWords(std::llround(group.seconds * 1e9)))
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
    finding.headline = Missed(part, key, group, "that were looked up before");
    finding.why = "the same process asked for the same key twice; the first answer was not kept";
    finding.next_step =
        "Check that the cache folder can be written and is not emptied while the job runs "
        "(TORCHINDUCTOR_CACHE_DIR).";
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
        "Put TORCHINDUCTOR_CACHE_DIR on storage that all hosts share, or turn on the remote cache.";
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
    finding.headline = fmt::format("{} had no hit; compiling what it could have held took {}",
                                   part.pools.Text(std::get<2>(key)), SecondsText(group.seconds));
    finding.why = "a first run misses every key; only a second one that misses them is trouble";
    finding.next_step = "Compare with the next run; keep TORCHINDUCTOR_CACHE_DIR between runs.";
    findings.push_back(std::move(finding));
  }
}

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const std::set<CacheKey> told = AddAgain(part, findings);
  AddLate(part, findings);
  AddNever(part, told, findings);
}

Status Run(const Model& model, AnalysisResult& result) {
  Collector(model, result.part).Run();
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

bool SplitName(std::string_view artifact, std::string_view& cache, std::string_view& status) {
  for (std::string_view end : {"_hit", "_miss", "_bypass"}) {
    if (!artifact.ends_with(end)) continue;
    cache = artifact.substr(0, artifact.size() - end.size());
    status = end.substr(1);
    return cache.ends_with("cache");
  }
  return false;
}

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_caches",
               .sentence = "Do the compilation caches work, and what do they save?",
               .example = "Rank 3 missed 4 keys of fx_graph_cache again that it had asked for "
                          "before (12.5 s)",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileCacheUseTable, CompileCacheTotalTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_caches

#include "inputs/torch_trace/lives.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tables/compile_entry.h"
#include "tables/compile_life.h"
#include "tables/compile_metrics.h"

namespace debrief::inputs::torch_trace {

namespace {

using CompilationKey = std::tuple<int64_t, int64_t, int64_t>;  // a restart keeps these

struct Life {
  CompileLifeRow row;
  std::set<CompilationKey> started, ended;
};

void Extend(Life& life, const CompileEntryTable& entries, size_t row) {
  CompileLifeRow& to = life.row;
  if (to.first_entry == kNone64) to.first_entry = entries.entry[row];
  to.last_entry = entries.entry[row];
  int64_t time = entries.time_ns[row];
  if (time == kNone64) return;
  to.start_ns = to.start_ns == kNone64 ? time : std::min(to.start_ns, time);
  to.end_ns = std::max(to.end_ns, time);
}

Life& LifeOf(std::map<std::pair<int32_t, int32_t>, Life>& lives, const Identity& who,
             const CompileEntryTable& entries, size_t row) {
  auto [found, is_new] = lives.try_emplace({entries.rank[row], entries.life[row]});
  if (is_new) {
    found->second.row = Part::RowOf<CompileLifeRow>(who);
    found->second.row.input = who.input;
    found->second.row.rank = entries.rank[row];
    found->second.row.life = entries.life[row];
    found->second.row.failed = 0;
  }
  return found->second;
}

std::set<int64_t> FailedEntries(const Part& whole, StringId metrics_kind) {
  const auto& metrics = whole.tables.Get<CompileMetricsTable>();
  std::set<int64_t> failed;
  for (size_t i = 0; i < metrics.size(); ++i) {
    if (metrics.kind[i] == metrics_kind && metrics.fail_type[i] != StringId::kNone)
      failed.insert(metrics.entry[i]);
  }
  return failed;
}

void Close(Life& life, Pools& pools) {
  size_t ended = 0;
  for (const CompilationKey& key : life.started) ended += life.ended.count(key);
  life.row.compilations = static_cast<int32_t>(life.started.size());
  life.row.unfinished = static_cast<int32_t>(life.started.size() - ended);
  std::string_view outcome = life.row.unfinished > 0 ? "unfinished"
                             : life.row.failed > 0   ? "failed"
                                                     : "ok";
  life.row.outcome = pools.Intern(outcome);
}

}  // namespace

void AddLives(const Identity& who, Part& whole) {
  const auto& entries = whole.tables.Get<CompileEntryTable>();
  StringId start = whole.pools.Intern("dynamo_start");
  StringId metrics = whole.pools.Intern("compilation_metrics");
  std::set<int64_t> failed = FailedEntries(whole, metrics);
  std::map<std::pair<int32_t, int32_t>, Life> lives;
  for (size_t row = 0; row < entries.size(); ++row) {
    Life& life = LifeOf(lives, who, entries, row);
    Extend(life, entries, row);
    CompilationKey key = {entries.autograd_id[row], entries.frame_id[row],
                          entries.frame_compile_id[row]};
    if (entries.kind[row] == start) life.started.insert(key);
    if (entries.kind[row] != metrics) continue;
    life.ended.insert(key);
    life.row.failed += failed.count(entries.entry[row]) > 0 ? 1 : 0;
  }
  for (auto& [key, life] : lives) {
    Close(life, whole.pools);
    whole.tables.Edit<CompileLifeTable>().Add(life.row);
  }
}

}  // namespace debrief::inputs::torch_trace

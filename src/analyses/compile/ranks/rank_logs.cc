#include "analyses/compile/ranks/rank_logs.h"

#include "tables/compile_artifact_count.h"
#include "tables/compile_cache.h"
#include "tables/compile_collective.h"
#include "tables/compile_entry.h"
#include "tables/compile_execution.h"
#include "tables/compile_runtime_op.h"
#include "tables/compile_tensor_meta.h"

namespace debrief::analyses::compile_ranks {

namespace {

// A miss says more than a hit, a hit more than a bypass: so their letters are compared.
int Weight(char answer) { return answer == 'm' ? 3 : answer == 'h' ? 2 : 1; }

class Gatherer {
 public:
  explicit Gatherer(const Model& model) : model_(model) {}

  Attempts Run() {
    ForEachRow<CompileArtifactCountTable>([&](const auto& table, size_t i, RankLog& log) {
      log.has_order = log.has_order || table.order_length[i] != kNone32;
    });
    AddIds();
    ForEachRow<CompileCacheTable>([&](const auto& table, size_t i, RankLog& log) {
      char answer = Text(table.status[i])[0];
      log.caches += answer;
      char& worst = log.id_caches.try_emplace(Text(table.compile_id[i]), answer).first->second;
      if (Weight(answer) > Weight(worst)) worst = answer;
    });
    ForEachRow<CompileCollectiveTable>([&](const auto& table, size_t i, RankLog& log) {
      if (table.chosen[i]) log.schedules[Text(table.graph[i])].push_back(table.op[i]);
      if (table.chosen[i]) log.id_schedules[Text(table.compile_id[i])].push_back(table.op[i]);
    });
    ForEachRow<CompileRuntimeOpTable>([&](const auto& table, size_t i, RankLog& log) {
      if (table.chosen[i]) log.runtimes_ns[Text(table.graph[i])] += table.estimated_ns[i];
    });
    ForEachRow<CompileTensorMetaTable>([&](const auto& table, size_t i, RankLog& log) {
      if (!table.chosen[i]) return;
      log.tensor_meta[Text(table.graph[i])] = {Text(table.fingerprint[i]),
                                               Text(table.shape_fingerprint[i])};
    });
    ForEachRow<CompileExecutionTable>([&](const auto& table, size_t i, RankLog& log) {
      log.order.push_back(Text(table.executed[i]));
    });
    return std::move(attempts_);
  }

 private:
  template <typename Table, typename Callback>
  void ForEachRow(Callback callback) {
    const auto& table = model_.tables.Get<Table>();
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.rank[i] == kNone32) continue;
      callback(table, i, attempts_[{table.job[i], table.attempt[i]}][table.rank[i]]);
    }
  }

  // Most entries have the id of the one before.
  void AddIds() {
    const auto& entries = model_.tables.Get<CompileEntryTable>();
    std::set<std::tuple<int32_t, int32_t, int32_t, StringId>> seen;
    std::tuple<int32_t, int32_t, int32_t, StringId> last = {kNone32, kNone32, kNone32,
                                                            StringId::kNone};
    for (size_t i = 0; i < entries.size(); ++i) {
      std::tuple key(entries.job[i], entries.attempt[i], entries.rank[i], entries.compile_id[i]);
      if (key == last || entries.rank[i] == kNone32) continue;
      if (entries.compile_id[i] == StringId::kNone) continue;
      if (Text(entries.state[i]) == "refused") continue;
      last = key;
      if (!seen.insert(key).second) continue;
      attempts_[{entries.job[i], entries.attempt[i]}][entries.rank[i]].compile_ids.insert(
          Text(entries.compile_id[i]));
    }
  }

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  const Model& model_;
  Attempts attempts_;
};

}  // namespace

Attempts GatherRankLogs(const Model& model) { return Gatherer(model).Run(); }

}  // namespace debrief::analyses::compile_ranks

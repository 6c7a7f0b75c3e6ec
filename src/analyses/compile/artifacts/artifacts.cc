// What do the artifacts of a compile log say that ranks can be compared by? Schedules of
// collectives, expected times, fingerprints of tensors, the order of execution, answers of caches.
//
// One pass over the entries. What an artifact is, its name tells: names are looked at once each,
// and only the payloads of schedules, estimates and the last execution order are read. An answer of
// a cache is known by its name alone. A broken payload costs itself and is counted.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/artifact_json.h"
#include "analyses/compile/rows.h"
#include "model/compile/payload.h"
#include "tables/compile_artifact_count.h"
#include "tables/compile_cache.h"
#include "tables/compile_collective.h"
#include "tables/compile_entry.h"
#include "tables/compile_execution.h"
#include "tables/compile_runtime_op.h"
#include "tables/compile_tensor_meta.h"

namespace debrief::analyses::compile_artifacts {

namespace {

// What the name of an artifact tells.
struct NameClues {
  bool schedule = false;
  bool runtime = false;
  bool order = false;
  std::string_view cache;   // fx_graph_cache
  std::string_view status;  // empty: no answer of a cache
};

NameClues CluesOf(std::string_view name) {
  NameClues clues;
  clues.schedule = name.starts_with("inductor_collective_schedule");
  clues.runtime = name.starts_with("inductor_runtime_and_tensor_meta");
  clues.order = name.find("graph_execution") != std::string_view::npos;
  constexpr std::string_view kCache = "cache_";
  for (std::string_view status : {"miss", "hit", "bypass"}) {  // the first of them that is there
    size_t at = name.find(std::string(kCache) += status);
    if (at == std::string_view::npos) continue;
    clues.cache = name.substr(0, at + kCache.size() - 1);
    clues.status = status;
    break;
  }
  return clues;
}

// One rank of one log.
struct Log {
  CompileArtifactCountRow counts;
  std::set<std::string> scheduled;  // graphs that have their schedule
  std::set<std::string> estimated;  // and their estimates
  size_t order_row = 0;
  bool has_order = false;
};

class Collector : EntryPass {
 public:
  Collector(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) Look(row);
    for (auto& [key, log] : logs_) {
      if (log.has_order) AddOrder(log);
      part_.tables.Edit<CompileArtifactCountTable>().Add(log.counts);
    }
  }

 private:
  void Look(size_t row) {
    if (Text(entries_.state[row]) == "refused") return;
    Log& log = LogOf(row);
    if (Text(entries_.kind[row]) != "artifact") return;
    const NameClues& clues = clues_(entries_.name[row]);
    std::string_view encoding = Text(entries_.detail[row]);
    if (encoding != "json" && encoding != "string") return;
    if (!clues.status.empty()) AddCache(row, clues, log);
    if (encoding != "json") return;
    if (clues.schedule) AddSchedule(row, log);
    if (clues.runtime) AddRuntime(row, log);
    if (clues.order) {
      log.order_row = row;
      log.has_order = true;
    }
  }

  // Entries of one rank follow each other, mostly.
  Log& LogOf(size_t row) {
    std::pair key(entries_.input[row], entries_.rank[row]);
    if (last_ != nullptr && key == last_key_) return *last_;
    auto [at, is_new] = logs_.try_emplace(key);
    Log& log = at->second;
    if (is_new) {
      log.counts = RowLike<CompileArtifactCountRow>(entries_, row);
      log.counts.schedules = log.counts.runtimes = log.counts.caches = log.counts.broken = 0;
    }
    last_key_ = key;
    last_ = &log;
    return log;
  }

  template <typename Row>
  Row RowFor(size_t row, const std::string& graph) {
    Row made = RowOfEntry<Row>(entries_, row);
    made.compile_id = texts_(entries_.compile_id[row]);
    made.graph = part_.pools.Intern(graph);
    return made;
  }

  void AddCache(size_t row, const NameClues& clues, Log& log) {
    auto made = RowFor<CompileCacheRow>(row, GraphDirectory(entries_, row));
    made.cache = part_.pools.Intern(clues.cache);
    made.status = part_.pools.Intern(clues.status);
    made.position = log.counts.caches++;
    part_.tables.Edit<CompileCacheTable>().Add(made);
  }

  void AddSchedule(size_t row, Log& log) {
    auto lines = PayloadLines(model_, entries_, row);
    auto ops = lines.ok() ? reader_.Schedule(lines.value().text()) : std::nullopt;
    if (!ops) return static_cast<void>(++log.counts.broken);
    ++log.counts.schedules;
    std::string graph = GraphDirectory(entries_, row);
    auto made = RowFor<CompileCollectiveRow>(row, graph);
    made.chosen = log.scheduled.insert(graph).second;
    made.position = 0;
    for (const std::string& op : *ops) {
      made.op = part_.pools.Intern(op);
      part_.tables.Edit<CompileCollectiveTable>().Add(made);
      ++made.position;
    }
  }

  void AddRuntime(size_t row, Log& log) {
    auto lines = PayloadLines(model_, entries_, row);
    auto runtime = lines.ok() ? reader_.RuntimeAndMeta(lines.value().text()) : std::nullopt;
    if (!runtime) return static_cast<void>(++log.counts.broken);
    ++log.counts.runtimes;
    std::string graph = GraphDirectory(entries_, row);
    bool chosen = log.estimated.insert(graph).second;
    auto meta = RowFor<CompileTensorMetaRow>(row, graph);
    meta.fingerprint = part_.pools.Intern(runtime->fingerprint);
    meta.shape_fingerprint = part_.pools.Intern(runtime->shape_fingerprint);
    meta.chosen = chosen;
    part_.tables.Edit<CompileTensorMetaTable>().Add(meta);
    auto made = RowFor<CompileRuntimeOpRow>(row, graph);
    made.chosen = chosen;
    made.position = 0;
    for (const RuntimeOp& op : runtime->ops) {
      made.name = part_.pools.Intern(op.name);
      made.estimated_ns = op.estimated_ns;
      part_.tables.Edit<CompileRuntimeOpTable>().Add(made);
      ++made.position;
    }
  }

  // Of several, the last one in the log counts, whether it can be read or not.
  void AddOrder(Log& log) {
    auto lines = PayloadLines(model_, entries_, log.order_row);
    auto order = lines.ok() ? reader_.ExecutionOrder(lines.value().text()) : std::nullopt;
    if (!order) return static_cast<void>(++log.counts.broken);
    log.counts.order_length = static_cast<int32_t>(order->size());
    auto made = RowOfEntry<CompileExecutionRow>(entries_, log.order_row);
    made.position = 0;
    for (const std::string& id : *order) {
      made.executed = part_.pools.Intern(id);
      part_.tables.Edit<CompileExecutionTable>().Add(made);
      ++made.position;
    }
  }

  ArtifactReader reader_;
  AskOnce<NameClues> clues_{model_.pools, CluesOf};
  std::map<std::pair<int32_t, int32_t>, Log> logs_;  // by input and rank
  std::pair<int32_t, int32_t> last_key_;
  Log* last_ = nullptr;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info =
          {.name = "compile_artifacts",
           .scope = AnalysisScope::kRank,
           .sentence = "What do compile logs have by which ranks can be compared: collectives, "
                       "expected times, tensors, caches?",
           .example = "tables of schedules, estimates and cache answers; no findings of its own",
           .needs = kTableNames<CompileEntryTable>,
           .makes =
               kTableNames<CompileArtifactCountTable, CompileCollectiveTable, CompileRuntimeOpTable,
                           CompileTensorMetaTable, CompileExecutionTable, CompileCacheTable>},
      .run = RunPass<Collector>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_artifacts

// What lies above the trees of several ranks.
#include <algorithm>
#include <set>

#include "compat/tlparse/event_file.h"
#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/multi_rank_json.h"
#include "compat/tlparse/pages/landing.h"
#include "compat/tlparse/tree.h"
#include "tables/compile_divergence.h"
#include "tables/compile_entry.h"
#include "tables/compile_metrics.h"
#include "tables/compile_order.h"
#include "tables/compile_rank_check.h"
#include "tables/compile_runtime_delta.h"

namespace debrief::outputs::tlparse_tree {

namespace {

class LandingMaker {
 public:
  LandingMaker(const Model& model, int32_t job, int32_t attempt)
      : model_(model), job_(job), attempt_(attempt) {}

  LandingData Make(std::span<const TreePlan> plans) const {
    LandingData data;
    for (const TreePlan& plan : plans) {
      data.ranks.push_back(RankOf(plan));
      data.has_chromium |= !plan.events.empty();
    }
    data.compile_ids = Groups("compile_ids");
    data.cache = Groups("cache");
    data.collectives = Groups("collectives");
    data.tensor_meta = Groups("tensor_shapes");  // without the estimates that tlparse compares
    data.runtime_comparable = State("runtime") != "unavailable";
    data.runtime = Deltas();
    std::string_view order = State("order");
    data.order = order == "differs"      ? OrderResult::kDiffers
                 : order == "consistent" ? OrderResult::kConsistent
                                         : OrderResult::kUnavailable;
    FindMismatches(data);
    return data;
  }

 private:
  template <typename Table>
  bool IsMine(const Table& table, size_t row) const {
    return table.job[row] == job_ && table.attempt[row] == attempt_;
  }

  // Counted by compilation: a restarted one that failed is one failure.
  LandingRank RankOf(const TreePlan& plan) const {
    LandingRank rank{.rank = plan.rank, .folder = "rank_" + std::to_string(plan.rank)};
    rank.files = static_cast<int64_t>(plan.files.size());
    const auto& metrics = model_.tables.Get<CompileMetricsTable>();
    std::set<StringId> failed, restarted, all;
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (metrics.input[i] != plan.input || metrics.rank[i] != plan.rank) continue;
      all.insert(metrics.compile_id[i]);
      if (metrics.fail_type[i] != StringId::kNone) failed.insert(metrics.compile_id[i]);
      if (metrics.restart_reasons[i] > 0) restarted.insert(metrics.compile_id[i]);
    }
    rank.compilations = static_cast<int64_t>(all.size());
    rank.failed = static_cast<int64_t>(failed.size());
    rank.restarted = static_cast<int64_t>(restarted.size());
    return rank;
  }

  RankGroups Groups(std::string_view what) const {
    const auto& table = model_.tables.Get<CompileDivergenceTable>();
    RankGroups groups;
    for (size_t i = 0; i < table.size(); ++i) {
      if (!IsMine(table, i) || model_.pools.Text(table.what[i]) != what) continue;
      std::vector<int32_t> ranks;
      for (int64_t rank : model_.pools.lists.Get(table.ranks[i]))
        ranks.push_back(static_cast<int32_t>(rank));
      groups.push_back(std::move(ranks));
    }
    return groups;
  }

  std::string_view State(std::string_view what) const {
    const auto& table = model_.tables.Get<CompileRankCheckTable>();
    for (size_t i = 0; i < table.size(); ++i) {
      if (IsMine(table, i) && model_.pools.Text(table.what[i]) == what)
        return model_.pools.Text(table.state[i]);
    }
    return "unavailable";
  }

  std::vector<RuntimeDelta> Deltas() const {
    const auto& table = model_.tables.Get<CompileRuntimeDeltaTable>();
    std::vector<RuntimeDelta> deltas;
    for (size_t i = 0; i < table.size(); ++i) {
      if (!IsMine(table, i) || model_.pools.Text(table.pairing[i]) != "position") continue;
      deltas.push_back({.graph = std::string(model_.pools.Text(table.graph[i])),
                        .delta_ms = table.delta_ms[i],
                        .fastest = table.fastest_rank[i],
                        .fastest_ms = table.fastest_ms[i],
                        .slowest = table.slowest_rank[i],
                        .slowest_ms = table.slowest_ms[i]});
    }
    return deltas;
  }

  void FindMismatches(LandingData& data) const {
    const auto& table = model_.tables.Get<CompileOrderTable>();
    std::set<int32_t> schedule, cache;
    for (size_t i = 0; i < table.size(); ++i) {
      if (!IsMine(table, i)) continue;
      if (table.schedule_mismatch[i]) schedule.insert(table.rank[i]);
      if (table.cache_mismatch[i]) cache.insert(table.rank[i]);
    }
    data.schedule_mismatch.assign(schedule.begin(), schedule.end());
    data.cache_mismatch.assign(cache.begin(), cache.end());
  }

  const Model& model_;
  int32_t job_;
  int32_t attempt_;
};

Status WriteUnlessEmpty(const std::string& name, const std::string& text, FileSink& sink,
                        std::vector<std::string>& written) {
  if (text.empty()) return {};
  written.push_back(name);
  return sink.Write(name, text);
}

}  // namespace

Status WriteLanding(const Model& model, std::span<const TreePlan> plans, const TreeOptions& options,
                    ThreadPool& pool, const std::string& folder,
                    std::vector<std::string>& written) {
  FileSink sink(folder);
  const auto& entries = model.tables.Get<CompileEntryTable>();
  int32_t job = kNone32, attempt = kNone32;
  for (const TreePlan& plan : plans) {
    if (plan.rows.empty()) continue;
    job = entries.job[plan.rows.front()];
    attempt = entries.attempt[plan.rows.front()];
    break;
  }
  TRY(WriteAllEvents(model, plans, pool, sink));
  std::string runtime = RuntimeEstimationsJson(model, job, attempt);
  TRY(WriteUnlessEmpty("runtime_estimations.json", runtime, sink, written));
  TRY(WriteUnlessEmpty("chromium_trace_with_runtime.json", RuntimeTraceJson(model, job, attempt),
                       sink, written));
  TRY(WriteUnlessEmpty("collective_schedules.json", CollectiveSchedulesJson(model, job, attempt),
                       sink, written));
  LandingData data = LandingMaker(model, job, attempt).Make(plans);
  data.custom_header_html = options.custom_header_html;
  data.has_runtime = !runtime.empty();
  return sink.Write("index.html", LandingPage(data));
}

}  // namespace debrief::outputs::tlparse_tree

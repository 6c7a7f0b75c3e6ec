#include "analyses/compile/rank_compare/jobs.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "model/compile/frames.h"
#include "tables/compile_entry.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

using Attempts = std::map<std::pair<int32_t, int32_t>, Job>;

// A rank that left a log and compiled nothing is a rank, too.
void AddRanks(const CompileEntryTable& entries, Attempts& attempts) {
  std::set<std::tuple<int32_t, int32_t, int32_t, int32_t>> seen;
  std::tuple<int32_t, int32_t, int32_t, int32_t> last = {kNone32, kNone32, kNone32, kNone32};
  int64_t* last_ns = nullptr;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::tuple key(entries.job[i], entries.attempt[i], entries.rank[i], entries.life[i]);
    if (entries.rank[i] == kNone32) continue;
    if (key == last) *last_ns = std::max(*last_ns, entries.time_ns[i]);
    if (key == last) continue;
    last = key;
    Job& job = attempts[{entries.job[i], entries.attempt[i]}];
    last_ns = &job.last_ns.try_emplace(entries.rank[i], kNone64).first->second;
    *last_ns = std::max(*last_ns, entries.time_ns[i]);
    if (!seen.insert(key).second) continue;
    job.ranks_of_life[entries.life[i]].push_back(entries.rank[i]);
    job.ranks.push_back(entries.rank[i]);
  }
}

void SortUnique(std::vector<int32_t>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

void AddUnits(const Pools& pools, const CompileSpanTable& spans, Job& job) {
  for (const auto& [rank, rows] : job.spans) {
    std::map<UnitKey, int32_t> times;  // how often so far
    for (size_t row : rows) {
      if (spans.function[row] == StringId::kNone) continue;  // not known what it was
      UnitKey key = {.life = spans.life[row],
                     .function = pools.Text(spans.function[row]),
                     .file = ShortPath(pools.Text(spans.file[row])),
                     .line = spans.line[row]};
      const int32_t nth = times[key]++;
      key.nth = nth;
      job.units[key].emplace(rank, row);
    }
  }
}

// Caches decide whether later graphs are logged at all, and in what order; these always are, before
// a cache is asked or from what it keeps.
constexpr std::array<std::string_view, 9> kKinds = {
    "dynamo_output_graph", "compiled_autograd_graph",  "optimize_ddp_split_graph",
    "aot_joint_graph",     "aot_forward_graph",        "aot_backward_graph",
    "aot_inference_graph", "optimize_ddp_split_child", "inductor_pre_grad_graph"};
constexpr std::array<std::string_view, 2> kArtifacts = {"before_pre_grad_graph",
                                                        "recompile_reasons"};

// Whether texts are among some, asked once for each.
class Choice {
 public:
  Choice(const Pools& pools, std::span<const std::string_view> wanted)
      : pools_(pools), wanted_(wanted) {}

  bool Has(StringId id) {
    auto [at, is_new] = known_.try_emplace(id, false);
    if (is_new)
      at->second = std::find(wanted_.begin(), wanted_.end(), pools_.Text(id)) != wanted_.end();
    return at->second;
  }

 private:
  const Pools& pools_;
  std::span<const std::string_view> wanted_;
  std::unordered_map<StringId, bool> known_;
};

}  // namespace

std::vector<Job> GatherJobs(const Model& model) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  Attempts attempts;
  AddRanks(model.tables.Get<CompileEntryTable>(), attempts);
  for (size_t row = 0; row < spans.size(); ++row) {
    auto found = attempts.find({spans.job[row], spans.attempt[row]});
    if (found != attempts.end() && spans.rank[row] != kNone32)
      found->second.spans[spans.rank[row]].push_back(row);
  }
  std::vector<Job> jobs;
  for (auto& [who, job] : attempts) {
    std::tie(job.job, job.attempt) = who;
    SortUnique(job.ranks);
    for (auto& [life, ranks] : job.ranks_of_life) SortUnique(ranks);
    if (job.ranks.size() < 2) continue;
    AddUnits(model.pools, spans, job);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Graphs GatherGraphs(const Model& model) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const auto& spans = model.tables.Get<CompileSpanTable>();
  using Key = std::tuple<int32_t, int32_t, int32_t, std::string_view>;  // input, rank, life, id
  std::map<Key, size_t> span_of;
  for (size_t row = 0; row < spans.size(); ++row) {
    span_of.emplace(Key(spans.input[row], spans.rank[row], spans.life[row],
                        model.pools.Text(spans.compile_id[row])),
                    row);
  }
  Choice kinds(model.pools, kKinds);
  Choice artifacts(model.pools, kArtifacts);
  Graphs graphs;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (entries.payload_bytes[row] <= 0) continue;
    if (!kinds.Has(entries.kind[row]) && !artifacts.Has(entries.name[row])) continue;
    auto found = span_of.find({entries.input[row], entries.rank[row], entries.life[row],
                               WithoutAttempt(model.pools.Text(entries.compile_id[row]))});
    if (found != span_of.end()) graphs[found->second].push_back(row);
  }
  return graphs;
}

}  // namespace debrief::analyses::compile_rank_compare

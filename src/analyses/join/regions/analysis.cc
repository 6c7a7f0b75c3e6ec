// Which compilation do the compiled regions, graphs and kernels of a profile come from?
//
// A region has its compile id in its name. A graph is told by the cache key in its name and a
// kernel by the file of its generated code: the compile log of the rank has both. Where it has not
// (it was cut, or the graph came out of a cache that logs no key), what stands around the launches
// tells the id. Then the id is looked up among the compilations of the same rank.
//
// Cost: regions.h.
#include "analyses/analysis.h"

#include <utility>

#include "analyses/join/regions/regions.h"
#include "model/compile/frames.h"
#include "model/timeline/view.h"
#include "tables/compilation.h"
#include "tables/compile_entry.h"
#include "tables/compile_life.h"
#include "tables/region_join.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::join_regions {

namespace {

using timeline::TimelineView;

// Compilations by rank and compile id; a log of several lives has several.
class Compilations {
 public:
  explicit Compilations(const Model& model) : table_(model.tables.Get<CompilationTable>()) {
    for (size_t row = 0; row < table_.size(); ++row) {
      RankKey rank{table_.job[row], table_.attempt[row], table_.rank[row]};
      rows_[{rank, std::string(model.pools.Text(table_.compile_id[row]))}].push_back(row);
    }
    const auto& lives = model.tables.Get<CompileLifeTable>();
    for (size_t i = 0; i < lives.size(); ++i)
      logged_.emplace(lives.job[i], lives.attempt[i], lives.rank[i]);
  }

  bool HasLog(const RankKey& rank) const { return logged_.contains(rank); }

  // The last that began before `time_ns`; when none did, the first: clocks may differ. None: -1.
  int64_t Find(const RankKey& rank, std::string_view compile_id, int64_t time_ns) const {
    auto found = rows_.find({rank, std::string(compile_id)});
    if (found == rows_.end()) return -1;
    size_t best = found->second.front();
    for (size_t row : found->second) {
      if (table_.start_ns[row] <= time_ns) best = row;
    }
    return static_cast<int64_t>(best);
  }

  const CompilationTable& table() const { return table_; }

 private:
  const CompilationTable& table_;
  std::map<std::pair<RankKey, std::string>, std::vector<size_t>> rows_;
  std::set<RankKey> logged_;
};

std::string_view NameInLog(const Region& region) {
  return region.kind == RegionKind::kKernel ? StemOf(region.name) : region.name;
}

class Joiner {
 public:
  Joiner(const Model& model, const CompiledNames& names, const Compilations& compilations,
         Part& part)
      : model_(model), names_(names), compilations_(compilations), part_(part) {}

  void Add(const Identity& who, const Region& region) {
    auto row = Part::RowOf<RegionJoinRow>(who);
    row.kind = part_.pools.Intern(WordOf(region.kind));
    row.region = part_.pools.Intern(region.name);
    row.calls = region.calls;
    row.host_ns = region.host_ns;
    row.kernels = region.kernels;
    row.device_ns = region.device_ns;
    auto [id, how] = CompileIdOf(who, region);
    if (!id.empty()) {
      row.compile_id = part_.pools.Intern(id);
      row.how = part_.pools.Intern(how);
    }
    std::string_view reason = FindCompilation(who, region, id, row);
    if (!reason.empty()) row.reason = part_.pools.Intern(reason);
    part_.tables.Edit<RegionJoinTable>().Add(row);
  }

 private:
  std::pair<std::string_view, std::string_view> CompileIdOf(const Identity& who,
                                                            const Region& region) const {
    if (region.kind == RegionKind::kRegion) return {WithoutAttempt(region.name), "name"};
    std::string_view id = names_.CompileIdOf(KeyOf(who), NameInLog(region));
    if (!id.empty()) return {id, region.kind == RegionKind::kGraph ? "key" : "file"};
    if (region.launched_by == StringId::kNone || region.launched_by_several) return {};
    return {WithoutAttempt(model_.pools.Text(region.launched_by)), "nesting"};
  }

  // Why there is none; empty when it was found.
  std::string_view FindCompilation(const Identity& who, const Region& region, std::string_view id,
                                   RegionJoinRow& row) const {
    if (!compilations_.HasLog(KeyOf(who))) return "no compile log of this rank";
    if (id.empty()) {
      if (region.kind == RegionKind::kRegion) return "its name has no compile id";
      return region.launched_by_several ? "the compile log does not name it, and several "
                                          "compilations launched it"
                                        : "the compile log does not name it";
    }
    int64_t found = compilations_.Find(KeyOf(who), id, region.first_ns);
    if (found < 0) return "the compile log has no such compilation";
    const CompilationTable& table = compilations_.table();
    row.compile_input = table.input[static_cast<size_t>(found)];
    row.entry = table.first_entry[static_cast<size_t>(found)];
    return {};
  }

  const Model& model_;
  const CompiledNames& names_;
  const Compilations& compilations_;
  Part& part_;
};

Status Run(const Model& model, AnalysisResult& result) {
  CompiledNames names;
  std::vector<std::pair<Identity, std::vector<Region>>> all;
  for (const TimelineView& view : timeline::Timelines(model)) {
    all.emplace_back(view.who, RegionsOf(view));
    for (const Region& region : all.back().second) {
      if (region.kind != RegionKind::kRegion) names.Want(KeyOf(view.who), NameInLog(region));
    }
  }
  names.Find(model);
  Compilations compilations(model);
  Joiner joiner(model, names, compilations, result.part);
  for (const auto& [who, regions] : all) {
    for (const Region& region : regions) joiner.Add(who, region);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "join_regions",
               .sentence = "Which compilation do the compiled regions of a profile come from?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineSliceTable>,
               .makes = kTableNames<RegionJoinTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, CompileEntryTable,
                                   CompileLifeTable, CompilationTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::join_regions

// Which Triton kernels were compiled, from which line, with what resources, and how often do they
// run? Kernels of tritonparse are joined by name and hash with their launches, and by name with the
// kernels of compile logs and profiles, which have no hashes.
//
// No findings of its own: it says of a kernel that others name where it comes from.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "base/text/strings.h"
#include "tables/compile_kernel.h"
#include "tables/profile_kernel.h"
#include "tables/triton_kernel.h"
#include "tables/triton_launch.h"
#include "tables/triton_use.h"

namespace debrief::analyses::compile_triton {

namespace {

using RankKey = std::tuple<int32_t, int32_t, int32_t>;      // job, attempt, rank
using KernelKey = std::tuple<RankKey, StringId, StringId>;  // name, hash
using NameKey = std::pair<RankKey, StringId>;

template <typename Table>
RankKey RankOf(const Table& table, size_t row) {
  return {table.job[row], table.attempt[row], table.rank[row]};
}

struct Profiled {
  int64_t count = 0;
  int64_t time_ns = 0;
};

class Join {
 public:
  Join(const Model& model, Part& part)
      : model_(model), part_(part), texts_(model.pools, part.pools) {}

  void Run() {
    CountLaunches();
    FindInLogs();
    FindInProfiles();
    AddKernels();
    for (const auto& [key, row] : rows_) part_.tables.Edit<TritonUseTable>().Add(row);
  }

 private:
  void CountLaunches() {
    const auto& launches = model_.tables.Get<TritonLaunchTable>();
    for (size_t i = 0; i < launches.size(); ++i) {
      launches_[{RankOf(launches, i), launches.kernel[i], launches.hash[i]}] +=
          launches.launches[i];
      ranks_with_launches_.insert(RankOf(launches, i));
    }
  }

  void FindInLogs() {
    const auto& kernels = model_.tables.Get<CompileKernelTable>();
    for (size_t i = 0; i < kernels.size(); ++i)
      logged_.insert({RankOf(kernels, i), kernels.kernel[i]});
  }

  void FindInProfiles() {
    const auto& kernels = model_.tables.Get<ProfileKernelTable>();
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (model_.pools.Text(kernels.definition[i]) != "debrief" || kernels.count[i] == kNone64)
        continue;
      Profiled& profiled = profiled_[{RankOf(kernels, i), kernels.name[i]}];
      profiled.count += kernels.count[i];
      profiled.time_ns += kernels.total_ns[i];
    }
  }

  // The first compilation describes the kernel: what differs has another hash.
  void AddKernels() {
    const auto& kernels = model_.tables.Get<TritonKernelTable>();
    for (size_t i = 0; i < kernels.size(); ++i) {
      const KernelKey key(RankOf(kernels, i), kernels.kernel[i], kernels.hash[i]);
      auto [known, is_new] = rows_.try_emplace(key);
      TritonUseRow& row = known->second;
      if (is_new) Describe(kernels, i, row);
      ++row.compilations;
      row.cache_hits += kernels.cache_hit[i];
      const bool told = kernels.seconds[i] >= 0;  // false for none, which is NaN
      if (told) row.seconds = (row.seconds >= 0 ? row.seconds : 0) + kernels.seconds[i];
    }
  }

  void Describe(const TritonKernelTable& kernels, size_t i, TritonUseRow& row) {
    const RankKey rank = RankOf(kernels, i);
    std::tie(row.job, row.attempt, row.rank) = rank;
    row.kernel = texts_(kernels.kernel[i]);
    row.hash = texts_(kernels.hash[i]);
    row.compile_id = texts_(kernels.compile_id[i]);
    row.target = texts_(kernels.target[i]);
    row.num_warps = kernels.num_warps[i];
    row.num_stages = kernels.num_stages[i];
    row.shared = kernels.shared[i];
    row.compilations = row.cache_hits = 0;
    row.place = texts_(PlaceOf(kernels, i));
    row.launches = LaunchesOf(kernels, i);
    row.in_compile_log = logged_.contains({rank, kernels.kernel[i]}) ? 1 : 0;
    const auto profiled = profiled_.find({rank, kernels.kernel[i]});
    if (profiled == profiled_.end()) return;
    row.profiled = profiled->second.count;
    row.profiled_ns = profiled->second.time_ns;
  }

  std::string PlaceOf(const TritonKernelTable& kernels, size_t i) const {
    const std::string_view file = FileName(model_.pools.Text(kernels.file[i]));
    if (file.empty()) return {};
    const int32_t line = kernels.source_line[i];
    return line == kNone32 ? std::string(file) : fmt::format("{}:{}", file, line);
  }

  // A launch may not tell the hash; then all of the name are meant.
  int64_t LaunchesOf(const TritonKernelTable& kernels, size_t i) const {
    const RankKey rank = RankOf(kernels, i);
    if (!ranks_with_launches_.contains(rank)) return kNone64;
    int64_t count = 0;
    for (const StringId hash : {kernels.hash[i], StringId::kNone}) {
      const auto found = launches_.find({rank, kernels.kernel[i], hash});
      if (found != launches_.end()) count += found->second;
      if (kernels.hash[i] == StringId::kNone) break;
    }
    return count;
  }

  const Model& model_;
  Part& part_;
  ResultTexts texts_;
  std::map<KernelKey, int64_t> launches_;
  std::set<RankKey> ranks_with_launches_;
  std::set<NameKey> logged_;
  std::map<NameKey, Profiled> profiled_;
  std::map<KernelKey, TritonUseRow> rows_;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_triton",
               .sentence = "Which Triton kernels were compiled, with what resources, and how often "
                           "do they run?",
               .example = "a table with a row for each kernel; no findings of its own",
               .needs = kTableNames<TritonKernelTable>,
               .makes = kTableNames<TritonUseTable>,
               .uses = kTableNames<TritonLaunchTable, CompileKernelTable, ProfileKernelTable>},
      .run = RunPass<Join>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_triton

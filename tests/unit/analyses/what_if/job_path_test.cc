// The critical path across ranks, on jobs whose path is known.
//
// The generator is a small simulation in which every moment notes what it waited for last: hosts
// that load data and launch, kernels on one stream, collectives on another that wait for the
// kernels before them and for all ranks, kernels that wait for collectives, hosts that wait for
// their devices. The analysis sees only the times.
#include "tables/job_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "analyses/analysis.h"
#include "tables/job_path_cause.h"
#include "tables/job_path_step.h"
#include "tables/timeline_collective.h"
#include "unit/analyses/profile/fixture.h"

namespace debrief::analyses::what_if {
namespace job_path_test {

constexpr int64_t kPathUs = 1000;
constexpr int64_t kPathStart = 1'760'000'000'000'000'000;
constexpr int64_t kPathLatencyNs = 7 * kPathUs;

// Something that took from `ready` to `time`, because of what `before` was.
struct Known {
  int32_t rank = 0;
  std::string cause;
  int64_t ready = 0, time = 0;
  int before = -1;
};

struct PathRank {
  explicit PathRank(int32_t rank)
      : number(rank), fixture(Identity{.input = rank, .job = 0, .attempt = 0, .rank = rank}) {
    thread = fixture.AddThread();
    compute = fixture.AddStream(7);
    network = fixture.AddStream(20);
  }
  int32_t number;
  TimelineFixture fixture;
  int32_t thread = 0, compute = 0, network = 0;
  int64_t correlation = 0;
  int host = -1;        // the last moment of the host
  int on_compute = -1;  // the last work there
  int on_network = -1;
  bool waits_for_network = false;  // the next kernel does
};

class PathSimulation {
 public:
  explicit PathSimulation(unsigned seed) : random_(seed) {
    const int32_t ranks = Pick(2, 6), steps = Pick(2, 5);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<PathRank>(rank));
      members_.push_back(rank);
      known_.push_back({rank, "", kPathStart, kPathStart, -1});
      ranks_.back()->host = static_cast<int>(known_.size()) - 1;
    }
    slow_rank_ = Pick(0, ranks - 1);
    for (int step = 0; step < steps; ++step) RunStep(step);
  }

  Model Analyse() {
    Model model;
    for (auto& rank : ranks_)
      rank->fixture.BuildInto(model, {.producer = "kineto", .base_ns = kNone64});
    LinkByCorrelation(model);
    for (std::string_view name : {"timeline_collectives", "timeline_clock", "what_if"}) {
      const auto all = AllAnalyses();
      const auto found =
          std::ranges::find_if(all, [&](const Analysis* each) { return each->info.name == name; });
      RunAnalysis(**found, model);
    }
    return model;
  }

  // The path, first segment first; those of one rank and cause together.
  std::vector<Known> Path() const {
    std::vector<Known> path;
    int at = 0;
    for (size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].time > Of(at).time) at = static_cast<int>(i);
    }
    for (; at >= 0; at = Of(at).before) {
      if (Of(at).ready < Of(at).time) path.push_back(Of(at));
    }
    std::ranges::reverse(path);
    return path;
  }

 private:
  int32_t Pick(int32_t from, int32_t to) {
    return std::uniform_int_distribution<int32_t>(from, to)(random_);
  }
  const Known& Of(int at) const { return known_[static_cast<size_t>(at)]; }
  int64_t TimeOf(int at) const { return at < 0 ? kPathStart : Of(at).time; }

  // The later of both.
  int Later(int a, int b) const { return TimeOf(b) >= TimeOf(a) && b >= 0 ? b : a; }

  int Add(const PathRank& rank, std::string cause, int before, int64_t own) {
    known_.push_back({rank.number, std::move(cause), TimeOf(before), TimeOf(before) + own, before});
    return static_cast<int>(known_.size()) - 1;
  }

  void Slice(PathRank& rank, int32_t track, std::string_view name, std::string_view kind,
             int64_t begin, int64_t end, bool is_linked) {
    last_slice_ = rank.fixture.AddSlice(
        track, {name, kind, begin, end - begin, is_linked ? rank.correlation : kNone64});
  }

  // Returns the begin of the call.
  int Call(PathRank& rank, std::string_view name, std::string_view cause, bool is_linked,
           int awaited = -1) {
    const int begin = rank.host;
    rank.host = Add(rank, std::string(cause), Later(begin, awaited), Pick(2, 9) * kPathUs);
    Slice(rank, rank.thread, name, timeline::kRuntime, TimeOf(begin), TimeOf(rank.host), is_linked);
    return begin;
  }

  void Host(PathRank& rank, int64_t own) { rank.host = Add(rank, "host", rank.host, own); }

  void Load(PathRank& rank) {
    const int64_t begin = TimeOf(rank.host);
    rank.host = Add(rank, "data", rank.host, Pick(100, 3000) * kPathUs);
    Slice(rank, rank.thread, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
          timeline::kAnnotation, begin, TimeOf(rank.host), false);
  }

  void Kernel(PathRank& rank) {
    Host(rank, Pick(1, 150) * kPathUs);
    if (rank.waits_for_network) Call(rank, "cudaStreamWaitEvent", "launch", false);
    if (rank.waits_for_network) Host(rank, Pick(1, 9) * kPathUs);
    ++rank.correlation;
    int before = Later(Call(rank, "cudaLaunchKernel", "launch", true), rank.on_compute);
    if (rank.waits_for_network) before = Later(before, rank.on_network);
    rank.waits_for_network = false;
    const int begin = Add(rank, "launch", before, kPathLatencyNs);
    rank.on_compute = Add(rank, "kernel", begin, Pick(20, 600) * kPathUs);
    Slice(rank, rank.compute, "gemm", timeline::kKernel, TimeOf(begin), TimeOf(rank.on_compute),
          true);
  }

  // All ranks: the stream of collectives waits for the kernels before.
  void Collective() {
    std::vector<int> begins;
    int last = -1;
    for (auto& rank : ranks_) {
      Host(*rank, Pick(1, 40) * kPathUs);
      Call(*rank, "cudaStreamWaitEvent", "launch", false);
      Host(*rank, Pick(1, 9) * kPathUs);
      ++rank->correlation;
      int before = Later(Call(*rank, "cudaLaunchKernelExC", "launch", true), rank->on_compute);
      before = Later(before, rank->on_network);
      begins.push_back(Add(*rank, "launch", before, kPathLatencyNs + Pick(0, 2000)));
      last = Later(last, begins.back());
    }
    const int64_t moves = Pick(100, 900) * kPathUs;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      PathRank& rank = *ranks_[i];
      rank.on_network = Add(rank, "communication", last, moves);
      Slice(rank, rank.network, "ncclDevKernel_AllReduce_Sum_bf16", timeline::kKernel,
            TimeOf(begins[i]), TimeOf(rank.on_network), true);
      auto row = rank.fixture.writer().NewRow<TimelineCollectiveRow>();
      row.slice = last_slice_;
      row.op = rank.fixture.writer().Intern("allreduce");
      row.group_name = rank.fixture.writer().Intern("0");
      row.members = rank.fixture.part().pools.lists.Intern(members_);
      row.group_size = static_cast<int32_t>(ranks_.size());
      row.dtype = rank.fixture.writer().Intern("BFloat16");
      row.in_elements = row.out_elements = 1 << 20;
      rank.fixture.part().tables.Edit<TimelineCollectiveTable>().Add(row);
    }
  }

  void RunStep(int step) {
    std::vector<int64_t> begins;
    for (auto& rank : ranks_) {
      begins.push_back(TimeOf(rank->host));
      if (Pick(0, 1) == 1) Load(*rank);
      if (rank->number == slow_rank_) Host(*rank, Pick(1, 8000) * kPathUs);
    }
    for (int64_t collective = Pick(1, 3); collective > 0; --collective) {
      for (auto& rank : ranks_) {
        for (int64_t kernel = Pick(1, 6); kernel > 0; --kernel) Kernel(*rank);
      }
      Collective();
      for (auto& rank : ranks_) rank->waits_for_network = Pick(0, 1) == 1;
    }
    for (size_t i = 0; i < ranks_.size(); ++i) EndStep(*ranks_[i], step, begins[i]);
  }

  void EndStep(PathRank& rank, int step, int64_t begin) {
    Host(rank, 3 * kPathUs);
    Call(rank, "cudaDeviceSynchronize", "host", false, Later(rank.on_compute, rank.on_network));
    auto row = rank.fixture.writer().NewRow<TimelineStepRow>();
    row.step = step;
    row.label = step;
    row.start_ns = begin;
    row.end_ns = TimeOf(rank.host);
    row.whole = 1;
    rank.fixture.part().tables.Edit<TimelineStepTable>().Add(row);
  }

  std::mt19937 random_;
  std::vector<std::unique_ptr<PathRank>> ranks_;
  std::vector<int64_t> members_;
  std::vector<Known> known_;
  int32_t slow_rank_ = kNone32;
  int32_t last_slice_ = kNone32;
};

// Segments of one rank and cause that follow each other are one.
std::vector<std::string> Merged(const std::vector<Known>& path) {
  std::vector<std::string> merged;
  for (size_t i = 0, end = 0; i < path.size(); i = end) {
    for (end = i + 1;
         end < path.size() && path[end].rank == path[i].rank && path[end].cause == path[i].cause;)
      ++end;
    merged.push_back(fmt::format("{} of rank {}: {} to {}", path[i].cause, path[i].rank,
                                 path[i].ready - kPathStart, path[end - 1].time - kPathStart));
  }
  return merged;
}

std::vector<Known> Found(const Model& model) {
  const auto& table = model.tables.Get<JobPathTable>();
  std::vector<Known> path;
  for (size_t row = 0; row < table.size(); ++row)
    path.push_back({table.rank[row], std::string(model.pools.Text(table.cause[row])),
                    table.start_ns[row], table.end_ns[row], -1});
  return path;
}

TEST(JobPath, EverySegmentIsRight) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    PathSimulation simulation(seed);
    const Model model = simulation.Analyse();
    ASSERT_EQ(Merged(Found(model)), Merged(simulation.Path()));
  }
}

TEST(JobPath, SegmentsOfAStepAddUpToIt) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Model model = PathSimulation(seed).Analyse();
    const auto& path = model.tables.Get<JobPathTable>();
    const auto& steps = model.tables.Get<JobPathStepTable>();
    const auto& causes = model.tables.Get<JobPathCauseTable>();
    ASSERT_GT(steps.size(), 0u);
    for (size_t step = 0; step < steps.size(); ++step) {
      int64_t of_path = 0, of_causes = 0;
      for (size_t row = 0; row < path.size(); ++row)
        of_path += path.step[row] == steps.step[step] ? path.duration_ns[row] : 0;
      for (size_t row = 0; row < causes.size(); ++row)
        of_causes += causes.step[row] == steps.step[step] ? causes.duration_ns[row] : 0;
      EXPECT_EQ(of_path, steps.total_ns[step]);
      EXPECT_EQ(of_causes, steps.total_ns[step]);
    }
    for (size_t row = 1; row < path.size(); ++row)
      EXPECT_EQ(path.at_ns[row - 1] + path.duration_ns[row - 1], path.at_ns[row]);
  }
}

// Others wait for a rank only where it is on the path, and never while data moves.
TEST(JobPath, WaitingNamesTheRankThatIsLast) {
  const Model model = PathSimulation(3).Analyse();
  const auto& path = model.tables.Get<JobPathTable>();
  const auto& causes = model.tables.Get<JobPathCauseTable>();
  int64_t waited = 0, of_causes = 0;
  for (size_t row = 0; row < path.size(); ++row) {
    if (path.waiting[row] <= 0) continue;
    EXPECT_NE(model.pools.Text(path.cause[row]), "communication");
    waited += path.duration_ns[row];
  }
  for (size_t row = 0; row < causes.size(); ++row) {
    if (model.pools.Text(causes.scope[row]) != "job") continue;
    const bool is_wait = model.pools.Text(causes.cause[row]) == "wait";
    EXPECT_EQ(is_wait, causes.wait_rank[row] != kNone32);
    of_causes += is_wait ? causes.duration_ns[row] : 0;
  }
  EXPECT_GT(waited, 0);
  EXPECT_EQ(waited, of_causes);
}

}  // namespace job_path_test
}  // namespace debrief::analyses::what_if

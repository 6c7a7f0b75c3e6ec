// Clock offsets, arrivals, traffic, groups that ranks disagree on, and where stacks part.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/flight/arrivals/arrivals.h"
#include "analyses/flight/matching/signature.h"
#include "tables/comm_arrival.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_traffic.h"
#include "torch/dtype.h"

namespace debrief {
namespace flight_healthy_test {

using analyses::flight::Arrivals;
using analyses::flight::FindArrivals;
using analyses::flight::Index;
using analyses::flight::TensorBytes;

constexpr int64_t kStart = 1'760'000'000'000'000'000;
constexpr int64_t kMs = 1'000'000;

class Job {
 public:
  Model model;

  explicit Job(int32_t ranks) {
    for (int32_t rank = 0; rank < ranks; ++rank) {
      CommDumpRow row;
      row.job = row.attempt = 0;
      row.rank = row.input = rank;
      row.first_record = 0;
      row.whole = 1;
      model.tables.Edit<CommDumpTable>().Add(row);
    }
  }

  // Rows must be added rank by rank, as an importer does.
  CommOpRow Op(int32_t rank, std::string_view group, const std::vector<int64_t>& members,
               int32_t seq, int64_t created, int64_t completed) {
    CommOpRow row;
    row.job = row.attempt = 0;
    row.rank = row.input = rank;
    row.record = record_++;
    row.group_name = model.pools.Intern(group);
    row.group_desc = model.pools.Intern("mesh_dp");
    row.members = model.pools.lists.Intern(members);
    row.op = model.pools.Intern("all_reduce");
    row.collective_seq = seq;
    row.is_p2p = 0;
    row.input_sizes = row.output_sizes = model.pools.Intern("[[4, 4]]");
    row.input_dtypes = row.output_dtypes = model.pools.Intern("BFloat16");
    row.state = model.pools.Intern("completed");
    row.created_ns = created;
    row.completed_ns = completed;
    return row;
  }
  void Add(const CommOpRow& row) { model.tables.Edit<CommOpTable>().Add(row); }

  void Declare(int32_t rank, std::string_view name, std::string_view description,
               const std::vector<int64_t>& members) {
    CommGroupRow row;
    row.job = row.attempt = 0;
    row.rank = row.input = rank;
    row.name = model.pools.Intern(name);
    if (!description.empty()) row.description = model.pools.Intern(description);
    row.members = model.pools.lists.Intern(members);
    model.tables.Edit<CommGroupTable>().Add(row);
  }

  AnalysisResult Run() const {
    AnalysisResult result;
    for (const Analysis* analysis : AllAnalyses()) {
      if (analysis->info.name != "flight") continue;
      EXPECT_TRUE(analysis->run(model, result).ok());
    }
    return result;
  }

 private:
  int32_t record_ = 0;
};

const Finding* Find(const AnalysisResult& result, std::string_view rule) {
  for (const Finding& finding : result.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

bool HasEvidence(const Finding& finding, std::string_view text) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const Evidence& evidence) { return evidence.text == text; });
}

// `count` collectives, one a second; clocks and lateness per rank, in ms.
void AddCollectives(Job& job, std::string_view group, const std::vector<int64_t>& members,
                    int32_t rank, int32_t count, int64_t clock_ms, int64_t late_ms,
                    int64_t jitter_ms = 0) {
  for (int32_t seq = 1; seq <= count; ++seq) {
    int64_t clock = kStart + (seq * 1000 + clock_ms) * kMs;
    int64_t jitter = (seq * 37 + rank * 53) % 100 * jitter_ms * kMs / 100;
    job.Add(job.Op(rank, group, members, seq, clock + late_ms * kMs, clock + 500 * kMs + jitter));
  }
}

TEST(FlightClocks, AnOffsetIsFoundAndTakenOff) {
  Job job(4);
  // Rank 2 is the straggler (40 ms); rank 1's clock is 3 s ahead, so that it seems to be.
  int64_t clocks[] = {0, 3000, 0, 0}, late[] = {0, 1, 40, 2};
  for (int32_t rank = 0; rank < 4; ++rank)
    AddCollectives(job, "0", {0, 1, 2, 3}, rank, 20, clocks[rank], late[rank], 80);
  Index index(job.model, 0, 0);
  Arrivals arrivals = FindArrivals(index);
  EXPECT_NEAR(static_cast<double>(arrivals.clocks[1].offset_ns), 3e9, 1e8);
  EXPECT_NE(arrivals.clocks[1].correction_ns(), 0);
  EXPECT_LE(arrivals.clocks[1].spread_ns, 100 * kMs);
  for (size_t rank : std::vector<size_t>{0, 2, 3})
    EXPECT_EQ(arrivals.clocks[rank].correction_ns(), 0) << rank;
}

TEST(FlightClocks, TheStragglerIsNotTheOneWithTheWrongClock) {
  Job job(4);
  int64_t clocks[] = {0, 3000, 0, 0}, late[] = {0, 1, 80, 2};
  for (int32_t rank = 0; rank < 4; ++rank)
    AddCollectives(job, "0", {0, 1, 2, 3}, rank, 20, clocks[rank], late[rank]);
  // A few collectives to which another rank comes last: there must be somebody to compare with.
  for (size_t i = 0; i < job.model.tables.Get<CommOpTable>().size(); ++i) {
    auto& ops = job.model.tables.Edit<CommOpTable>();
    if (ops.rank[i] == 3 && ops.collective_seq[i] > 16) ops.created_ns[i] += 85 * kMs;
  }
  AnalysisResult result = job.Run();
  const Finding* straggler = Find(result, "flight.straggler");
  ASSERT_NE(straggler, nullptr);
  EXPECT_EQ(straggler->ranks, std::vector<int32_t>{2});
  EXPECT_NE(straggler->why.find("are corrected"), std::string::npos) << straggler->why;
  const auto& rows = result.part.tables.Get<CommArrivalTable>();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows.clock_offset_ns[1], 3000 * kMs);
  EXPECT_EQ(rows.times_last[0], 0);
  EXPECT_EQ(rows.late_longest_ns[0], kNone64);
  EXPECT_EQ(rows.times_last[2], 16);
  EXPECT_EQ(rows.late_third_ns[2], 78 * kMs);
  EXPECT_EQ(rows.late_total_ns[2], 16 * 78 * kMs);
  EXPECT_EQ(rows.times_last[3], 4);
  EXPECT_EQ(rows.late_third_ns[3], 7 * kMs);
}

TEST(FlightClocks, GroupsAreJoinedThroughSharedRanks) {
  Job job(4);
  // 0-1-2-3 is a chain of pairs: 3's clock is only known through 2's.
  int64_t clocks[] = {0, 1000, 0, 5000};
  for (int32_t rank = 0; rank < 4; ++rank) {
    for (int32_t first = std::max(rank - 1, 0); first <= std::min(rank, 2); ++first) {
      AddCollectives(job, std::string(1, static_cast<char>('a' + first)), {first, first + 1}, rank,
                     10, clocks[rank], 0);
    }
  }
  Index index(job.model, 0, 0);
  Arrivals arrivals = FindArrivals(index);
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(arrivals.clocks[rank].offset_ns - arrivals.clocks[0].offset_ns, clocks[rank] * kMs);
  }
}

TEST(FlightClocks, TooFewOrTooVagueTellNothing) {
  Job few(2);
  for (int32_t rank = 0; rank < 2; ++rank)
    AddCollectives(few, "0", {0, 1}, rank, 7, rank * 5000, 0);
  Index index(few.model, 0, 0);
  Arrivals arrivals = FindArrivals(index);
  EXPECT_EQ(arrivals.clocks[0].offset_ns, kNone64);
  EXPECT_EQ(arrivals.clocks[1].correction_ns(), 0);

  Job near(2);  // 90 ms apart: the watchdog may do that
  for (int32_t rank = 0; rank < 2; ++rank)
    AddCollectives(near, "0", {0, 1}, rank, 50, rank * 90, 0);
  Index near_index(near.model, 0, 0);
  Arrivals near_arrivals = FindArrivals(near_index);
  EXPECT_EQ(near_arrivals.clocks[1].offset_ns, 45 * kMs);
  EXPECT_EQ(near_arrivals.clocks[1].correction_ns(), 0);
}

TEST(FlightClocks, ImpossibleTimesAreIgnored) {
  Job job(2);
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (int32_t rank = 0; rank < 2; ++rank) {
    for (int32_t seq = 1; seq <= 20; ++seq) {
      int64_t time = rank == 0 ? kHuge - seq : -kHuge + seq;
      job.Add(job.Op(rank, "0", {0, 1}, seq, time, time));
    }
  }
  AnalysisResult result = job.Run();
  EXPECT_EQ(result.part.tables.Get<CommArrivalTable>().times_last[0], 0);
  EXPECT_EQ(result.part.tables.Get<CommTrafficTable>().slowest_ns[0], kNone64);
}

TEST(FlightTraffic, CountsBytesAndTimes) {
  Job job(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    AddCollectives(job, "0", {0, 1}, rank, 3, 0, rank * 10);
    CommOpRow row = job.Op(rank, "0", {0, 1}, 4, kStart, kStart + 9000 * kMs);
    row.op = job.model.pools.Intern("all_to_all");
    row.input_sizes = job.model.pools.Intern(rank == 0 ? "[[10]]" : "[[30]]");
    row.output_dtypes = job.model.pools.Intern("Strange");
    row.duration_ns = 77;
    job.Add(row);
  }
  AnalysisResult result = job.Run();
  const auto& rows = result.part.tables.Get<CommTrafficTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.count[0], 3);
  EXPECT_EQ(rows.input_bytes[0], 3 * 16 * 2);
  EXPECT_EQ(rows.output_bytes[0], 3 * 16 * 2);
  EXPECT_EQ(rows.median_ns[0], 490 * kMs);  // of rank 1, which came last
  EXPECT_EQ(rows.median_spread_ns[0], 10 * kMs);
  EXPECT_EQ(result.part.pools.Text(rows.role[0]), "dp");
  EXPECT_EQ(rows.input_bytes[1], (10 + 30) * 2 / 2);
  EXPECT_EQ(rows.output_bytes[1], kNone64);
  EXPECT_EQ(rows.slowest_ns[1], 77);
  EXPECT_EQ(rows.slowest_seq[1], 4);
}

TEST(FlightTraffic, TensorBytes) {
  EXPECT_EQ(TensorBytes("[[4, 4], [8]]", "Float, Half"), 64 + 16);
  EXPECT_EQ(TensorBytes("[[4, 4], [8]]", "Float"), 96);
  EXPECT_EQ(TensorBytes("[[]]", "Double"), 8);
  EXPECT_EQ(TensorBytes("[[0, 5]]", "Double"), 0);
  EXPECT_EQ(TensorBytes("[]", ""), 0);
  EXPECT_EQ(TensorBytes("", "Float"), -1);
  EXPECT_EQ(TensorBytes("[[4", "Float"), -1);
  EXPECT_EQ(TensorBytes("[[4]", "Float"), -1);
  EXPECT_EQ(TensorBytes("[[x]]", "Float"), -1);
  EXPECT_EQ(TensorBytes("[[-4]]", "Float"), -1);
  EXPECT_EQ(TensorBytes("[[9223372036854775807, 9223372036854775807]]", "Float"), -1);
  EXPECT_EQ(TensorBytes("[[4]]", "Strange"), -1);
  EXPECT_EQ(WidthOf("Float8_e4m3fn"), 1);
}

TEST(FlightGroups, TheMinorityIsNamed) {
  Job job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    if (rank == 2) {
      job.Declare(rank, "5", "mesh_dp", {0, 2});
    } else {
      job.Declare(rank, "5", "mesh_dp", {0, 1, 2, 3});
    }
  }
  AnalysisResult result = job.Run();
  const Finding* finding = Find(result, "flight.group_disagreement");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->ranks, std::vector<int32_t>{2});
  EXPECT_EQ(finding->severity, Severity::kWarning);
  EXPECT_EQ(finding->evidence.size(), 2u);
  EXPECT_NE(finding->headline.find("group 5"), std::string::npos) << finding->headline;
}

TEST(FlightGroups, ADescriptionMayDifferToo) {
  Job job(3);
  job.Declare(0, "5", "dp", {0, 1, 2});
  job.Declare(1, "5", "tp", {0, 1, 2});
  job.Declare(2, "5", "dp", {0, 1, 2});
  AnalysisResult result = job.Run();
  ASSERT_NE(Find(result, "flight.group_disagreement"), nullptr);
  EXPECT_EQ(Find(result, "flight.group_disagreement")->ranks, std::vector<int32_t>{1});
}

TEST(FlightGroups, NobodyCanTellATie) {
  Job job(2);
  job.Declare(0, "5", "dp", {0, 1});
  job.Declare(1, "5", "dp", {1});
  AnalysisResult result = job.Run();
  ASSERT_NE(Find(result, "flight.group_disagreement"), nullptr);
  EXPECT_EQ(Find(result, "flight.group_disagreement")->ranks, (std::vector<int32_t>{0, 1}));
}

TEST(FlightGroups, DisjointGroupsOfOneNameAndUntoldDescriptionsAreFine) {
  Job job(4);
  for (int32_t rank = 0; rank < 4; ++rank) {
    job.Declare(rank, "7", "own", {rank});
    job.Declare(rank, "8", "tp",
                rank < 2 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{2, 3});
    job.Declare(rank, "9", rank == 1 ? "undefined" : rank == 2 ? "" : "world", {0, 1, 2, 3});
  }
  EXPECT_EQ(Find(job.Run(), "flight.group_disagreement"), nullptr);
}

TEST(FlightFindings, WhereStacksPartAndTheRole) {
  Job job(4);
  Pools& pools = job.model.pools;
  auto frame = [&](std::string_view function, int32_t line) {
    return pools.AddFrame({pools.Intern("/home/u/train.py"), pools.Intern(function), line});
  };
  auto stack = [&](int32_t line, std::string_view leaf) {
    std::vector<FrameId> frames = {frame(leaf, 9), frame("step", line), frame("main", 90)};
    return pools.AddStack(frames);
  };
  for (int32_t rank = 0; rank < 4; ++rank) {
    for (int32_t seq = 1; seq <= 4; ++seq) {
      CommOpRow row = job.Op(rank, "0", {0, 1, 2, 3}, seq, kStart + seq, kNone64);
      bool odd = rank == 3 && seq == 4;
      row.op = pools.Intern(odd ? "all_gather" : "all_reduce");
      row.state = pools.Intern(seq == 4 ? "scheduled" : "completed");
      row.stack = odd ? stack(55, "gather") : stack(53, "reduce");
      job.Add(row);
    }
  }
  AnalysisResult result = job.Run();
  ASSERT_FALSE(result.findings.empty());
  const Finding& finding = result.findings.front();
  EXPECT_EQ(finding.ranks, std::vector<int32_t>{3}) << finding.headline;
  EXPECT_TRUE(HasEvidence(finding,
                          "stacks diverge: rank 3 at train.py:55 step, peers at train.py:53 step"));
  EXPECT_TRUE(HasEvidence(finding, "mesh_dp [0-3] is a data-parallel group"));
}

}  // namespace flight_healthy_test
}  // namespace debrief

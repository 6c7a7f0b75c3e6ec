// The schedule with analyses made by hand, and the numbers of coverage and op_summary.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "analyses/schedule.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/op_summary.h"
#include "tables/rank.h"
#include "tables/recorded_op.h"
#include "tables/recording_note.h"

namespace debrief {
namespace analyses_test {

constexpr std::array<std::string_view, 1> kOps = {"recorded_op"};
constexpr std::array<std::string_view, 1> kNotes = {"recording_note"};
constexpr std::array<std::string_view, 1> kSummary = {"op_summary"};
constexpr std::array<std::string_view, 2> kTwo = {"recording_note", "no_such_table"};

void AddOp(Model& model, std::string_view name, int64_t duration_ns, int32_t rank = 0,
           std::string_view device = "", int64_t bytes = kNone64) {
  RecordedOpRow row;
  row.job = 0;
  row.attempt = 0;
  row.rank = rank;
  row.operation = model.pools.Intern(name);
  if (!device.empty()) row.device = model.pools.Intern(device);
  row.duration_ns = duration_ns;
  row.memory_bytes = bytes;
  model.tables.Edit<RecordedOpTable>().Add(row);
}

Status MakeNote(const Model&, AnalysisResult& result) {
  RecordingNoteRow row;
  row.key = result.part.pools.Intern("made");
  result.part.tables.Edit<RecordingNoteTable>().Add(row);
  return {};
}

// A finding per note it can see, the first of which explains the second.
Status CountNotes(const Model& model, AnalysisResult& result) {
  const auto& notes = model.tables.Get<RecordingNoteTable>();
  for (size_t i = 0; i < notes.size(); ++i) {
    Finding& finding = result.findings.emplace_back();
    finding.rule = "test.note";
    finding.role = i == 0 ? Role::kCause : Role::kConsequence;
    finding.headline = fmt::format("{} {}", model.pools.Text(notes.key[i]), i);
  }
  if (result.findings.size() > 1) result.findings[0].explains = {1};
  return {};
}

Status Fail(const Model&, AnalysisResult& result) {
  result.findings.emplace_back().rule = "test.partial";
  return Status(Code::kLimit, "too much");
}

Analysis Make(std::string_view name, std::span<const std::string_view> needs,
              std::span<const std::string_view> makes,
              Status (*run)(const Model&, AnalysisResult&)) {
  return {.info = {.name = name, .sentence = "", .example = "", .needs = needs, .makes = makes},
          .run = run};
}

std::string RunAll(std::vector<const Analysis*> analyses, Model& model, int threads = 2) {
  ThreadPool pool(threads);
  NoProgress progress;
  RunAnalyses(analyses, pool, progress, model);
  std::string outcomes;
  for (const AnalysisOutcome& outcome : model.analyses) {
    outcomes += fmt::format("{}{}: {} {}{}", outcomes.empty() ? "" : "; ", outcome.name,
                            StateName(outcome.state), outcome.findings,
                            outcome.reason.empty() ? "" : " (" + outcome.reason + ")");
  }
  return outcomes;
}

TEST(Schedule, WhoNeedsWaitsForWhoMakes) {
  // In order of name the reader comes first.
  Analysis reader = Make("a_reader", kNotes, {}, CountNotes);
  Analysis maker = Make("b_maker", kOps, kNotes, MakeNote);
  Analysis second = Make("c_maker", kOps, kNotes, MakeNote);
  for (int threads : {1, 4}) {
    Model model;
    AddOp(model, "x", 1);
    EXPECT_EQ(RunAll({&reader, &maker, &second}, model, threads),
              "a_reader: ran 2; b_maker: ran 0; c_maker: ran 0");
    ASSERT_EQ(model.findings.size(), 2u);
    EXPECT_EQ(model.findings[0].headline, "made 0");
    EXPECT_EQ(model.findings[0].explains, std::vector<size_t>{1});
  }
}

// Says of the first finding that it explains all others, and adds one.
void JudgeAll(const Model&, std::vector<Finding>& findings) {
  for (size_t i = 1; i < findings.size(); ++i) {
    findings[0].explains.push_back(i);
    findings[i].role = Role::kConsequence;
  }
  findings.emplace_back().rule = "test.judged";
}

TEST(Schedule, WhoJudgesComesLastAndSeesAll) {
  Analysis judge = Make("a_judge", {}, {}, nullptr);
  judge.judge = JudgeAll;
  Analysis maker = Make("b_maker", kOps, kNotes, MakeNote);
  Analysis reader = Make("c_reader", kNotes, {}, CountNotes);
  Model model;
  AddOp(model, "x", 1);
  EXPECT_EQ(RunAll({&judge, &maker, &reader}, model),
            "a_judge: ran 1; b_maker: ran 0; c_reader: ran 1");
  ASSERT_EQ(model.findings.size(), 2u);
  EXPECT_EQ(model.findings[1].rule, "test.judged");
}

TEST(Schedule, NotRunWithTheReason) {
  Analysis reader = Make("reader", kTwo, {}, CountNotes);
  Model model;
  EXPECT_EQ(RunAll({&reader}, model),
            "reader: not run 0 (no input gave rows of recording_note, no_such_table)");
}

TEST(Schedule, FailureIsToldAndTheRestGoesOn) {
  Analysis broken = Make("broken", {}, kNotes, Fail);
  Analysis reader = Make("reader", kNotes, {}, CountNotes);
  Analysis maker = Make("z_maker", {}, kNotes, MakeNote);
  Model model;
  std::string outcomes = RunAll({&broken, &reader, &maker}, model);
  EXPECT_TRUE(outcomes.starts_with("broken: failed 1 (")) << outcomes;
  EXPECT_NE(outcomes.find("too much"), std::string::npos) << outcomes;
  EXPECT_NE(outcomes.find("reader: ran 1; z_maker: ran 0"), std::string::npos) << outcomes;
  EXPECT_EQ(model.findings.size(), 2u);
}

TEST(Schedule, ChoosesWhoMakesWhatIsWantedAndWhatThatNeeds) {
  Analysis maker = Make("a_maker", kOps, kNotes, MakeNote);
  Analysis reader = Make("b_reader", kNotes, {}, CountNotes);
  Analysis summary = Make("c_summary", kNotes, kSummary, MakeNote);
  std::vector<const Analysis*> all = {&maker, &reader, &summary};
  EXPECT_EQ(AnalysesFor(kSummary, all), (std::vector<const Analysis*>{&maker, &summary}));
  EXPECT_EQ(AnalysesFor(kNotes, all), (std::vector<const Analysis*>{&maker}));
  EXPECT_TRUE(AnalysesFor(kOps, all).empty());
}

TEST(Schedule, ACircleIsFound) {
  Analysis a = Make("a", kNotes, kSummary, MakeNote);
  Analysis b = Make("b", kSummary, kNotes, MakeNote);
  Analysis behind = Make("behind", kSummary, {}, CountNotes);
  Analysis own = Make("own", kOps, kOps, MakeNote);  // adds to what it reads
  std::vector<const Analysis*> all = {&a, &b, &behind, &own};
  Schedule schedule = MakeSchedule(all);
  EXPECT_EQ(schedule.rounds, (std::vector<std::vector<const Analysis*>>{{&own}}));
  EXPECT_EQ(schedule.circle, (std::vector<const Analysis*>{&a, &b, &behind}));
}

TEST(Schedule, NoAnalysisIsInACircle) {
  Schedule schedule = MakeSchedule(AllAnalyses());
  for (const Analysis* analysis : schedule.circle) ADD_FAILURE() << analysis->info.name;
}

// What looks at one rank must not wait for what needs all of them.
TEST(Schedule, OneRankNeedsNothingOfTheWholeJob) {
  std::map<std::string_view, std::string_view> made_of_job;  // table -> analysis
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->info.scope == AnalysisScope::kRank) continue;
    for (std::string_view table : analysis->info.makes) made_of_job[table] = analysis->info.name;
  }
  size_t of_rank = 0;
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->info.scope != AnalysisScope::kRank) continue;
    ++of_rank;
    EXPECT_EQ(analysis->judge, nullptr) << analysis->info.name << " judges what all found";
    for (const auto& tables : {analysis->info.needs, analysis->info.uses}) {
      for (std::string_view table : tables) {
        EXPECT_FALSE(made_of_job.contains(table))
            << analysis->info.name << " reads " << table << " of " << made_of_job[table];
      }
    }
  }
  EXPECT_GT(of_rank, 10u);
}

// Reads the notes from inside a map, as analyses of many ranks do.
Status ReadNotesBesideOthers(const Model& model, AnalysisResult& result) {
  result.pool->MapInOrder<size_t>(
      8, [&](size_t) { return model.tables.Get<RecordingNoteTable>().size(); },
      [](size_t, size_t&&) {});
  return {};
}

TEST(Schedule, UndeclaredTablesAreCaught) {
#ifndef DEBRIEF_CHECK_TABLES
  GTEST_SKIP() << "this build does not check";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Model model;
  AddOp(model, "x", 1);
  Analysis honest = Make("honest", kOps, {}, ReadNotesBesideOthers);
  honest.info.uses = kNotes;
  EXPECT_EQ(RunAll({&honest}, model), "honest: ran 0");
  Analysis reader = Make("reader", kOps, {}, CountNotes);
  EXPECT_DEATH(RunAll({&reader}, model), "analysis reader .*reads table recording_note");
  Analysis maker = Make("maker", kOps, {}, MakeNote);
  EXPECT_DEATH(RunAll({&maker}, model), "analysis maker .*makes table recording_note");
  Analysis beside = Make("beside", kOps, {}, ReadNotesBesideOthers);
  EXPECT_DEATH(RunAll({&beside}, model, 4), "analysis beside .*reads table recording_note");
}

TEST(Schedule, FindingsOfSeveralAnalysesKeepTheirLinks) {
  Analysis a = Make("a", kNotes, {}, CountNotes);
  Analysis b = Make("b", kNotes, {}, CountNotes);
  Model model;
  for (int i = 0; i < 2; ++i) {
    RecordingNoteRow row;
    row.key = model.pools.Intern("n");
    model.tables.Edit<RecordingNoteTable>().Add(row);
  }
  RunAll({&a, &b}, model);
  ASSERT_EQ(model.findings.size(), 4u);
  for (const Finding& finding : model.findings) {
    for (size_t explained : finding.explains) {
      EXPECT_EQ(model.findings[explained].role, Role::kConsequence);
    }
  }
  EXPECT_NE(model.findings[0].explains, model.findings[1].explains);
}

const Analysis* Find(std::string_view name) {
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->info.name == name) return analysis;
  }
  return nullptr;
}

TEST(OpSummary, NumbersByHand) {
  Model model;
  AddOp(model, "matmul", 100'000, 0, "", 10 * 8);
  AddOp(model, "relu", 50'000, 0);
  AddOp(model, "matmul", 200'000, 0, "", 20 * 8);
  AddOp(model, "matmul", 50'000, 0, "gpu:1");
  AddOp(model, "matmul", kNone64, 0, "gpu:1");
  AddOp(model, "add", 1000, 1);
  EXPECT_EQ(RunAll({Find("op_summary")}, model), "op_summary: ran 2");
  const auto& rows = model.tables.Get<OpSummaryTable>();
  std::string all;
  for (size_t i = 0; i < rows.size(); ++i) {
    all += fmt::format("{} {} {} {} {} {} {:.3f}\n", rows.rank[i],
                       model.pools.Text(rows.operation[i]), model.pools.Text(rows.device[i]),
                       rows.count[i], rows.duration_ns[i], rows.memory_bytes[i], rows.share[i]);
  }
  EXPECT_EQ(all,
            "0 matmul  2 300000 240 0.750\n"
            "0 matmul gpu:1 2 50000 0 0.125\n"
            "0 relu  1 50000 0 0.125\n"
            "1 add  1 1000 0 1.000\n");
  ASSERT_EQ(model.findings.size(), 2u);
  for (const Finding& finding : model.findings) {
    size_t row = static_cast<size_t>(finding.evidence.at(0).rows.at(0));
    EXPECT_EQ(model.pools.Text(rows.operation[row]), finding.op);
    EXPECT_EQ(finding.ranks, std::vector<int32_t>{rows.rank[row]});
  }
  bool found = false;
  for (const Finding& finding : model.findings) {
    found |= finding.headline == "matmul takes 75 % of the recorded op time (300 us in 2 calls)";
  }
  EXPECT_TRUE(found) << model.findings[0].headline << model.findings[1].headline;
}

TEST(OpSummary, NoTimeNoFinding) {
  Model model;
  AddOp(model, "a", 0);
  AddOp(model, "b", kNone64);
  EXPECT_EQ(RunAll({Find("op_summary")}, model), "op_summary: ran 0");
}

TEST(OpSummary, SumsDoNotOverflow) {
  Model model;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 3; ++i) AddOp(model, "a", 9'000'000'000'000'000'000, 0, "", kMost);
  AddOp(model, "b", 9'000'000'000'000'000'000, 0, "", 1);
  RunAll({Find("op_summary")}, model);
  const auto& rows = model.tables.Get<OpSummaryTable>();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.duration_ns[0], kMost);
  EXPECT_EQ(rows.memory_bytes[0], kMost);
  for (double share : rows.share) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  }
}

// A job of `world_size` whose inputs are given as kind and rank.
void AddJob(Model& model, int32_t job, int32_t world_size,
            const std::vector<std::pair<std::string, int32_t>>& inputs) {
  model.tables.Edit<JobTable>().Add({job, model.pools.Intern(fmt::format("job{}", job)), world_size,
                                     1, static_cast<int32_t>(inputs.size())});
  std::set<int32_t> ranks;
  for (const auto& [kind, rank] : inputs) {
    InputRow row;
    row.job = job;
    row.attempt = 0;
    row.rank = rank;
    row.kind = model.pools.Intern(kind);
    model.tables.Edit<InputTable>().Add(row);
    if (rank != kNone32) ranks.insert(rank);
  }
  for (int32_t rank : ranks) {
    model.tables.Edit<RankTable>().Add({job, 0, rank, StringId::kNone, 1});
  }
}

TEST(Coverage, MissingDump) {
  Model model;
  AddJob(model, 0, 4, {{"fr", 0}, {"fr", 1}, {"fr", 3}, {"profile", 0}, {"notes", kNone32}});
  AddJob(model, 1, kNone32, {{"fr", 0}, {"fr", 1}, {"log", 0}, {"log", 1}, {"log", 2}});
  AddJob(model, 2, 2, {{"fr", 0}, {"fr", 1}, {"unknown", 0}});
  EXPECT_EQ(RunAll({Find("coverage")}, model), "coverage: ran 2");
  EXPECT_EQ(model.findings[0].headline, "Rank 2 left no fr; 3 of 4 ranks did");
  EXPECT_EQ(model.findings[0].ranks, std::vector<int32_t>{2});
  EXPECT_EQ(model.findings[0].evidence.at(1).rows, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(model.findings[1].headline, "Rank 2 left no fr; 2 of 3 ranks did");
  EXPECT_EQ(model.findings[1].job, 1);
}

TEST(Coverage, HalfIsAChoice) {
  Model model;
  AddJob(model, 0, 4, {{"profile", 0}, {"profile", 1}});
  EXPECT_EQ(RunAll({Find("coverage")}, model), "coverage: ran 0");
}

}  // namespace analyses_test
}  // namespace debrief

#include "model/model.h"

#include <gtest/gtest.h>

#include "base/text/escape.h"
#include "tables/analysis.h"
#include "tables/diagnostic.h"
#include "tables/finding.h"
#include "tables/input.h"
#include "tables/recorded_op.h"

namespace debrief {
namespace model_test {

constexpr DiagnosticKind kBad = {"test.bad", Severity::kError, "it is bad", "Mend it."};
constexpr DiagnosticKind kOdd = {"test.odd", Severity::kInfo, "it is odd", "Nothing is lost."};

Part PartWith(std::string_view operation, std::vector<int64_t> shape) {
  Part part;
  RecordedOpRow row;
  row.operation = part.pools.Intern(operation);
  row.output_shape = part.pools.lists.Intern(shape);
  part.tables.Edit<RecordedOpTable>().Add(row);
  return part;
}

TEST(Model, AppendTranslatesIds) {
  Part whole;
  whole.pools.Intern("something that shifts all ids");
  whole.pools.lists.Intern(std::vector<int64_t>{9, 9, 9});
  whole.Append(PartWith("a", {1}));
  whole.Append(PartWith("b", {1, 2}));
  whole.Append(PartWith("a", {}));
  whole.Append(Part());
  const auto& ops = whole.tables.Get<RecordedOpTable>();
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(whole.pools.Text(ops.operation[0]), "a");
  EXPECT_EQ(whole.pools.Text(ops.operation[1]), "b");
  EXPECT_EQ(ops.operation[0], ops.operation[2]) << "the same text has the same id";
  EXPECT_EQ(whole.pools.lists.Get(ops.output_shape[1]).size(), 2u);
  EXPECT_EQ(whole.pools.lists.Get(ops.output_shape[0])[0], 1);
  for (StringId device : ops.device) EXPECT_EQ(device, StringId::kNone) << "none stays none";
}

TEST(Model, StacksAreTranslated) {
  Pools theirs;
  FrameId frame =
      theirs.AddFrame({theirs.Intern("f.py"), theirs.Intern("main"), 7, theirs.Intern("main()")});
  FrameId other = theirs.AddFrame({theirs.Intern("g.py"), StringId::kNone, 8, {}});
  StackId stack = theirs.AddStack(std::vector<FrameId>{frame, other, frame});
  Pools ours;
  ours.Intern("x");
  ours.AddFrame({ours.Intern("y"), ours.Intern("z"), 1, {}});
  Remap remap = ours.Absorb(theirs);
  auto frames = ours.GetStack(remap(stack));
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0], frames[2]);
  EXPECT_EQ(ours.Text(ours.GetFrame(frames[0]).file), "f.py");
  EXPECT_EQ(ours.Text(ours.GetFrame(frames[0]).function), "main");
  EXPECT_EQ(ours.GetFrame(frames[1]).function, StringId::kNone);
  EXPECT_EQ(ours.GetFrame(frames[1]).line, 8);
  EXPECT_EQ(remap(StackId::kNone), StackId::kNone);
  EXPECT_EQ(ours.GetFrame(FrameId::kNone).line, 0);
}

TEST(Model, TablesNobodyWroteTo) {
  TableSet tables;
  EXPECT_EQ(tables.Find(RecordedOpTable::kId), nullptr);
  EXPECT_EQ(tables.Get<RecordedOpTable>().size(), 0u);
}

TEST(Diagnostics, CountsAllAndKeepsTheFirst) {
  Diagnostics diagnostics;
  for (int i = 0; i < 100; ++i) diagnostics.Add(kBad, 0, {.offset = i});
  diagnostics.Add(kOdd, 0);
  diagnostics.Add(kBad, 0, {.offset = 100});
  diagnostics.AddMany(kOdd, 0, 7);
  diagnostics.Add(kBad, 1);
  ASSERT_EQ(diagnostics.all().size(), 3u);
  EXPECT_EQ(diagnostics.all()[0].count, 101);
  ASSERT_EQ(diagnostics.all()[0].first.size(), Diagnostics::kKept);
  EXPECT_EQ(diagnostics.all()[0].first[4].offset, 4);
  EXPECT_EQ(diagnostics.all()[1].count, 8);
  EXPECT_EQ(diagnostics.all()[2].input, 1);
}

TEST(Diagnostics, AppendIsTheSameAsAddingInOrder) {
  Diagnostics all, first, second;
  for (int i = 0; i < 8; ++i) {
    all.Add(i % 3 ? kBad : kOdd, 2, {.line = i});
    (i < 4 ? first : second).Add(i % 3 ? kBad : kOdd, 2, {.line = i});
  }
  Diagnostics joined;
  joined.Append(first);
  joined.Append(second);
  ASSERT_EQ(joined.all().size(), all.all().size());
  for (size_t i = 0; i < all.all().size(); ++i) {
    EXPECT_EQ(joined.all()[i].kind, all.all()[i].kind);
    EXPECT_EQ(joined.all()[i].count, all.all()[i].count);
    ASSERT_EQ(joined.all()[i].first.size(), all.all()[i].first.size());
    for (size_t k = 0; k < all.all()[i].first.size(); ++k) {
      EXPECT_EQ(joined.all()[i].first[k].line, all.all()[i].first[k].line);
    }
  }
}

Finding Make(std::string rule, Role role, Severity severity, std::vector<size_t> explains = {}) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.role = role;
  finding.severity = severity;
  finding.explains = std::move(explains);
  return finding;
}

std::string Order(const std::vector<Finding>& findings) {
  std::string order;
  for (const Finding& finding : findings) order += (order.empty() ? "" : " ") + finding.rule;
  return order;
}

TEST(BoundTexts, CutsTheMiddleAtWholeCharacters) {
  Finding finding;
  finding.headline = "Rank 5 runs ";
  for (int i = 0; i < 100'000; ++i) finding.headline += "\u00e9";
  finding.headline += " at a.py:7";
  finding.why = "short";
  BoundTexts(finding);
  EXPECT_LT(finding.headline.size(), 2100u);
  EXPECT_TRUE(finding.headline.starts_with("Rank 5 runs \u00e9"));
  EXPECT_TRUE(finding.headline.ends_with("\u00e9 at a.py:7"));
  EXPECT_EQ(ValidUtf8(finding.headline), finding.headline);
  EXPECT_EQ(finding.why, "short");
}

TEST(OrderFindings, CausesThenConsequencesThenObservations) {
  std::vector<Finding> all = {Make("o.info", Role::kObservation, Severity::kInfo),
                              Make("o.error", Role::kObservation, Severity::kError),
                              Make("q.error", Role::kConsequence, Severity::kError),
                              Make("c.warning", Role::kCause, Severity::kWarning, {2, 1}),
                              Make("c.error", Role::kCause, Severity::kError)};
  OrderFindings(all);
  EXPECT_EQ(Order(all), "c.error c.warning q.error o.error o.info");
  EXPECT_EQ(all[1].explains, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(all[0].id, "f1");
  EXPECT_EQ(all[4].id, "f5");
}

TEST(OrderFindings, SurerFirstThenByName) {
  std::vector<Finding> all(4, Make("b", Role::kCause, Severity::kError));
  all[0].confidence = 0.5;
  all[1].headline = "z";
  all[2].headline = "a";
  all[3].job = 7;
  all[3].rule = "a";
  OrderFindings(all);
  EXPECT_EQ(all[0].headline, "a");
  EXPECT_EQ(all[1].headline, "z");
  EXPECT_EQ(all[2].job, 7);
  EXPECT_EQ(all[3].confidence, 0.5);
}

TEST(OrderFindings, ACauseStandsBeforeWhatItExplains) {
  // A chain: the warning explains an error that is a cause itself, and an observation the warning.
  std::vector<Finding> all = {Make("error", Role::kCause, Severity::kError),
                              Make("warning", Role::kCause, Severity::kWarning, {0}),
                              Make("seen", Role::kObservation, Severity::kInfo, {1}),
                              Make("other", Role::kCause, Severity::kError)};
  OrderFindings(all);
  EXPECT_EQ(Order(all), "seen warning error other");
  EXPECT_EQ(all[0].explains, std::vector<size_t>{1});
  EXPECT_EQ(all[1].explains, std::vector<size_t>{2});
}

TEST(OrderFindings, ACircleOfExplanationsEnds) {
  std::vector<Finding> all = {Make("a", Role::kCause, Severity::kError, {1, 0}),
                              Make("b", Role::kCause, Severity::kError, {0})};
  OrderFindings(all);
  EXPECT_EQ(all.size(), 2u);
}

TEST(RecordOutcome, FillsTheTables) {
  Model model;
  InputRow input;
  input.job = 4;
  input.rank = 2;
  input.path = model.pools.Intern("x.log");
  model.tables.Edit<InputTable>().Add(input);
  model.diagnostics.Add(kBad, 0, {.offset = 0, .line = -1, .detail = "here"});
  model.diagnostics.Add(kOdd, kNone32);
  model.findings = {Make("a.cause", Role::kCause, Severity::kError, {1}),
                    Make("a.result", Role::kConsequence, Severity::kWarning)};
  model.findings[0].ranks = {5};
  model.findings[1].ranks = {1, 2};
  OrderFindings(model.findings);
  model.analyses.push_back({"a", AnalysisOutcome::State::kNotRun, "no rows", 0});
  model.analyses.push_back({"b", AnalysisOutcome::State::kRan, "", 2});
  RecordOutcome(model);
  auto text = [&](StringId id) { return std::string(model.pools.Text(id)); };

  const auto& trouble = model.tables.Get<DiagnosticTable>();
  ASSERT_EQ(trouble.size(), 2u);
  EXPECT_EQ(trouble.job[0], 4);
  EXPECT_EQ(trouble.rank[0], 2);
  EXPECT_EQ(text(trouble.path[0]), "x.log");
  EXPECT_EQ(text(trouble.severity[0]), "error");
  EXPECT_EQ(trouble.byte[0], 0);
  EXPECT_EQ(trouble.line[0], kNone64);
  EXPECT_EQ(text(trouble.detail[0]), "here");
  EXPECT_EQ(trouble.input[1], kNone32);
  EXPECT_EQ(trouble.path[1], StringId::kNone);
  EXPECT_EQ(trouble.byte[1], kNone64);
  EXPECT_EQ(trouble.detail[1], StringId::kNone);

  const auto& findings = model.tables.Get<FindingTable>();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings.rank[0], 5);
  EXPECT_EQ(findings.rank[1], kNone32) << "of several ranks";
  EXPECT_EQ(model.pools.lists.Get(findings.ranks[1]).size(), 2u);
  EXPECT_EQ(findings.explained_by[0], StringId::kNone);
  EXPECT_EQ(text(findings.explained_by[1]), "f1");
  EXPECT_EQ(findings.op[0], StringId::kNone);

  const auto& analyses = model.tables.Get<AnalysisTable>();
  ASSERT_EQ(analyses.size(), 2u);
  EXPECT_EQ(text(analyses.state[0]), "not run");
  EXPECT_EQ(text(analyses.reason[0]), "no rows");
  EXPECT_EQ(analyses.reason[1], StringId::kNone);
  EXPECT_EQ(analyses.findings[1], 2);
}

}  // namespace model_test
}  // namespace debrief

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bytes/source.h"
#include "outputs/report/html/compile/compile_islands.h"
#include "outputs/report/html/source/source_lines.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_entry.h"
#include "tables/compile_guard.h"
#include "tables/compile_recompile.h"
#include "tables/compile_shape.h"

namespace debrief::outputs::html {

namespace source_data_test {

void AddCompilation(Model& model, std::string_view id, std::string_view file, int32_t line,
                    double seconds) {
  CompilationRow row;
  row.job = 0;
  row.input = 2;
  row.rank = 1;
  row.life = 0;
  row.compile_id = model.pools.Intern(id);
  row.function = model.pools.Intern("forward");
  row.file = model.pools.Intern(file);
  row.line = line;
  row.seconds = seconds;
  model.tables.Edit<CompilationTable>().Add(row);
}

void AddGuard(Model& model, std::string_view file, int32_t line) {
  CompileGuardRow row;
  row.job = 0;
  row.file = model.pools.Intern(file);
  row.line = line;
  row.failed = 2;
  row.code = model.pools.Intern("  y = x + 1");
  model.tables.Edit<CompileGuardTable>().Add(row);
}

StackId AddStack(Model& model, std::string_view file, int32_t line) {
  const std::vector<FrameId> frames = {
      model.pools.AddFrame(
          {model.pools.Intern("/x/site-packages/torch/d.py"), model.pools.Intern("all_reduce"), 5}),
      model.pools.AddFrame({model.pools.Intern(file), model.pools.Intern("step"), line})};
  return model.pools.AddStack(frames);
}

const SourceLine& LineOf(const SourceFiles& files, const std::string& file, int32_t line) {
  return files.at({0, file}).at(line);
}

TEST(SourceData, NothingWithoutLogs) {
  Model model;
  EXPECT_EQ(SourceJson(model), "");
}

TEST(SourceData, CompilationsAreAddedUpByLine) {
  Model model;
  AddCompilation(model, "0/0", "/home/u/train.py", 12, 1.5);
  AddCompilation(model, "0/1", "/home/u/train.py", 12, 0.5);
  AddCompilation(model, "1/0", "/home/u/train.py", kNone32, 9);
  const SourceLine line = LineOf(CollectSource(model, 0), "/home/u/train.py", 12);
  EXPECT_EQ(line.compiled.count, 2);
  EXPECT_EQ(line.compiled.first, (std::vector<std::string>{"2:1:0:0/0", "2:1:0:0/1"}));
  EXPECT_EQ(line.function, "forward");
  EXPECT_DOUBLE_EQ(line.seconds, 2);
}

TEST(SourceData, ListsAreCutAndCounted) {
  LineList list;
  for (int i = 0; i < 40; ++i) list.Add(std::to_string(i / 2));
  EXPECT_EQ(list.count, 40);
  EXPECT_EQ(list.first.size(), LineList::kMost);
  EXPECT_EQ(list.first[1], "1");
}

TEST(SourceData, BreaksAndRecompilations) {
  Model model;
  CompileBreakRow one;
  one.job = 0;
  one.user_file = model.pools.Intern("train.py");
  one.user_line = 41;
  one.user_code = model.pools.Intern("n = x.item()");
  one.count = 3;
  model.tables.Edit<CompileBreakTable>().Add(one);
  CompileRecompileRow again;
  again.job = 0;
  again.input = 0;
  again.life = 0;
  again.compile_id = model.pools.Intern("0/1");
  again.user_file = one.user_file;
  again.user_line = 41;
  again.is_main = true;
  model.tables.Edit<CompileRecompileTable>().Add(again);
  again.is_main = false;
  model.tables.Edit<CompileRecompileTable>().Add(again);
  const SourceLine line = LineOf(CollectSource(model, 0), "train.py", 41);
  EXPECT_EQ(line.breaks, 3);
  EXPECT_EQ(line.code, "n = x.item()");
  EXPECT_EQ(line.recompiled.count, 1);
  EXPECT_EQ(line.recompiled.first.front(), "0::0:0/1");
}

TEST(SourceData, GuardsFindTheFileThatTheirPathIsTheEndOf) {
  Model model;
  AddCompilation(model, "0/0", "/home/user/proj/train.py", 12, 1);
  AddCompilation(model, "1/0", "/home/user/other/train.py", 3, 1);
  AddGuard(model, "er/proj/train.py", 14);
  AddGuard(model, "nn/modules/linear.py", 5);
  const SourceFiles files = CollectSource(model, 0);
  EXPECT_EQ(files.size(), 2u);  // a file that only guards name is left out
  const SourceLine line = LineOf(files, "/home/user/proj/train.py", 14);
  EXPECT_EQ(line.guards, 1);
  EXPECT_EQ(line.failed_guards, 2);
  EXPECT_EQ(line.code, "y = x + 1");
}

TEST(SourceData, ShortenedPathsThatFitSeveralFilesFitNone) {
  SourceFiles files;
  files[{0, "/a/x/train.py"}];
  files[{0, "/b/x/train.py"}];
  files[{1, "/c/only.py"}];
  EXPECT_EQ(FindShortened(files, 0, "zz/x/train.py"), nullptr);
  EXPECT_EQ(FindShortened(files, 0, "only.py"), nullptr);  // of another job
  EXPECT_EQ(FindShortened(files, 1, "gone/only.py"), &files.at({1, "/c/only.py"}));
  EXPECT_EQ(FindShortened(files, 0, "/b/x/train.py"), &files.at({0, "/b/x/train.py"}));
}

TEST(SourceData, CollectivesStandWhereTheUserIssuedThem) {
  Model model;
  for (int32_t seq = 0; seq < 3; ++seq) {
    CommOpRow row;
    row.job = 0;
    row.rank = 4;
    row.group_name = model.pools.Intern("dp");
    row.op = model.pools.Intern("all_reduce");
    row.collective_seq = seq;
    row.stack = AddStack(model, "train.py", 52);
    model.tables.Edit<CommOpTable>().Add(row);
  }
  const SourceLine line = LineOf(CollectSource(model, 0), "train.py", 52);
  EXPECT_EQ(line.collectives.count, 3);
  EXPECT_EQ(line.collectives.first, std::vector<std::string>{"all_reduce"});
  EXPECT_EQ(line.call.seq, 2);
  EXPECT_EQ(line.call.rank, 4);
  const std::string json = SourceJson(model);
  EXPECT_NE(json.find("\"call\":{\"group\":\"dp\",\"seq\":2,\"rank\":4}"), std::string::npos)
      << json;
}

// A log in memory with one entry of each payload.
struct PayloadLog {
  Model model;
  std::string text;

  void AddEntry(std::string_view kind, std::string_view name, std::string_view lines) {
    CompileEntryRow row;
    row.job = 0;
    row.input = 0;
    row.entry = static_cast<int64_t>(text.size());
    row.kind = model.pools.Intern(kind);
    row.name = model.pools.Intern(name);
    row.payload_offset = static_cast<int64_t>(text.size());
    row.payload_bytes = static_cast<int64_t>(lines.size());
    text += lines;
    model.tables.Edit<CompileEntryTable>().Add(row);
  }

  SourceFiles Collect(int64_t bytes) {
    model.sources.push_back(MakeMemorySource(text));
    return CollectSource(model, bytes);
  }
};

constexpr std::string_view kGraph =
    "\tclass GraphModule(torch.nn.Module):\n"
    "\t    def forward(self, L_x_: \"f32[4][1]cpu\"):\n"
    "\t        l_x_ = L_x_\n"
    "\t        # File: /u/train.py:27 in forward, code: y = x.sum() + 1\n"
    "\t        sum_1: \"f32[][]cpu\" = l_x_.sum();  l_x_ = None\n"
    "\t        add: \"f32[][]cpu\" = sum_1 + 1;  sum_1 = None\n"
    "\t        return (add,)\n";

TEST(SourceData, NodesOfGraphsAndKernelsOfLines) {
  PayloadLog log;
  log.AddEntry("dynamo_output_graph", "", kGraph);
  log.AddEntry(
      "artifact", "inductor_provenance_tracking_kernel_stack_traces",
      "\t{\"triton_poi_fused_0:1\": [\"  File \\\"/u/main.py\\\", line 3, in main\\n    f(x)\\n"
      "  File \\\"/u/train.py\\\", line 27, in forward\\n    y = x.sum() + 1\\n\"], "
      "\"broken\": 5}\n");
  const SourceFiles files = log.Collect(1'000'000);
  EXPECT_EQ(files.size(), 1u);
  const SourceLine line = LineOf(files, "/u/train.py", 27);
  EXPECT_EQ(line.nodes, 2);
  EXPECT_EQ(line.code, "y = x.sum() + 1");
  EXPECT_EQ(line.kernels.first, std::vector<std::string>{"triton_poi_fused_0"});
}

TEST(SourceData, GraphsBeyondTheBoundAreNotRead) {
  PayloadLog log;
  log.AddEntry("dynamo_output_graph", "", kGraph);
  EXPECT_TRUE(log.Collect(10).empty());
}

TEST(SourceData, FilesInTheLogAreShownWhole) {
  PayloadLog log;
  log.AddEntry("dump_file", "<eval_with_key>.3", "\tdef forward(x):\n\t    return x\n");
  log.AddEntry("dump_file", "<eval_with_key>.4", "\tunused\n");
  AddCompilation(log.model, "0/0", "<eval_with_key>.3", 1, 1);
  const SourceFiles files = log.Collect(0);
  EXPECT_EQ(files.size(), 1u);
  EXPECT_EQ(LineOf(files, "<eval_with_key>.3", 2).code, "    return x");
}

TEST(SourceData, UserFilesThatCostMostComeFirst) {
  Model model;
  CompileEntryRow entry;
  model.tables.Edit<CompileEntryTable>().Add(entry);
  AddCompilation(model, "0/0", "/x/site-packages/lib.py", 1, 50);
  AddCompilation(model, "1/0", "/u/cheap.py", 1, 1);
  AddCompilation(model, "2/0", "/u/dear.py", 1, 2);
  const std::string json = SourceJson(model);
  EXPECT_LT(json.find("dear.py"), json.find("cheap.py"));
  EXPECT_LT(json.find("cheap.py"), json.find("lib.py"));
}

void AddIssue(Model& model, std::string_view kind, std::string_view prefix, int64_t entry) {
  CompileShapeRow row;
  row.job = 0;
  row.input = 0;
  row.entry = entry;
  row.kind = model.pools.Intern(kind);
  if (!prefix.empty()) row.prefix = model.pools.Intern(prefix);
  row.expression = model.pools.Intern("Eq(u0, 0)");
  model.tables.Edit<CompileShapeTable>().Add(row);
  CompileEntryRow line;
  line.job = 0;
  line.input = 0;
  line.entry = entry;
  line.kind = row.kind;
  line.stack = AddStack(model, "export.py", 9);
  model.tables.Edit<CompileEntryTable>().Add(line);
}

TEST(ExportData, IssuesWithTheirPlace) {
  Model model;
  EXPECT_EQ(ExportJson(model), "");
  AddIssue(model, "create_symbol", "", 1);
  AddIssue(model, "guard_added", "runtime_assert", 2);
  AddIssue(model, "guard_added", "eval", 3);
  AddIssue(model, "missing_fake_kernel", "", 4);
  EXPECT_EQ(FindExportIssues(model, 1).left_out, 1u);
  const std::string json = ExportJson(model);
  EXPECT_EQ(json.find("create_symbol"), std::string::npos);
  EXPECT_NE(json.find("\"entry\":3,\"kind\":\"guard_added\",\"expression\":\"Eq(u0, 0)\","
                      "\"file\":\"export.py\",\"line\":9,\"function\":\"step\""),
            std::string::npos)
      << json;
  EXPECT_EQ(CollectSource(model, 0).at({0, "export.py"}).at(9).exports, 2);
}

TEST(ExportData, ProgramsAreListed) {
  Model model;
  CompileEntryRow row;
  row.job = 0;
  row.input = 0;
  row.entry = 70;
  row.kind = model.pools.Intern("exported_program");
  row.payload_bytes = 512;
  model.tables.Edit<CompileEntryTable>().Add(row);
  EXPECT_NE(
      ExportJson(model).find("\"programs\":[{\"job\":0,\"rank\":null,\"input\":0,\"entry\":70,"
                             "\"bytes\":512}]"),
      std::string::npos);
}

}  // namespace source_data_test

}  // namespace debrief::outputs::html

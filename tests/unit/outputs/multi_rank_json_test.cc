// The JSON files of several ranks, from tables made by hand.
#include <gtest/gtest.h>

#include <limits>

#include "compat/tlparse/data_files.h"
#include "compat/tlparse/rust_text.h"
#include "tables/compile_collective.h"
#include "tables/compile_parity.h"
#include "tables/compile_runtime_op.h"
#include "tables/provenance_graph.h"
#include "tables/provenance_line.h"

namespace debrief::outputs::tlparse_tree {
namespace multi_rank_json_test {

TEST(FxHash, HashesLikeTlparse) {
  FxHash hash;
  hash.AddWord(0);
  hash.AddText("-_0_1_0");
  EXPECT_EQ(static_cast<uint32_t>(hash.value()), 3096134113u);
  FxHash empty;
  EXPECT_EQ(empty.value(), 0u);
  FxHash one;
  one.AddWord(1);
  EXPECT_EQ(one.value(), 0x517cc1b727220a95u);
}

TEST(SerdeText, WritesNumbersAndTexts) {
  for (auto [number, text] : std::initializer_list<std::pair<double, std::string_view>>{
           {0, "0.0"},
           {1, "1.0"},
           {0.1, "0.1"},
           {-2.5, "-2.5"},
           {1e15, "1000000000000000.0"},
           {1e16, "1e16"},
           {1.5e300, "1.5e300"},
           {1e-5, "0.00001"},
           {1e-7, "1e-7"},
           {1.25e-10, "1.25e-10"},
           {6885841.870239033, "6885841.870239033"},
           {std::numeric_limits<double>::quiet_NaN(), "null"}})
    EXPECT_EQ(SerdeDouble(number), text);
  EXPECT_EQ(SerdeString("a\"b\\c\n\t\x01</script>\xc3\xa9\x7f"),
            "\"a\\\"b\\\\c\\n\\t\\u0001</script>\xc3\xa9\x7f\"");
}

template <typename Row>
Row RowOf(Model& model, int32_t rank, std::string_view graph) {
  Row row;
  row.job = row.attempt = 0;
  row.rank = rank;
  row.input = rank;
  row.graph = model.pools.Intern(graph);
  return row;
}

void AddOp(Model& model, int32_t rank, std::string_view graph, double ns, bool chosen = true) {
  auto row = RowOf<CompileRuntimeOpRow>(model, rank, graph);
  row.name = model.pools.Intern("mm");
  row.estimated_ns = ns;
  row.chosen = chosen;
  model.tables.Edit<CompileRuntimeOpTable>().Add(row);
}

TEST(MultiRankJson, NothingGivesNoFiles) {
  Model model;
  EXPECT_EQ(RuntimeEstimationsJson(model, 0, 0), "");
  EXPECT_EQ(CollectiveSchedulesJson(model, 0, 0), "");
  EXPECT_EQ(RuntimeTraceJson(model, 0, 0), "");
  EXPECT_EQ(LineMappingsJson(model, 0, 0, "-_0_0_0"), "{}");
  EXPECT_EQ(CollectivesParityJson(model, 0, 0),
            "{\n  \"description\": \"Difference of # of collectives in scheduler and inductor "
            "output code and missing wait collectives\",\n  \"graphs\": []\n}");
}

TEST(MultiRankJson, EstimatesOfChosenArtifacts) {
  Model model;
  AddOp(model, 1, "-_0_0_0", 2);
  AddOp(model, 0, "-_0_1_0", 1.5);
  AddOp(model, 0, "-_0_1_0", 9, /*chosen=*/false);
  EXPECT_EQ(RuntimeEstimationsJson(model, 0, 0), R"([
  {
    "rank": 0,
    "graph": "-_0_1_0",
    "ops": [
      {
        "name": "mm",
        "estimated_runtime_ns": 1.5
      }
    ]
  },
  {
    "rank": 1,
    "graph": "-_0_0_0",
    "ops": [
      {
        "name": "mm",
        "estimated_runtime_ns": 2.0
      }
    ]
  }
])");
  EXPECT_EQ(RuntimeEstimationsJson(model, 0, 1), "");
}

TEST(MultiRankJson, TheTraceLaysOpsEndToEnd) {
  Model model;
  AddOp(model, 0, "-_0_1_0", 0);
  AddOp(model, 0, "-_0_1_0", 1000.5);
  std::string trace = RuntimeTraceJson(model, 0, 0);
  EXPECT_NE(trace.find(R"(  {
    "args": {
      "graph": "-_0_1_0",
      "rank": 0,
      "runtime_ns": 1000
    },
    "cat": "runtime",
    "dur": 2,
    "name": "mm",
    "ph": "X",
    "pid": 0,
    "tid": 3096134113,
    "ts": 1
  },
  {
    "args": {
      "name": "Rank 0"
    },
    "name": "process_name",
    "ph": "M",
    "pid": 0
  },)"),
            std::string::npos)
      << trace;
  EXPECT_TRUE(trace.ends_with(R"({
    "args": {
      "sort_index": 0
    },
    "name": "thread_sort_index",
    "ph": "M",
    "pid": 0,
    "tid": 3096134113
  }
])")) << trace;
}

TEST(MultiRankJson, AbsurdEstimatesDoNotOverflow) {
  Model model;
  for (double ns : {1e300, 1e300, -1e300, 1e22, 1e22}) AddOp(model, 0, "g", ns);
  std::string trace = RuntimeTraceJson(model, 0, 0);
  EXPECT_NE(trace.find("\"dur\": 1,"), std::string::npos);
}

TEST(MultiRankJson, SchedulesAndParity) {
  Model model;
  auto op = RowOf<CompileCollectiveRow>(model, 2, "-_1_0_0");
  op.op = model.pools.Intern("all_reduce");
  op.chosen = true;
  model.tables.Edit<CompileCollectiveTable>().Add(op);
  EXPECT_EQ(CollectiveSchedulesJson(model, 0, 0),
            "[\n  {\n    \"rank\": 2,\n    \"graph\": \"-_1_0_0\",\n    \"ops\": [\n      "
            "\"all_reduce\"\n    ]\n  }\n]");
  for (int64_t waits : {0, 3}) {
    auto parity = RowOf<CompileParityRow>(model, 2, "-_1_0_0");
    parity.compile_id = model.pools.Intern("1/0");
    parity.difference = 0;
    parity.missing_waits = waits;
    model.tables.Edit<CompileParityTable>().Add(parity);
  }
  std::string json = CollectivesParityJson(model, 2, 2);
  EXPECT_TRUE(
      json.ends_with("  \"graphs\": [\n    {\n      \"graph\": \"-_1_0_0\",\n      "
                     "\"compile_id\": \"[1/0]\",\n      \"offset\": 0,\n      "
                     "\"missing_waits\": 3\n    }\n  ]\n}"))
      << json;
  EXPECT_TRUE(CollectivesParityJson(model, 0, 0).ends_with("\"graphs\": []\n}"));
}

TEST(MultiRankJson, LineMappingsOfOneGraph) {
  Model model;
  for (std::string_view graph : {"a", "b", "c"}) {
    auto row = RowOf<ProvenanceGraphRow>(model, 0, graph);
    row.mapped = graph != "c";
    model.tables.Edit<ProvenanceGraphTable>().Add(row);
  }
  for (std::string_view graph : {"a", "b"}) {
    auto row = RowOf<ProvenanceLineRow>(model, 0, graph);
    row.map = model.pools.Intern("preToPost");
    row.line = graph == "a" ? 1 : 2;
    row.targets = model.pools.lists.Intern(std::vector<int64_t>{4, 3});
    model.tables.Edit<ProvenanceLineTable>().Add(row);
  }
  EXPECT_EQ(LineMappingsJson(model, 0, 0, "b"), R"({
  "cppCodeToPost": {},
  "postToCppCode": {},
  "postToPre": {},
  "postToPyCode": {},
  "preToPost": {
    "2": [
      4,
      3
    ]
  },
  "pyCodeToPost": {}
})");
  EXPECT_EQ(LineMappingsJson(model, 0, 0, "c"), "{}");
  EXPECT_EQ(LineMappingsJson(model, 0, 0, "d"), "{}");
  EXPECT_EQ(LineMappingsJson(model, 1, 0, "a"), "{}");
}

}  // namespace multi_rank_json_test
}  // namespace debrief::outputs::tlparse_tree

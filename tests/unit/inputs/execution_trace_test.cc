// The execution trace reader on documents made by hand: docs/formats/execution_trace.md.
#include "tables/execution_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inputs/import.h"
#include "tables/execution_node.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace execution_trace_test {

class ExecutionTrace : public ::testing::Test {
 protected:
  // Reads the document with small chunks and with one, which must give the same.
  void Read(std::string_view text) {
    text_ = text;
    part_ = Import(1 << 20);
    for (uint64_t chunk : {1u, 7u, 100u}) {
      Part other = Import(chunk);
      EXPECT_EQ(Shown(other), Shown(part_)) << "chunks of " << chunk;
    }
  }
  void ReadNodes(std::string_view nodes) {
    Read(fmt::format(
        R"json({{"schema": "1.1.1", "pid": 7, "time": "2026-11-15 02:52:40", "start_ts": 5,
                          "nodes": [{}], "finish_ts": 9}})json",
        nodes));
  }

  Part Import(uint64_t chunk) { return testing::ImportBytes("execution_trace", text_, chunk); }

  static std::string Shown(const Part& part) {
    const auto& nodes = part.tables.Get<ExecutionNodeTable>();
    std::string text;
    for (size_t i = 0; i < nodes.size(); ++i) {
      text +=
          fmt::format("{} {} {} {} {} {}\n", nodes.node[i], part.pools.Text(nodes.name[i]),
                      nodes.byte_begin[i], nodes.bytes[i], part.pools.Text(nodes.input_shapes[i]),
                      part.pools.Text(nodes.output_types[i]));
    }
    return text + Trouble(part);
  }

  const ExecutionNodeTable& nodes() const { return part_.tables.Get<ExecutionNodeTable>(); }
  std::string_view Text(StringId id) const { return part_.pools.Text(id); }
  static std::string Trouble(const Part& part) { return testing::TroubleOf(part, true); }
  std::string Trouble() const { return Trouble(part_); }

  std::string text_;
  Part part_;
};

TEST_F(ExecutionTrace, ReadsANode) {
  ReadNodes(R"json({"id": 3, "name": "aten::view", "ctrl_deps": 2,
     "inputs": {"values": [[4, 5]], "shapes": [[4, 256], [[], []]], "types": ["Tensor(long int)"]},
     "outputs": {"shapes": [ [1] ], "types": []},
     "attrs": [{"name": "rf_id", "type": "uint64", "value": 1}, {"name": "seq_id", "value": -1},
               {"type": "uint64", "value": 6, "name": "tid"}, {"name": "scope", "value": 7},
               {"name": "op_schema", "value": "view(Tensor a)"}, {"name": "kernel_file", "value": ""},
               {"name": "id", "value": 99}, {"name": "name", "value": "no"}]
},
    {"id": 4, "name": "b"})json");
  ASSERT_EQ(nodes().size(), 2u);
  EXPECT_EQ(nodes().rank[0], 5);
  EXPECT_EQ(nodes().node[0], 3);
  EXPECT_EQ(Text(nodes().name[0]), "aten::view");
  EXPECT_EQ(nodes().parent[0], 2);
  EXPECT_EQ(nodes().rf_id[0], 1);
  EXPECT_EQ(nodes().sequence[0], kNone64);
  EXPECT_EQ(nodes().thread[0], 6);
  EXPECT_EQ(nodes().scope[0], 7);
  EXPECT_EQ(Text(nodes().op_schema[0]), "view(Tensor a)");
  EXPECT_EQ(nodes().kernel_file[0], StringId::kNone);
  EXPECT_EQ(Text(nodes().input_shapes[0]), "[[4,256],[[],[]]]");
  EXPECT_EQ(Text(nodes().input_types[0]), R"json(["Tensor(long int)"])json");
  EXPECT_EQ(Text(nodes().output_shapes[0]), "[[1]]");
  EXPECT_EQ(text_.substr(static_cast<size_t>(nodes().byte_begin[1]),
                         static_cast<size_t>(nodes().bytes[1])),
            R"json({"id": 4, "name": "b"})json");
  const auto& traces = part_.tables.Get<ExecutionTraceTable>();
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(Text(traces.schema_version[0]), "1.1.1");
  EXPECT_EQ(traces.pid[0], 7);
  EXPECT_EQ(traces.finish_ts[0], 9);
  EXPECT_EQ(traces.nodes[0], 2);
  EXPECT_TRUE(traces.whole[0]);
  EXPECT_EQ(Trouble(), "");
}

TEST_F(ExecutionTrace, ReadsCollectives) {
  ReadNodes(R"json({"id": 3, "name": "record_param_comms", "ctrl_deps": 2, "attrs": [
     {"name": "collective_name", "type": "string", "value": "allreduce"},
     {"name": "dtype", "type": "string", "value": "Float"},
     {"name": "in_msg_nelems", "type": "uint64", "value": 1024},
     {"name": "out_msg_nelems", "type": "uint64", "value": "2048"},
     {"name": "pg_name", "type": "string", "value": "0"},
     {"name": "pg_desc", "type": "string", "value": "default_pg"},
     {"name": "pg_size", "type": "uint64", "value": 8}]})json");
  ASSERT_EQ(nodes().size(), 1u);
  EXPECT_EQ(Text(nodes().collective[0]), "allreduce");
  EXPECT_EQ(Text(nodes().dtype[0]), "Float");
  EXPECT_EQ(nodes().input_elements[0], 1024);
  EXPECT_EQ(nodes().output_elements[0], 2048);
  EXPECT_EQ(Text(nodes().group_name[0]), "0");
  EXPECT_EQ(Text(nodes().group_desc[0]), "default_pg");
  EXPECT_EQ(nodes().group_size[0], 8);
}

TEST_F(ExecutionTrace, ReadsTheFlatNodesOfOldSchemas) {
  ReadNodes(
      R"json({"name": "aten::add", "id": 9, "rf_id": 4, "parent": 1, "fw_parent": 2, "seq_id": 5,
     "scope": 0, "tid": 1, "fw_tid": 3, "op_schema": "add()", "inputs": [1, [2]],
     "input_shapes": [[2, 3]], "input_types": ["Int"], "outputs": [], "output_shapes": [],
     "output_types": []})json");
  ASSERT_EQ(nodes().size(), 1u);
  EXPECT_EQ(nodes().parent[0], 1);
  EXPECT_EQ(nodes().fw_parent[0], 2);
  EXPECT_EQ(nodes().sequence[0], 5);
  EXPECT_EQ(nodes().forward_thread[0], 3);
  EXPECT_EQ(Text(nodes().op_schema[0]), "add()");
  EXPECT_EQ(Text(nodes().input_shapes[0]), "[[2,3]]");
  EXPECT_EQ(Text(nodes().output_types[0]), "[]");
}

TEST_F(ExecutionTrace, LosesOnlyWhatIsBroken) {
  ReadNodes(R"json({"id": 1, "name": "a"}, 5, {"id": 2}, {"name": "c"},
               {"id": 3 "name": "d"}, {"id": 4, "name": "e", "attrs": 7})json");
  ASSERT_EQ(nodes().size(), 2u);
  EXPECT_EQ(Text(nodes().name[0]), "a");
  EXPECT_EQ(Text(nodes().name[1]), "e");
  EXPECT_EQ(Trouble(), "execution_trace.bad_node 4 not an object;");
}

TEST_F(ExecutionTrace, KeepsWholeNodesOfACutFile) {
  Read(
      R"json({"schema": "1.1.1", "start_ts": 5, "nodes": [{"id": 1, "name": "a"}, {"id": 2, "na)json");
  ASSERT_EQ(nodes().size(), 1u);
  EXPECT_EQ(Trouble(), "execution_trace.truncated 1 1 whole nodes;");
  EXPECT_FALSE(part_.tables.Get<ExecutionTraceTable>().whole[0]);
  Read(R"json({"schema": "1.1.1", "start_ts": 5, "nodes": []})json");
  EXPECT_EQ(Trouble(), "execution_trace.no_nodes 1 ;");
}

}  // namespace execution_trace_test
}  // namespace debrief

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "outputs/report/html/compile/compile_islands.h"
#include "tables/compile_span.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"

namespace debrief::outputs::html {

namespace stack_data_test {

struct Log {
  Model model;

  void AddNode(int32_t input, int32_t node, int32_t parent, std::string_view file, int32_t line,
               std::string_view trie = "starts") {
    const std::vector<FrameId> frame = {
        model.pools.AddFrame({model.pools.Intern(file), model.pools.Intern("f"), line})};
    CompileTrieNodeRow row;
    row.job = 0;
    row.input = input;
    row.trie = model.pools.Intern(trie);
    row.node = node;
    row.parent = parent;
    row.frame = model.pools.AddStack(frame);
    model.tables.Edit<CompileTrieNodeTable>().Add(row);
  }

  void AddCompilation(int32_t input, int32_t node, int64_t entry, std::string_view id,
                      double seconds) {
    CompileTrieEndRow end;
    end.job = 0;
    end.input = input;
    end.trie = model.pools.Intern("starts");
    end.node = node;
    end.entry = entry;
    end.compile_id = model.pools.Intern(id);
    end.status = model.pools.Intern("break");
    model.tables.Edit<CompileTrieEndTable>().Add(end);
    CompileSpanRow span;
    span.job = 0;
    span.rank = input;
    span.input = input;
    span.life = 0;
    span.entry = entry;
    span.compile_id = end.compile_id;
    span.seconds = seconds;
    model.tables.Edit<CompileSpanTable>().Add(span);
  }
};

TEST(StackData, NothingWithoutStacks) {
  Model model;
  EXPECT_EQ(StacksJson(model), "");
}

TEST(StackData, StacksOfAllRanksAreOneTree) {
  Log log;
  for (int32_t rank = 0; rank < 2; ++rank) {
    log.AddNode(rank, 0, kNone32, "train.py", 1);
    log.AddNode(rank, 1, 0, "/x/site-packages/torch/y.py", 2);
    log.AddCompilation(rank, 1, 100, "0/0", 1.5);
  }
  log.AddNode(1, 2, 0, "train.py", 9);
  EXPECT_EQ(
      StacksJson(log.model),
      "{\"frames\":[[\"train.py\",\"f\",1,true],[\"/x/site-packages/torch/y.py\",\"f\",2,false],"
      "[\"train.py\",\"f\",9,true]],\"trees\":[{\"job\":0,\"parent\":[-1,0,0],\"frame\":[0,1,2],"
      "\"node\":[1,1],\"input\":[0,1],\"rank\":[0,1],\"life\":[0,0],\"id\":[\"0/0\",\"0/0\"],"
      "\"seconds\":[1.5,1.5],\"status\":[\"break\",\"break\"]}],\"left_out\":0}");
}

TEST(StackData, StacksOfOtherEntriesAreNotInIt) {
  Log log;
  log.AddNode(0, 0, kNone32, "train.py", 1);
  log.AddNode(0, 0, kNone32, "elsewhere.py", 7, "entries");
  log.AddCompilation(0, 0, 100, "0/0", 1);
  EXPECT_EQ(StacksJson(log.model).find("elsewhere"), std::string::npos);
}

TEST(StackData, DeepStacksEnd) {
  Log log;
  for (int32_t i = 0; i < 1000; ++i) log.AddNode(0, i, i == 0 ? kNone32 : i - 1, "deep.py", i + 1);
  log.AddCompilation(0, 999, 100, "0/0", 1);
  const std::string json = StacksJson(log.model);
  EXPECT_NE(json.find("\"node\":[399]"), std::string::npos) << json.substr(json.size() - 200);
}

TEST(StackData, CompilationsBeyondTheBoundAreCounted) {
  Log log;
  log.AddNode(0, 0, kNone32, "train.py", 1);
  for (int i = 0; i < 50'003; ++i) log.AddCompilation(0, 0, i, "0/0", 1);
  EXPECT_TRUE(StacksJson(log.model).ends_with("\"left_out\":3}"));
}

}  // namespace stack_data_test

}  // namespace debrief::outputs::html

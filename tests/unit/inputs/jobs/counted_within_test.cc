#include <gtest/gtest.h>

#include "inputs/jobs/assign_ranks.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace counted_within_test {

using testing::FindImporter;

using Ranks = std::vector<int32_t>;

FoundInput Input(std::string folder, std::string name, std::string_view kind = "job_text") {
  FoundInput input;
  input.folder = std::move(folder);
  input.name = std::move(name);
  input.path = input.folder + "/" + input.name;
  input.importer = FindImporter(kind);
  input.text.is_output = kind == "job_text";
  return input;
}

FoundInput Dump(std::string folder, std::string name, int32_t end = kNone32) {
  FoundInput input = Input(std::move(folder), std::move(name), "flight_recorder");
  input.recognition.mine = true;
  input.recognition.rank_in_name = end;
  return input;
}

Ranks RanksOfAll(std::vector<FoundInput> inputs) {
  AssignRanks(inputs);
  Ranks ranks;
  for (const FoundInput& input : inputs) ranks.push_back(input.who.rank);
  return ranks;
}

template <typename... Inputs>
Ranks RanksOf(Inputs... input) {
  std::vector<FoundInput> inputs;
  (inputs.push_back(std::move(input)), ...);
  return RanksOfAll(std::move(inputs));
}

TEST(CountedWithin, NamesCountInEachHost) {
  std::vector<FoundInput> inputs;
  for (const char* host : {"j/hostA", "j/hostB"})
    for (const char* name : {"rank0.log", "rank1.log"}) inputs.push_back(Input(host, name));
  inputs.push_back(Dump("j/hostB", "nccl_trace_rank_2", 2));
  inputs.push_back(Dump("j/hostB", "nccl_trace_rank_3", 3));
  inputs.push_back(Dump("j/hostA", "nccl_trace_rank_0", 0));
  EXPECT_EQ(RanksOfAll(std::move(inputs)), (Ranks{0, 1, 2, 3, 2, 3, 0}));
}

TEST(CountedWithin, RunsCountFromZeroEach) {
  EXPECT_EQ(RanksOf(Input("j/run_1", "rank0.log"), Input("j/run_1", "rank1.log"),
                    Input("j/run_2", "rank0.log"), Input("j/run_2", "rank1.log")),
            (Ranks{0, 1, 0, 1}));
}

TEST(CountedWithin, EndsOfNamesThatAreNoRanks) {
  EXPECT_EQ(RanksOf(Dump("j", "node0_gpu0.dump", 0), Dump("j", "node0_gpu1.dump", 1),
                    Dump("j", "node1_gpu0.dump", 0), Dump("j", "node1_gpu1.dump", 1)),
            (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(RanksOf(Dump("j/rank_4", "fr_1", 1), Dump("j/rank_5", "fr_1", 1)), (Ranks{4, 5}));
  FoundInput dated = Dump("j/rank_1", "fr_4711", 4711);
  dated.recognition.world_size = 2;
  EXPECT_EQ(RanksOf(std::move(dated)), Ranks{1});
}

TEST(CountedWithin, FoldersThatCountTellTheRanksOfDumps) {
  EXPECT_EQ(
      RanksOf(Dump("j/0", "nccl_trace"), Dump("j/1", "nccl_trace"), Dump("j/2", "nccl_trace")),
      (Ranks{0, 1, 2}));
}

TEST(CountedWithin, RanksOfCommunicatorsOfSome) {
  std::vector<FoundInput> inputs;
  for (int32_t local = 0; local < 4; ++local) {
    inputs.push_back(Input("j/none_abcdefgh/attempt_0/" + std::to_string(local), "stderr.log"));
    TextClues& text = inputs.back().text;
    text.pid = 100 + local;
    text.world_size = 2;
    text.processes = {{text.pid, local / 2}};
  }
  EXPECT_EQ(RanksOfAll(std::move(inputs)), (Ranks{0, 1, 2, 3}))
      << "two communicators of two, no world of two";
}

}  // namespace counted_within_test
}  // namespace debrief

// Which number in the names of a family of files or folders is the rank.
//
//   train_4711_node01_0.out  train_4711_node01_1.out  train_4711_node02_2.out      the last
//   llm-master-0.log  llm-worker-0.log  llm-worker-1.log                           worker 0 is 1
//   dlrm_eg_0.json  dlrm_eg_1.json                                                 the only
//   node0_gpu0.log  node0_gpu1.log  node1_gpu0.log  node1_gpu1.log                 node, local rank
//   train_1of4.log  train_2of4.log  train_3of4.log  train_4of4.log                 one less
//   llm_4711_0.0.out  llm_4711_1.0.out  llm_4711_0.1.out  llm_4711_1.1.out         rank, attempt
//   llm_4711_0.out  llm_4711_1.out  llm_4712_0.out  llm_4712_1.out                 run, rank
//
// No name alone says so: a number counts ranks when it goes from 0 without holes over names that
// are equal otherwise, and when no content contradicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

struct NumberedName {
  std::string name;
  int32_t content_rank = kNone32;  // as the bytes tell
  bool several = false;            // the content is of several ranks: a node, not a rank
};

struct CountedNumbers {
  int32_t rank = kNone32;
  int32_t attempt = kNone32;
  int64_t run = kNone64;  // of a scheduler, where names of several are there
};

// What the numbers of each name count, kNone32 where that is not told. Cost: n log n.
std::vector<CountedNumbers> RanksOfNames(const std::vector<NumberedName>& names);

}  // namespace debrief

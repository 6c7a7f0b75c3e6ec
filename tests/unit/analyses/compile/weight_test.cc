// Every byte of a log is counted once in each way to divide it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "tables/compile_string.h"
#include "tables/compile_weight.h"
#include "tables/input.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses::compile_weight {

const Analysis& Describe();

namespace compile_weight_test {

constexpr int32_t kHeader = 12;  // bytes of "V0101 header"

void SetHeaders(Model& model) {
  auto& entries = model.tables.Edit<CompileEntryTable>();
  for (size_t row = 0; row < entries.size(); ++row) entries.header_bytes[row] = kHeader;
}

TEST(CompileWeight, DividesTheLogInThreeWays) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = "a", .payload = "123"})
      .Add({.name = "b", .payload = "1234567", .frame = 1})
      .Add({.name = "a", .payload = "1"})
      .Add({.kind = "dynamo_start"});
  Model& model = log.model();
  SetHeaders(model);
  CompileStringRow string;
  string.job = string.attempt = string.rank = string.input = 0;
  string.header_bytes = 20;
  model.tables.Edit<CompileStringTable>().Add(string);
  InputRow input;
  input.content_bytes = 4 * 13 + (5 + 9 + 3) + 21 + 10;  // entries, payloads, string, garbage
  model.tables.Edit<InputTable>().Add(input);
  EXPECT_TRUE(log.Run(Describe()).empty());
  const auto& weights = model.tables.Get<CompileWeightTable>();
  std::map<std::string, int64_t> bytes, sums;
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string by(model.pools.Text(weights.divided_by[i]));
    bytes[by + " " + std::string(model.pools.Text(weights.name[i]))] = weights.bytes[i];
    sums[by] += weights.bytes[i];
  }
  EXPECT_EQ(bytes["kind artifact: a"], 2 * 13 + 5 + 3);
  EXPECT_EQ(bytes["kind artifact: b"], 13 + 9);
  EXPECT_EQ(bytes["kind dynamo_start"], 13);
  EXPECT_EQ(bytes["kind (string table)"], 21);
  EXPECT_EQ(bytes["kind (outside of entries)"], 10);
  EXPECT_EQ(bytes["compile_id 1/0"], 13 + 9);
  ASSERT_EQ(sums.size(), 3u);
  for (const auto& [by, sum] : sums) EXPECT_EQ(sum, input.content_bytes) << by;
}

TEST(CompileWeight, AnEntryWithTwoKindsCountsOnce) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = "a", .payload = "123"}).Add({.name = "b", .payload = "123"});
  auto& entries = log.model().tables.Edit<CompileEntryTable>();
  entries.entry[1] = entries.entry[0];
  SetHeaders(log.model());
  log.Run(Describe());
  const auto& weights = log.model().tables.Get<CompileWeightTable>();
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_EQ(weights.bytes[0], 18);
  EXPECT_DOUBLE_EQ(weights.share[0], 1);
}

TEST(CompileWeight, OnlyALargeLogIsWorthAWord) {
  for (int64_t size : {90'000'000, 110'000'000}) {
    CompileLogBuilder log;
    log.Log(0).Add({.kind = "chromium_event"});
    log.model().tables.Edit<CompileEntryTable>().payload_bytes[0] = size;
    auto findings = log.Run(Describe());
    ASSERT_EQ(findings.size(), size > 100'000'000 ? 1u : 0u);
    if (!findings.empty()) {
      EXPECT_EQ(findings[0].headline,
                "100 % of a compile log of 110 MB is chromium_event (1 entries)");
    }
  }
}

}  // namespace compile_weight_test
}  // namespace debrief::analyses::compile_weight

// Answers of compilation caches, and when a cache does not work.
#include "analyses/compile/caches/caches.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tables/compile_cache_total.h"
#include "tables/compile_cache_use.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses::compile_caches {

const Analysis& Describe();

namespace compile_caches_test {

constexpr int64_t kSecond = 1'000'000'000;

std::string Miss(std::string_view key, int64_t asked_ns, int64_t taken_ns) {
  return fmt::format(
      R"({{"key": "{}", "components": ["[x] \"key\": {{", {{"key": "no"}}], "cache_event_time": {},
          "time_taken_ns": {}}})",
      key, asked_ns, taken_ns);
}

TEST(CompileCaches, SplitsNames) {
  std::string_view cache, status;
  EXPECT_TRUE(SplitName("aotautograd_cache_bypass", cache, status));
  EXPECT_EQ(cache, "aotautograd_cache");
  EXPECT_EQ(status, "bypass");
  EXPECT_FALSE(SplitName("fx_graph_cache_hash", cache, status));
  EXPECT_FALSE(SplitName("smash_hit", cache, status));
}

TEST(CompileCaches, ReadsTheKeysAroundTheComponents) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 5 * kSecond, 2 * kSecond)})
      .Add(
          {.name = "fx_graph_cache_hit", .payload = R"({"time_saved_ns": 2000000000, "key": "k"})"})
      .Add({.name = "aotautograd_cache_hit", .payload = R"({"time_saved_ms": 1253.0})"})
      .Add({.name = "aotautograd_cache_bypass",
            .payload = R"({"cache_bypass_reason": "no \"flex\"", "key": null})"});
  EXPECT_TRUE(log.Run(Describe()).empty());
  const auto& uses = log.model().tables.Get<CompileCacheUseTable>();
  ASSERT_EQ(uses.size(), 4u);
  EXPECT_EQ(log.model().pools.Text(uses.key[0]), "k");
  EXPECT_EQ(uses.asked_ns[0], 5 * kSecond);
  EXPECT_DOUBLE_EQ(uses.spent_s[0], 2);
  EXPECT_DOUBLE_EQ(uses.saved_s[1], 2);
  EXPECT_FALSE(uses.again[1]);
  EXPECT_DOUBLE_EQ(uses.saved_s[2], 1.253);
  EXPECT_EQ(log.model().pools.Text(uses.reason[3]), "no \"flex\"");
  EXPECT_EQ(uses.key[3], StringId::kNone);
  const auto& totals = log.model().tables.Get<CompileCacheTotalTable>();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals.uses[0] + totals.uses[1], 4);
}

TEST(CompileCaches, ABrokenAnswerIsStillAnAnswer) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = "x_cache_miss", .payload = R"({"key": "k", "time_taken_ns": )"})
      .Add({.name = "x_cache_hit", .payload = "garbage"})
      .Add({.name = "x_cache_hit", .payload = R"({"time_saved_ns": -1, "key": ["k"]})"})
      .Add({.name = "x_cache_hit"});
  log.Run(Describe());
  const auto& totals = log.model().tables.Get<CompileCacheTotalTable>();
  ASSERT_EQ(totals.size(), 1u);
  EXPECT_EQ(totals.hits[0], 3);
  EXPECT_EQ(totals.misses[0], 1);
  EXPECT_DOUBLE_EQ(totals.saved_s[0], 0);
}

TEST(CompileCaches, TheSameKeyMissedAgainIsTrouble) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 0, 2 * kSecond)})
      .Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 9 * kSecond, 2 * kSecond)});
  auto findings = log.Run(Describe());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_EQ(findings[0].headline,
            "Rank 0 missed keys in fx_graph_cache that were looked up before: 1 x (2 s)");
}

TEST(CompileCaches, RanksThatMissTogetherAreNoTrouble) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 0, 5 * kSecond)});
  log.Log(1).Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 4 * kSecond, 5 * kSecond)});
  EXPECT_TRUE(log.Run(Describe()).empty());
}

TEST(CompileCaches, ARankThatMissesWhatAnotherHadStoredIsTold) {
  CompileLogBuilder log;
  log.Log(0).Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 0, 5 * kSecond)});
  log.Log(1).Add({.name = "fx_graph_cache_miss", .payload = Miss("k", 8 * kSecond, 5 * kSecond)});
  auto findings = log.Run(Describe());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].severity, Severity::kInfo);
  EXPECT_EQ(findings[0].ranks, std::vector<int32_t>({1}));
}

TEST(CompileCaches, OnlyALongRunWithoutHitsIsWorthAWord) {
  for (int64_t seconds : {5, 20}) {
    CompileLogBuilder log;
    log.Log(0);
    for (int i = 0; i < 6; ++i) {
      const std::string payload = Miss(fmt::format("k{}", i), 0, seconds * kSecond);
      log.Add({.name = "fx_graph_cache_miss", .payload = payload});
    }
    auto findings = log.Run(Describe());
    ASSERT_EQ(findings.size(), seconds == 5 ? 0u : 1u);
    if (seconds == 20) {
      EXPECT_EQ(findings[0].severity, Severity::kInfo);
    }
  }
}

}  // namespace compile_caches_test
}  // namespace debrief::analyses::compile_caches

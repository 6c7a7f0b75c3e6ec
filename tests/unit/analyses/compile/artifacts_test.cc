// Schedules, estimates, orders and cache answers of logs made by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analyses/compile/artifact_json.h"
#include "analyses/schedule.h"
#include "base/bytes/md5.h"
#include "tables/compile_artifact_count.h"
#include "tables/compile_cache.h"
#include "tables/compile_collective.h"
#include "tables/compile_execution.h"
#include "tables/compile_runtime_op.h"
#include "tables/compile_tensor_meta.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses::compile_artifacts {

const Analysis& Describe();

namespace compile_artifacts_test {

constexpr std::string_view kSchedule = "inductor_collective_schedule";
constexpr std::string_view kRuntime = "inductor_runtime_and_tensor_meta";

std::string Collectives(const Model& model) {
  const auto& table = model.tables.Get<CompileCollectiveTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("{} {} {} {} {}{};", table.rank[i], model.pools.Text(table.compile_id[i]),
                        model.pools.Text(table.graph[i]), table.position[i],
                        model.pools.Text(table.op[i]), table.chosen[i] ? "*" : "");
  }
  return text;
}

std::string Runtimes(const Model& model) {
  const auto& table = model.tables.Get<CompileRuntimeOpTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("{} {} {}{};", model.pools.Text(table.graph[i]),
                        model.pools.Text(table.name[i]), table.estimated_ns[i],
                        table.chosen[i] ? "*" : "");
  }
  return text;
}

std::string Counts(const Model& model) {
  const auto& table = model.tables.Get<CompileArtifactCountTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text +=
        fmt::format("{}: {} {} {} {} {};", table.rank[i], table.schedules[i], table.runtimes[i],
                    table.caches[i], table.order_length[i] == kNone32 ? -1 : table.order_length[i],
                    table.broken[i]);
  }
  return text;
}

TEST(CompileArtifacts, TakesTheFirstScheduleOfAGraphAndKeepsTheOthers) {
  CompileLogBuilder log;
  log.Log(3)
      .Add({.name = kSchedule, .payload = "[\n\"a\",\n\"b\"\n]", .frame_compile = 1})
      .Add({.name = kSchedule, .payload = "[\"c\"]", .frame_compile = 1})
      .Add({.name = kSchedule, .payload = "[\"d\"]", .frame_compile = 1, .attempt = 2});
  EXPECT_TRUE(log.Run(Describe()).empty());
  EXPECT_EQ(Collectives(log.model()),
            "3 0/1 -_0_1_0 0 a*;3 0/1 -_0_1_0 1 b*;3 0/1 -_0_1_0 0 c;3 0/1_2 -_0_1_2 0 d*;");
  EXPECT_EQ(Counts(log.model()), "3: 3 0 0 -1 0;");
}

TEST(CompileArtifacts, ABrokenArtifactCostsItself) {
  CompileLogBuilder log;
  log.Log(0);
  for (std::string_view bad : {"", "[\"a\"", "[1]", "{\"a\": 1}", "[\"a\"] x", "\"a\"", "null"})
    log.Add({.name = kSchedule, .payload = bad});
  for (std::string_view bad : {"", "[]", "{}", "{\"ops\": 1}", "{\"ops\": [{\"name\": \"a\"}]}",
                               "{\"ops\": [{\"name\": 1, \"estimated_runtime_ns\": 1}]}",
                               "{\"ops\": [{\"name\": \"a\", \"estimated_runtime_ns\": NaN}]}",
                               "{\"ops\": [{\"name\": \"a\", \"estimated_runtime_ns\": \"1\"}]}",
                               "{\"ops\": [], \"x\": tru}"})
    log.Add({.name = kRuntime, .payload = bad});
  log.Add({.name = kSchedule, .payload = "[\"good\"]"});
  log.Run(Describe());
  EXPECT_EQ(Collectives(log.model()), "0 0/0 -_0_0_0 0 good*;");
  EXPECT_EQ(Runtimes(log.model()), "");
  EXPECT_EQ(Counts(log.model()), "0: 1 0 0 -1 16;");
}

TEST(CompileArtifacts, WhatIsNotAskedForIsNotTaken) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kSchedule, .payload = "[\"text\"]", .encoding = "string"})
      .Add({.name = kSchedule, .payload = "[\"refused\"]", .state = "refused"})
      .Add({.name = kSchedule, .payload = "[\"graph\"]", .kind = "graph_dump"})
      .Add({.name = "my_inductor_collective_schedule", .payload = "[\"prefixed\"]"})
      .Add({.name = "inductor_collective_schedule_2", .payload = "[\"suffixed\"]"});
  log.Run(Describe());
  EXPECT_EQ(Collectives(log.model()), "0 0/0 -_0_0_0 0 suffixed*;");
}

TEST(CompileArtifacts, ReadsEstimates) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kRuntime,
            .payload =
                "{\"ops\": [\n{\"estimated_runtime_ns\": 0, \"name\": \"a\\\"b\", \"x\": []},"
                "\n{\"name\": \"mm\", \"estimated_runtime_ns\": 12.5}]}"})
      .Add({.name = kRuntime,
            .payload = "{\"ops\": [{\"name\": \"again\", \"estimated_runtime_ns\": 1e3}]}"});
  log.Run(Describe());
  EXPECT_EQ(Runtimes(log.model()), "-_0_0_0 a\"b 0*;-_0_0_0 mm 12.5*;-_0_0_0 again 1000;");
}

TEST(CompileArtifacts, AnEmptyFirstListIsStillTheGraphs) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kSchedule, .payload = "[]"})
      .Add({.name = kSchedule, .payload = "[\"second\"]"});
  log.Run(Describe());
  EXPECT_EQ(Collectives(log.model()), "0 0/0 -_0_0_0 0 second;");
}

TEST(CompileArtifacts, FingerprintsIgnoreOrderAndBlanksAndShapesIgnoreTimes) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = kRuntime,
            .payload = "{\"ops\":[{\"name\":\"a\",\"estimated_runtime_ns\":1.0,\"out\":[4]}]}"})
      .Add({.name = kRuntime,
            .payload = "{ \"ops\" : [\n{\"out\": [4], \"estimated_runtime_ns\": 1.00, \"name\": "
                       "\"a\"}]}",
            .frame = 1})
      .Add({.name = kRuntime,
            .payload = "{\"ops\":[{\"name\":\"a\",\"estimated_runtime_ns\":2.0,\"out\":[4]}]}",
            .frame = 2})
      .Add({.name = kRuntime,
            .payload = "{\"ops\":[{\"name\":\"a\",\"estimated_runtime_ns\":1.0,\"out\":[5]}]}",
            .frame = 3});
  log.Run(Describe());
  const auto& meta = log.model().tables.Get<CompileTensorMetaTable>();
  ASSERT_EQ(meta.size(), 4u);
  EXPECT_EQ(log.model().pools.Text(meta.fingerprint[0]),
            Md5Hex("{\"ops\":[{\"estimated_runtime_ns\":1.0,\"name\":\"a\",\"out\":[4]}]}"));
  EXPECT_EQ(meta.fingerprint[0], meta.fingerprint[1]);
  EXPECT_NE(meta.fingerprint[0], meta.fingerprint[2]);
  EXPECT_EQ(meta.shape_fingerprint[0], meta.shape_fingerprint[2]);
  EXPECT_NE(meta.shape_fingerprint[0], meta.shape_fingerprint[3]);
}

TEST(CompileArtifacts, WithoutEstimatesTouchesNothingElse) {
  EXPECT_EQ(WithoutEstimates(R"({"estimated_runtime_ns":1.5,"name":"a"})"), R"({"name":"a"})");
  EXPECT_EQ(WithoutEstimates(R"({"a":1,"estimated_runtime_ns":1.5})"), R"({"a":1})");
  EXPECT_EQ(WithoutEstimates(R"({"estimated_runtime_ns":null})"), "{}");
  for (std::string_view kept :
       {R"({"estimated_runtime_ns":"1"})", R"({"estimated_runtime_ns":[1,2]})",
        R"({"x\"estimated_runtime_ns":1})", R"(["\"estimated_runtime_ns\":1"])",
        R"({"a":"estimated_runtime_ns"})", R"(["estimated_runtime_ns"])"})
    EXPECT_EQ(WithoutEstimates(kept), kept);
}

TEST(CompileArtifacts, TheLastExecutionOrderCounts) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = "graph_execution", .payload = "{\"graph_execution_order\": [\"9/9\"]}"})
      .Add({.name = "inductor_graph_execution_order",
            .payload = "{\"graph_execution_order\": [\"0/0\", {\"compile_id\": \"0/1\", \"x\": 1}, "
                       "3, {\"y\": \"0/2\"}]}"});
  log.Log(1)
      .Add({.name = "graph_execution", .payload = "{\"graph_execution_order\": [\"9/9\"]}"})
      .Add({.name = "graph_execution", .payload = "{\"graph\": \"graph_0\"}"});
  log.Run(Describe());
  const auto& table = log.model().tables.Get<CompileExecutionTable>();
  std::string order;
  for (size_t i = 0; i < table.size(); ++i) {
    order += fmt::format("{} {} {};", table.rank[i], table.position[i],
                         log.model().pools.Text(table.executed[i]));
  }
  EXPECT_EQ(order, "0 0 0/0;0 1 0/1;");
  EXPECT_EQ(Counts(log.model()), "0: 0 0 0 2 0;1: 0 0 0 -1 1;");
}

TEST(CompileArtifacts, CachesAreKnownByNameAlone) {
  CompileLogBuilder log;
  log.Log(0)
      .Add({.name = "fx_graph_cache_miss"})
      .Add({.name = "aotautograd_cache_bypass", .encoding = "string", .state = "read"})
      .Add({.name = "fx_graph_cache_hash"})
      .Add({.name = "fx_graph_cache_hit", .frame = 2})
      .Add({.name = "cache_hit_after_cache_miss"})
      .Add({.name = "fx_graph_cache_hit", .encoding = "unknown"});
  // The source is not needed: names tell.
  Model& model = log.model();
  AnalysisResult result;
  ASSERT_TRUE(RunDeclared(Describe(), model, result).ok());
  const auto& table = result.part.tables.Get<CompileCacheTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("{} {} {} {};", result.part.pools.Text(table.graph[i]),
                        result.part.pools.Text(table.cache[i]),
                        result.part.pools.Text(table.status[i]), table.position[i]);
  }
  EXPECT_EQ(text,
            "-_0_0_0 fx_graph_cache miss 0;-_0_0_0 aotautograd_cache bypass 1;"
            "-_2_0_0 fx_graph_cache hit 2;-_0_0_0 cache_hit_after_cache miss 3;");
}

}  // namespace compile_artifacts_test
}  // namespace debrief::analyses::compile_artifacts

// The TORCH_TRACE reader on logs made by hand: docs/formats/torch_trace.md row by row. Each log is
// read in one range and in many; the result must be the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes/md5.h"
#include "inputs/import.h"
#include "inputs/torch_trace/envelope.h"
#include "inputs/torch_trace/kind.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_event.h"
#include "tables/compile_life.h"
#include "tables/compile_log.h"
#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"
#include "tables/compile_string.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace torch_trace_test {

using inputs::torch_trace::AllKinds;
using inputs::torch_trace::LoggedId;
using testing::FindImporter;

std::string Line(std::string_view json, int thread = 425) {
  return fmt::format("V1115 02:33:12.159000 {} torch/x.py:7] {}\n", thread, json);
}

// An entry with its payload and the right checksum; `fields` without braces.
std::string Entry(std::string_view fields, std::string_view payload, int thread = 425) {
  std::string text =
      Line(fmt::format("{{{}, \"has_payload\": \"{}\"}}", fields, Md5Hex(payload)), thread);
  text += '\t';
  for (char c : payload) text += c == '\n' ? std::string("\n\t") : std::string(1, c);
  return text + "\n";
}

class TorchTrace : public ::testing::Test {
 protected:
  void Read(std::string text, int32_t rank = kNone32) {
    log_ = std::move(text);
    Import(model_, rank, 1 << 20);
    for (uint64_t chunk : {1u, 7u, 100u}) {
      Model other;
      Import(other, rank, chunk);
      EXPECT_EQ(Rows(other), Rows(model_)) << "chunks of " << chunk;
      EXPECT_EQ(Trouble(other), Trouble(model_)) << "chunks of " << chunk;
    }
  }

  void Import(Model& model, int32_t rank, uint64_t chunk) {
    ImportContext context{.who = {.input = 0, .job = 1, .attempt = 2, .rank = rank},
                          .path = "x",
                          .chunk_bytes = chunk,
                          .now_ns = 1'800'000'000'000'000'000};  // January 2027
    auto reader = FindImporter("torch_trace")->open(context);
    model.sources.push_back(MakeMemorySource(log_));
    ThreadPool pool(1);
    Status status = ImportSource(*reader, *model.sources[0], pool, model);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  static std::string Rows(const Model& model) {
    const auto& e = model.tables.Get<CompileEntryTable>();
    std::string text, payload;
    for (size_t i = 0; i < e.size(); ++i) {
      EXPECT_TRUE(ReadPayload(model, e, i, payload).ok());
      text +=
          fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}\n", e.line[i], model.pools.Text(e.kind[i]),
                      model.pools.Text(e.state[i]), model.pools.Text(e.compile_id[i]), e.rank[i],
                      e.life[i], e.payload_ok[i], payload, model.pools.GetStack(e.stack[i]).size());
    }
    return text;
  }

  static std::string Trouble(const Model& model) {
    std::string text;
    for (const Diagnostic& each : model.diagnostics.all()) {
      text += fmt::format("{} {} {};", each.kind->name, each.count,
                          each.first.empty() ? -1 : each.first[0].line);
    }
    return text;
  }

  const CompileEntryTable& entries() const { return model_.tables.Get<CompileEntryTable>(); }
  const CompileLogTable& log() const { return model_.tables.Get<CompileLogTable>(); }
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }
  std::string Payload(size_t row) const {
    std::string payload;
    EXPECT_TRUE(ReadPayload(model_, entries(), row, payload).ok());
    return payload;
  }

  std::string log_;
  Model model_;
};

TEST(CompileId, EveryForm) {
  EXPECT_EQ((LoggedId{.frame = 0, .frame_compile = 0, .attempt = 0}).Text(), "0/0");
  EXPECT_EQ((LoggedId{.frame = 0, .frame_compile = 0}).Text(), "0/0");
  EXPECT_EQ((LoggedId{.frame = 0, .frame_compile = 0, .attempt = 1}).Text(), "0/0_1");
  EXPECT_EQ((LoggedId{.autograd = 3, .frame = 1, .frame_compile = 2, .attempt = 1}).Text(),
            "!3/1/2_1");
  EXPECT_EQ((LoggedId{.autograd = 3}).Text(), "!3/-/-");
  EXPECT_EQ(LoggedId{}.Text(), "-/-");
  EXPECT_EQ((LoggedId{.frame = 0}).Text(), "0/-");
  EXPECT_EQ((LoggedId{.broken = true}).Text(), "");
}

TEST(Kinds, AreFoundByTheirKeysAndSayWhatTheyAre) {
  EXPECT_GT(AllKinds().size(), 35u);
  for (const auto* kind : AllKinds()) {
    EXPECT_FALSE(kind->sentence.empty()) << kind->key;
    EXPECT_EQ(inputs::torch_trace::FindKind(kind->key), kind);
  }
  EXPECT_EQ(inputs::torch_trace::FindKind("no_such_kind"), nullptr);
}

TEST_F(TorchTrace, PayloadWithItsChecksum) {
  Read(
      Entry("\"dynamo_output_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 1, \"attempt\": 0",
            "line 1\n\nline 3\n"));
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_EQ(Payload(0), "line 1\n\nline 3\n");
  EXPECT_TRUE(entries().payload_ok[0]);
  EXPECT_EQ(Text(entries().compile_id[0]), "0/1");
  EXPECT_EQ(Text(entries().file[0]), "dynamo_output_graph.txt");
  EXPECT_EQ(Trouble(model_), "");
}

TEST_F(TorchTrace, CarriageReturnsAndEmptyLinesAreNoPartOfIt) {
  std::string log = Entry("\"dynamo_output_graph\": {}", "a\nb");
  std::string crlf;
  for (char c : log) crlf += c == '\n' ? std::string("\r\n\r\n") : std::string(1, c);
  Read(crlf);
  EXPECT_EQ(Payload(0), "a\nb");
  EXPECT_EQ(Trouble(model_), "");
}

TEST_F(TorchTrace, CutInThePayload) {
  std::string log = Entry("\"dynamo_output_graph\": {}", "a\nb\nc");
  Read(log.substr(0, log.find("\tc")));
  EXPECT_EQ(Payload(0), "a\nb");
  EXPECT_EQ(Trouble(model_), "torch_trace.bad_checksum 1 1;");
}

TEST_F(TorchTrace, LinesThatAreNoEntries) {
  Read("hello\n" + Line("{\"link\": {\"name\": \"n\", \"url\": \"u\"}}") + "\tloose\n\tloose\n");
  EXPECT_EQ(log().bad_prefix[0], 3);
  EXPECT_EQ(log().lines[0], 4);
  EXPECT_EQ(Trouble(model_), "torch_trace.no_prefix 3 1;");
}

TEST_F(TorchTrace, APayloadIsNeverAnEntry) {
  Read(Line("{\"artifact\": 3, \"has_payload\": \"x\"}") + "\t" +
       Line("{\"link\": {\"name\": \"n\", \"url\": \"u\"}}"));
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_EQ(Text(entries().state[0]), "refused");
}

TEST_F(TorchTrace, BrokenJsonCostsItself) {
  for (const char* bad :
       {"{\"a\": NaN}", "{\"a\": \"\\ud800\"}", "{\"a\": 1", "[1]", "{\"a\" 1}"}) {
    model_ = Model();
    Read(Line(bad) + Line("{\"dynamo_start\": {}}"));
    EXPECT_EQ(log().bad_json[0], 1) << bad;
    EXPECT_EQ(log().bad_json_lost[0], 1) << bad;
    EXPECT_EQ(entries().size(), 1u) << bad;
  }
}

TEST_F(TorchTrace, WrongFieldsRefuseTheEntryAndLeaveNoRows) {
  for (const char* bad :
       {R"({"artifact": {"name": "x"}})", R"({"artifact": {"name": 3, "encoding": "json"}})",
        R"({"rank": -1})", R"({"rank": 1, "rank": 2})", R"({"str": ["x"]})", R"({"link": 3})",
        R"({"describe_storage": {"id": 1.5, "describer_id": 0, "size": 1}})",
        R"({"dynamo_start": {"stack": [{"line": 1, "name": "f"}]}})",
        R"({"compilation_metrics": {"restart_reasons": ["a", 3]}})",
        R"({"dynamo_start": {}, "dynamo_start": {}})"}) {
    model_ = Model();
    Read(Line(bad));
    EXPECT_EQ(log().bad_json[0], 1) << bad;
    EXPECT_EQ(log().bad_json_lost[0], 0) << bad;
    EXPECT_EQ(Text(entries().state[0]), "refused") << bad;
    EXPECT_EQ(model_.tables.Get<CompileRestartTable>().size(), 0u) << bad;
  }
}

TEST_F(TorchTrace, NullIsAbsent) {
  Read(
      Line(R"({"compilation_metrics": {"co_name": null, "restart_reasons": null}, "rank": null})"));
  ASSERT_EQ(model_.tables.Get<CompileMetricsTable>().size(), 1u);
  EXPECT_EQ(model_.tables.Get<CompileMetricsTable>().restart_reasons[0], kNone32);
  EXPECT_EQ(Text(entries().compile_id[0]), "-/-");
}

TEST_F(TorchTrace, ABrokenIdLosesTheCompilationOnly) {
  Read(Line(R"({"dynamo_start": {}, "frame_id": "x"})"));
  EXPECT_EQ(entries().compile_id[0], StringId::kNone);
  EXPECT_EQ(Text(entries().state[0]), "read");
}

TEST_F(TorchTrace, UnknownKeysAreKept) {
  Read(Line(R"({"brand_new": {"x": 1}, "dynamo_start": {}, "rank": 0})") +
       Line(R"({"brand_new": 1})"));
  ASSERT_EQ(entries().size(), 3u);
  EXPECT_EQ(Text(entries().kind[1]), "brand_new");
  EXPECT_EQ(Text(entries().state[1]), "unknown");
  EXPECT_EQ(entries().entry[0], entries().entry[1]) << "one entry, two rows";
  EXPECT_EQ(log().unknown_keys[0], 2);
}

TEST_F(TorchTrace, BytesThatAreNoText) {
  Read(Line("{\"link\": {\"name\": \"a\xff\", \"url\": \"u\"}}"));
  EXPECT_EQ(Text(entries().name[0]), "a\xef\xbf\xbd");
  EXPECT_EQ(Trouble(model_), "torch_trace.not_utf8 1 1;");
}

TEST_F(TorchTrace, FramesUseTheStringTable) {
  Read(Line(R"({"str": ["train.py", 0]})") +
       Line("{\"dynamo_start\": {\"stack\": ["
            R"x({"line": 1, "name": "main", "filename": 0, "loc": "f()"},)x"
            R"x({"line": 2, "name": "f", "filename": 9},)x"
            R"x({"line": 3, "name": "g", "filename": 0, "uninterned_filename": "own.py"}]}})x"));
  auto stack = model_.pools.GetStack(entries().stack[0]);
  ASSERT_EQ(stack.size(), 3u);
  const Frame& outer = model_.pools.GetFrame(stack[2]);
  EXPECT_EQ(Text(outer.file), "train.py") << "innermost first";
  EXPECT_EQ(Text(outer.function), "main");
  EXPECT_EQ(Text(outer.text), "f()");
  EXPECT_EQ(Text(model_.pools.GetFrame(stack[1]).file), "(unknown)");
  EXPECT_EQ(Text(model_.pools.GetFrame(stack[0]).file), "own.py");
}

TEST_F(TorchTrace, EachRankHasItsOwnStrings) {
  auto start =
      R"({"dynamo_start": {"stack": [{"line": 1, "name": "f", "filename": 0}]}, "rank": %})";
  auto of = [&](int rank) {
    std::string text = start;
    return text.replace(text.find('%'), 1, std::to_string(rank));
  };
  Read(Line(R"({"dynamo_start": {}, "rank": 0})", 10) +
       Line(R"({"dynamo_start": {}, "rank": 1})", 11) + Line(R"({"str": ["zero.py", 0]})", 10) +
       Line(R"({"str": ["one.py", 0]})", 11) + Line(of(0), 10) + Line(of(1), 11));
  auto file = [&](size_t row) {
    return Text(model_.pools.GetFrame(model_.pools.GetStack(entries().stack[row])[0]).file);
  };
  EXPECT_EQ(file(2), "zero.py");
  EXPECT_EQ(file(3), "one.py");
  EXPECT_EQ(log().lives[0], 1);
}

TEST_F(TorchTrace, WhatAThreadSaysBeforeItNamesItsRank) {
  Read(Line(R"({"str": ["a.py", 0]})", 10) + Line(R"({"dynamo_start": {}})", 10) +
       Line(R"({"dynamo_start": {}, "rank": 3})", 10) +
       Line(R"({"dynamo_start": {}, "rank": 4})", 11));
  EXPECT_EQ(model_.tables.Get<CompileStringTable>().rank[0], 3);
  EXPECT_EQ(entries().rank[0], 3);
}

TEST_F(TorchTrace, AbsurdIndexOfTheStringTable) {
  Read(Line(R"({"str": ["x", 4000000000]})"));
  EXPECT_EQ(Trouble(model_), "torch_trace.string_index 1 -1;");
}

TEST_F(TorchTrace, ASecondProcessIsASecondLife) {
  std::string start = R"({"dynamo_start": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0})";
  std::string metrics =
      R"({"compilation_metrics": {"fail_type": "E"}, "frame_id": 0, "frame_compile_id": 0})";
  Read(Line(start, 1) + Line(R"({"str": ["a", 0]})", 1) + Line(metrics, 1) +  //
       Line(start, 2) + Line(R"({"str": ["a", 0]})", 2));
  const auto& lives = model_.tables.Get<CompileLifeTable>();
  ASSERT_EQ(lives.size(), 2u);
  EXPECT_EQ(Text(lives.outcome[0]), "failed");
  EXPECT_EQ(Text(lives.outcome[1]), "unfinished");
  EXPECT_EQ(entries().life[2], 1) << "the entry before the first string belongs to the new process";
}

TEST_F(TorchTrace, EventsTellYearAndZone) {
  // 02:33:12 on 15 November is 2026-11-15T00:33:12Z in the event: the zone is two hours east.
  Read(Entry("\"chromium_event\": {}",
             R"({"name": "dynamo", "ph": "B", "ts": 1794702792159000.0})"));
  EXPECT_EQ(entries().time_ns[0], 1'794'702'792'159'000'000);
  EXPECT_EQ(model_.tables.Get<CompileEventTable>().time_ns[0], 1'794'702'792'159'000'000);
}

TEST_F(TorchTrace, AFileOfOneRankIsThatRanks) {
  Read(Line(R"({"dynamo_start": {}, "rank": 1})") + Line(R"({"dynamo_start": {}, "rank": 7})"), 5);
  EXPECT_EQ(entries().logged_rank[0], 1);
  EXPECT_EQ(entries().rank[0], 5) << "the file is rank 5's, whatever the entries say";
  EXPECT_EQ(entries().rank[1], 7) << "another rank in it is another rank";
}

TEST_F(TorchTrace, MixedRanksAreTakenApart) {
  std::string a = Entry("\"dynamo_output_graph\": {}, \"rank\": 0", "a1\na2\na3", 10);
  std::string b = Entry("\"dynamo_output_graph\": {}, \"rank\": 1", "b1\nb2", 11);
  auto line = [](const std::string& text, size_t n) {
    size_t at = 0;
    while (n-- > 0) at = text.find('\n', at) + 1;
    return text.substr(at, text.find('\n', at) + 1 - at);
  };
  Read(line(a, 0) + line(b, 0) + line(a, 1) + line(b, 1) + line(a, 2) + line(a, 3) + line(b, 2));
  EXPECT_EQ(Payload(0), "a1\na2\na3");
  EXPECT_EQ(Payload(1), "b1\nb2");
  EXPECT_EQ(log().restored[0], 2);
  EXPECT_EQ(log().bad_checksum[0], 0);
  EXPECT_EQ(Trouble(model_), "");
}

}  // namespace torch_trace_test
}  // namespace debrief

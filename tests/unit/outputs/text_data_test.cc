#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "base/bytes/md5.h"
#include "base/text/strings.h"
#include "outputs/report/html/compile/texts.h"
#include "outputs/report/html/table_islands.h"
#include "tables/compilation.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"
#include "tables/provenance_line.h"

namespace debrief::outputs::html {

namespace text_data_test {

using Made = std::map<std::string, std::string, std::less<>>;

// A log in memory; every text becomes an entry with a payload.
struct TextFixture {
  Model model;
  std::string log;

  TextFixture() {
    CompileLogRow row;
    row.input = 0;
    model.tables.Edit<CompileLogTable>().Add(row);
  }

  CompileEntryRow Entry(std::string_view kind, std::string_view id, std::string_view text,
                        int32_t rank = 0) {
    CompileEntryRow row;
    row.input = 0;
    row.job = 0;
    row.rank = rank;
    row.life = 0;
    row.entry = static_cast<int64_t>(log.size());
    row.kind = model.pools.Intern(kind);
    row.form = model.pools.Intern("text");
    row.compile_id = model.pools.Intern(id);
    row.payload_offset = static_cast<int64_t>(log.size());
    row.payload_md5 = model.pools.Intern(Md5Hex(text));
    row.payload_ok = true;
    log += '\t';
    for (const char c : text) log += c == '\n' ? "\n\t" : std::string(1, c);
    log += '\n';
    row.payload_bytes = static_cast<int64_t>(log.size()) - row.payload_offset;
    return row;
  }

  void Add(std::string_view kind, std::string_view id, std::string_view text, int32_t rank = 0) {
    Put(Entry(kind, id, text, rank));
  }
  void Put(const CompileEntryRow& row) { model.tables.Edit<CompileEntryTable>().Add(row); }

  void AddCompilation(std::string_view id, std::string_view outcome) {
    CompilationRow row;
    row.input = 0;
    row.rank = 0;
    row.life = 0;
    row.number = 0;
    row.compile_id = model.pools.Intern(id);
    row.outcome = model.pools.Intern(outcome);
    model.tables.Edit<CompilationTable>().Add(row);
  }

  Made Write(const TextLimits& limits = {}) {
    model.sources.clear();
    model.sources.push_back(MakeMemorySource(log));
    Made made;
    const Status status =
        WriteTexts(model, limits, [&](std::string_view name, std::string_view bytes) -> Status {
          EXPECT_TRUE(made.emplace(name, bytes).second) << name;
          return {};
        });
    EXPECT_TRUE(status.ok());
    return made;
  }
};

TEST(TextData, NothingWithoutCompileLogs) {
  Model model;
  const Status status =
      WriteTexts(model, {}, [](std::string_view name, std::string_view) -> Status {
        ADD_FAILURE() << name;
        return {};
      });
  EXPECT_TRUE(status.ok());
}

TEST(TextData, ALogWithoutTextsHasAnIndex) {
  TextFixture fixture;
  const Made made = fixture.Write();
  ASSERT_EQ(made.size(), 1u);
  EXPECT_TRUE(Contains(made.at("texts"), "\"compilations\":[]")) << made.at("texts");
}

TEST(TextData, TextsWithoutTabsAndWhereTheyLie) {
  TextFixture fixture;
  fixture.Add("dynamo_output_graph", "0/0", "first\n  second");
  fixture.Add("aot_joint_graph", "0/0_1", "third");
  const Made made = fixture.Write();
  EXPECT_EQ(made.at("text/0"), "first\n  secondthird");
  const std::string& index = made.at("texts");
  EXPECT_TRUE(Contains(index, "\"texts\":[[0,0,14,2,0],[0,14,5,1,0]]")) << index;
  EXPECT_TRUE(Contains(index, "\"kinds\":[\"dynamo_output_graph\",\"aot_joint_graph\"]")) << index;
  EXPECT_TRUE(Contains(index, "\"input\":0,\"rank\":0,\"life\":0,\"id\":\"0/0\"")) << index;
  EXPECT_FALSE(Contains(index, "0/0_1")) << index;  // an attempt is no compilation of its own
}

TEST(TextData, EqualTextsAreStoredOnce) {
  TextFixture fixture;
  for (const int32_t rank : {0, 1, 2}) fixture.Add("dynamo_output_graph", "0/0", "same", rank);
  const Made made = fixture.Write();
  EXPECT_EQ(made.at("text/0"), "same");
  EXPECT_TRUE(Contains(made.at("texts"), "\"rank\":2")) << made.at("texts");
}

TEST(TextData, AChecksumThatDoesNotHoldProvesNothing) {
  TextFixture fixture;
  fixture.Add("dynamo_output_graph", "0/0", "one");
  CompileEntryRow lie = fixture.Entry("dynamo_output_graph", "0/0", "two", 1);
  lie.payload_md5 = fixture.model.pools.Intern(Md5Hex("one"));
  lie.payload_ok = false;
  fixture.Put(lie);
  EXPECT_EQ(fixture.Write().at("text/0"), "onetwo");
}

TEST(TextData, EventsAreNoTexts) {
  TextFixture fixture;
  fixture.Add("chromium_event", "0/0", "{}");
  EXPECT_EQ(fixture.Write().count("text/0"), 0u);
}

TEST(TextData, ALongTextIsCutAtACharacterAndTold) {
  TextFixture fixture;
  fixture.Add("dynamo_output_graph", "0/0", "abc\u00e9\u00e9\u00e9\u00e9");
  TextLimits limits;
  limits.one = 5;  // a tab, three letters and half a character
  const Made made = fixture.Write(limits);
  EXPECT_EQ(made.at("text/0"), "abc");
  EXPECT_TRUE(Contains(made.at("texts"), "\"texts\":[[0,0,3,1,13]]")) << made.at("texts");
}

TEST(TextData, IslandsAreFilledOneAfterTheOther) {
  TextFixture fixture;
  for (int i = 0; i < 10; ++i) fixture.Add("a", "0/0", fmt::format("text {}", i));
  TextLimits limits;
  limits.chunk = 12;  // two texts reach it
  const Made made = fixture.Write(limits);
  EXPECT_EQ(made.at("text/0"), "text 0text 1");
  EXPECT_EQ(made.at("text/4"), "text 8text 9");
  EXPECT_EQ(made.count("text/5"), 0u);
}

TEST(TextData, WhatFailedComesFirstThenWhatIsSmall) {
  TextFixture fixture;
  fixture.Add("a", "0/0", std::string(50, 'a'));
  fixture.Add("a", "0/0", std::string(20, 'b'));
  fixture.Add("a", "1/0", std::string(60, 'c'));
  fixture.AddCompilation("1/0", "failed");
  fixture.AddCompilation("0/0", "ok");
  TextLimits limits;
  limits.important = 70;
  limits.all = 90;  // c and b, with their tabs and line ends
  const Made made = fixture.Write(limits);
  EXPECT_EQ(made.at("text/0"), std::string(20, 'b') + std::string(60, 'c'));
  EXPECT_TRUE(Contains(made.at("texts"), "\"left_out\":1,\"left_out_bytes\":52"))
      << made.at("texts");
  EXPECT_TRUE(Contains(made.at("texts"), ",52,-1]")) << made.at("texts");
}

TEST(TextData, ALogThatShrankLosesItsTextsOnly) {
  TextFixture fixture;
  fixture.Add("a", "0/0", "here");
  CompileEntryRow gone = fixture.Entry("a", "0/1", "gone");
  gone.input = 7;  // nothing was opened
  fixture.Put(gone);
  const Made made = fixture.Write();
  EXPECT_EQ(made.at("text/0"), "here");
  EXPECT_TRUE(Contains(made.at("texts"), "\"left_out\":1")) << made.at("texts");
}

TEST(TextData, HostileNamesAreCutAndEscaped) {
  TextFixture fixture;
  CompileEntryRow row = fixture.Entry("artifact", "0/0", "x");
  row.name = fixture.model.pools.Intern("</script>" + std::string(100'000, 'n'));
  fixture.Put(row);
  const std::string index = fixture.Write().at("texts");
  EXPECT_LT(index.size(), 2000u);
  EXPECT_FALSE(Contains(index, "</script>"));
}

TEST(TextData, TheIndexIsBounded) {
  TextFixture fixture;
  for (int i = 0; i < 10; ++i) fixture.Add("a", "0/0", fmt::format("text {}", i));
  TextLimits limits;
  limits.artifacts = 4;
  const Made made = fixture.Write(limits);
  EXPECT_EQ(made.at("text/0"), "text 0text 1text 2text 3");
  EXPECT_TRUE(Contains(made.at("texts"), "\"left_out\":6")) << made.at("texts");
}

TEST(TextData, StacksOfStartsByCompilation) {
  TextFixture fixture;
  Pools& pools = fixture.model.pools;
  const FrameId frame = pools.AddFrame(
      {pools.Intern("train.py"), pools.Intern("step"), 52, pools.Intern("loss = model(x)")});
  CompileEntryRow row = fixture.Entry("dynamo_start", "3/0", "");
  row.payload_bytes = 0;
  row.stack = pools.AddStack(std::vector<FrameId>{frame, frame});
  fixture.Put(row);
  const std::string index = fixture.Write().at("texts");
  EXPECT_TRUE(Contains(index, "\"frames\":[[\"train.py\",52,\"step\",\"loss = model(x)\"]]"))
      << index;
  EXPECT_TRUE(Contains(index, "\"stacks\":{\"0:0:0:3/0\":[0,0]}")) << index;
}

TEST(TextData, LineMapsAreTables) {
  TextFixture fixture;
  ProvenanceLineRow row;
  row.input = 0;
  row.line = 12;
  fixture.model.tables.Edit<ProvenanceLineTable>().Add(row);
  EXPECT_TRUE(
      Contains(TablesJson(fixture.model, "provenance"), "\"provenance_line\":{\"total\":1"));
}

}  // namespace text_data_test
}  // namespace debrief::outputs::html

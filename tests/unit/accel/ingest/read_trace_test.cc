#include "accel/ingest/read_trace.h"

#include <gtest/gtest.h>

#include "accel/ingest/input_list.h"
#include "accel/ingest/metadata.h"
#include "unit/accel/fixture.h"

namespace debrief::accel {
namespace read_trace_test {

TEST(ReadTrace, KeepsGoodEventsOfABrokenFile) {
  Fixture fixture;
  const EventList events = fixture.Read(
      R"([{"name": "a", "ph": "X", "pid": 0, "ts": 1, "dur": 2}, {"name": "b", "ph": }, 7,
          {"name": "c", "ts": 1}, {"name": "d", "ph": "X", "pid": 0, "ts": "10.5", "dur": NaN},
          {"name": "e", "ph": "X", "pid": 0, "ts": "10.5", "dur": "5.5"}, {"name": "f", "ph": "X")");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(fixture.Name(events[0]), "a");
  EXPECT_EQ(fixture.Name(events[1]), "e");
  EXPECT_EQ(events[1].ts, 10.5);
  EXPECT_EQ(events[1].dur, 5.5);
  EXPECT_TRUE(fixture.file.is_cut);
  fixture.file.trouble.Log("x.json", fixture.console);
  EXPECT_TRUE(fixture.console.Has("is no JSON (the first at byte"));
  EXPECT_TRUE(fixture.console.Has("is no object"));
  EXPECT_TRUE(fixture.console.Has("has no phase"));
  EXPECT_TRUE(fixture.console.Has("duration (`dur`) that is no number"));
}

TEST(ReadTrace, TellsArgumentsOfThreePlacesApart) {
  Fixture fixture;
  const EventList events = fixture.Read(
      R"([{"name": "a", "ph": "X", "pid": 0, "tid": 15514734831341844875, "ts": 1, "dur": 2, "comment": "c",
           "args": {"TS1": 1, "dims": [[1, 2]]}, "attr": {"TS1": "0x10"}}])");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].Find(key::kTS1)->value(), Value::Integer(1));
  EXPECT_EQ(events[0].Find(key::kTS1, ArgPlace::kAttr)->value(), Value::HexText(16));
  EXPECT_TRUE(events[0].Has(fixture.run.Intern("comment"), ArgPlace::kTop));
  EXPECT_EQ(events[0].Find(fixture.run.Intern("dims"))->kind, ValueKind::kJson);
  EXPECT_EQ(events[0].tid.AsText(fixture.run.strings), "15514734831341844875");
}

TEST(FoldPairs, PairsByThreadAndName) {
  Fixture fixture;
  const EventList events = fixture.Read(
      R"([{"name": "o", "ph": "B", "pid": 0, "tid": 1, "ts": 1}, {"name": "i", "ph": "B", "pid": 0, "tid": 1, "ts": 2},
          {"name": "i", "ph": "B", "pid": 0, "tid": 2, "ts": 2}, {"name": "i", "ph": "E", "pid": 0, "tid": 1, "ts": 3},
          {"ph": "E", "pid": 0, "tid": 2, "ts": 9}, {"name": "o", "ph": "E", "pid": 0, "tid": 1, "ts": 4},
          {"name": "x", "ph": "E", "pid": 0, "tid": 1, "ts": 5}, {"name": "open", "ph": "B", "pid": 0, "tid": 1, "ts": 6}])");
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].dur, 3);
  EXPECT_EQ(events[1].dur, 1);
  EXPECT_EQ(events[2].dur, 7);
  EXPECT_EQ(events[3].dur, 3);  // until the last time
  EXPECT_EQ(fixture.ArgText(events[3], fixture.run.Intern("unfinished")), "True");
  fixture.file.trouble.Log("x.json", fixture.console);
  EXPECT_TRUE(fixture.console.Has("ends what did not begin"));
}

TEST(FoldPairs, CompatLeavesOpenOnesOut) {
  Fixture fixture({.compat = true});
  EXPECT_TRUE(fixture.Read(R"([{"name": "o", "ph": "B", "pid": 0, "tid": 1, "ts": 1}])").empty());
}

TEST(Metadata, FactsOfAFile) {
  const FileFacts facts = FactsOf({{"deviceProperties", R"([{"id": 0, "name": "a"}, {"id": 1}])"},
                                   {"distributedInfo", R"({"backend": "gloo", "rank": 3})"},
                                   {"otherData", R"({"Application": "Acelyzer: x"})"}});
  EXPECT_EQ(facts.devices.size(), 2u);
  EXPECT_EQ(facts.rank, 3);
  EXPECT_TRUE(facts.is_own_output);
  Metadata all;
  all.AddDevices(facts.devices);
  all.AddDevices(facts.devices);
  EXPECT_EQ(all.devices.size(), 2u) << "an id comes once";
  all.AddMembers({{"a", "1"}, {"b", "2"}, {"otherData", "{}"}});
  all.AddMembers({{"a", "3"}});
  EXPECT_EQ(all.members, (JsonMembers{{"a", "3"}, {"b", "2"}}));
}

TEST(InputList, NamesThatAreNotThere) {
  EXPECT_EQ(FindFiles("no_such_a.json, 'no such b.json'", false).unmatched,
            (std::vector<std::string>{"no_such_a.json", "no such b.json"}));
  EXPECT_EQ(FindFiles("'no such'", true).unmatched, (std::vector<std::string>{"'no", "such'"}));
  EXPECT_TRUE(FindFiles("", false).files.empty());
  EXPECT_TRUE(FindFiles(",,", true).unmatched.empty());
}

}  // namespace read_trace_test
}  // namespace debrief::accel

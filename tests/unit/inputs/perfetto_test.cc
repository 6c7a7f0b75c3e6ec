// Perfetto traces: packets in, rows out. Traces are made here byte by byte; the round trip through
// our own writer is in outputs/perfetto_test.cc.
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>

#include <bit>
#include <cstring>

#include "inputs/perfetto/clocks.h"
#include "inputs/perfetto/packet_stream.h"
#include "tables/timeline.h"
#include "tables/timeline_args.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_process.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_track.h"
#include "unit/inputs/input_helpers.h"
#include "unit/inputs/perfetto_bytes.h"

namespace debrief {
namespace perfetto_test {

using testing::Begin;
using testing::Bytes;
using testing::End;
using testing::Fixed;
using testing::Int;
using testing::Trace;

Part Import(std::string bytes, uint64_t chunk_bytes = 1 << 20, bool keeps_args = false) {
  const Importer* importer = testing::FindImporter("perfetto");
  const auto source = MakeMemorySource(std::move(bytes));
  const auto reader = importer->open({.who = {.input = 0, .job = 0},
                                      .path = "x",
                                      .chunk_bytes = chunk_bytes,
                                      .keeps_args = keeps_args});
  Part whole;
  const auto ranges = reader->Split(*source);
  for (const ByteRange& range : ranges.value()) {
    Part part;
    EXPECT_TRUE(reader->Read(*source, range, part).ok());
    EXPECT_TRUE(reader->Merge(std::move(part), whole).ok());
  }
  EXPECT_TRUE(reader->Finish(whole).ok());
  return whole;
}

// "name start+duration" of every slice, and the trouble.
std::string Describe(const Part& part) {
  const auto& slices = part.tables.Get<TimelineSliceTable>();
  std::string text;
  for (size_t i = 0; i < slices.size(); ++i) {
    text += std::string(part.pools.Text(slices.name[i])) + " " +
            std::to_string(slices.start_ns[i]) + "+" + std::to_string(slices.duration_ns[i]) + "\n";
  }
  for (const Diagnostic& each : part.diagnostics.all())
    text += std::string(each.kind->name) + " " + std::to_string(each.count) + "\n";
  return text;
}

const std::string kThread =
    Bytes(60, Int(1, 7) + Bytes(4, Int(1, 100) + Int(2, 101) + Bytes(5, "main")));

TEST(Perfetto, SlicesNestAndThreadsAreKnown) {
  const Part part = Import(
      Trace({kThread, Begin(10, 7, "outer"), Begin(20, 7, "inner"), End(25, 7), End(50, 7)}));
  EXPECT_EQ(Describe(part), "outer 10+40\ninner 20+5\n");
  const auto& slices = part.tables.Get<TimelineSliceTable>();
  EXPECT_EQ(slices.parent[1], 0);
  const auto& tracks = part.tables.Get<TimelineTrackTable>();
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(part.pools.Text(tracks.tid[0]), "101");
  EXPECT_EQ(part.pools.Text(tracks.name[0]), "main");
  EXPECT_EQ(part.pools.Text(tracks.kind[0]), "thread");
  EXPECT_EQ(part.pools.Text(part.tables.Get<TimelineProcessTable>().pid[0]), "100");
}

TEST(Perfetto, EveryWindowGivesTheSame) {
  const std::string trace =
      Trace({kThread, Begin(10, 7, "outer"), Begin(20, 7, "inner"), End(25, 7), End(50, 7)});
  for (uint64_t chunk : {1U, 7U, 100U})
    EXPECT_EQ(Describe(Import(trace, chunk)), Describe(Import(trace)));
}

TEST(Perfetto, EventsOutOfOrderPairByTime) {
  const Part part =
      Import(Trace({Begin(20, 7, "inner"), End(25, 7), Begin(10, 7, "outer"), End(50, 7)}));
  EXPECT_EQ(Describe(part), "outer 10+40\ninner 20+5\n");
}

TEST(Perfetto, BeginsAndEndsWithoutPartnersAreTold) {
  const Part part = Import(Trace({End(5, 7), Begin(10, 7, "open"), Begin(20, 8, "x"), End(90, 8)}));
  EXPECT_EQ(Describe(part),
            "open 10+80\nx 20+70\nperfetto.never_ended 1\nperfetto.never_begun 1\n");
}

TEST(Perfetto, NamesAreInternedPerSequenceAndForgotten) {
  auto named = [](uint64_t time, uint64_t sequence, uint64_t flags, const std::string& interned) {
    return Int(8, time) + Int(10, sequence) + Int(13, flags) +
           (interned.empty() ? "" : Bytes(12, Bytes(2, Int(1, 1) + Bytes(2, interned)))) +
           Bytes(11, Int(9, 3) + Int(10, 1) + Int(11, 7));
  };
  const Part part =
      Import(Trace({named(1, 1, 1, "one"), named(2, 2, 1, "two"), named(3, 1, 2, ""),
                    named(4, 2, 2, ""), named(5, 1, 1, "again"), named(6, 1, 2, "")}));
  EXPECT_EQ(Describe(part), "one 1+0\ntwo 2+0\none 3+0\ntwo 4+0\nagain 5+0\nagain 6+0\n");
}

TEST(Perfetto, WhatWasDroppedMakesLaterNamesUnknown) {
  const std::string lost = Int(8, 5) + Int(10, 1) + Int(13, 2) + Int(42, 1) +
                           Bytes(11, Int(9, 3) + Int(10, 1) + Int(11, 7));
  const std::string untold =
      Int(8, 6) + Int(10, 2) + Bytes(11, Int(9, 3) + Int(10, 9) + Int(11, 7));
  const Part part = Import(Trace({lost, untold}));
  EXPECT_EQ(Describe(part), "name 9 6+0\nperfetto.lost_state 1\nperfetto.unknown_name 1\n");
  EXPECT_EQ(part.tables.Get<TimelineTable>().lost[0], 1);
}

TEST(Perfetto, ABrokenPacketLosesItselfOnly) {
  const Part part = Import(Trace({Begin(10, 7, "a"), "\xff\xff\xff", End(20, 7)}));
  EXPECT_EQ(Describe(part), "a 10+10\nperfetto.bad_packet 1\n");
}

TEST(Perfetto, NestingHasABound) {
  std::string value = Int(4, 1);
  for (int i = 0; i < 200; ++i) value = Bytes(11, value);
  const std::string deep = Int(8, 10) + Bytes(11, Int(9, 3) + Bytes(4, value));
  EXPECT_EQ(Describe(Import(Trace({deep, Begin(1, 7, "a"), End(2, 7)}))),
            "a 1+1\nperfetto.bad_packet 1\n");
}

TEST(Perfetto, GarbageBetweenPacketsIsPassedOver) {
  const std::string trace = Trace({Begin(10, 7, "a"), End(20, 7)}) + std::string(100, '\x77') +
                            Trace({Begin(30, 7, "b"), End(40, 7)});
  EXPECT_EQ(Describe(Import(trace)), "a 10+10\nb 30+10\nperfetto.gap 1\n");
}

TEST(Perfetto, ACutFileKeepsWhatIsWhole) {
  std::string trace = Trace({Begin(10, 7, "a"), End(20, 7), Begin(30, 7, "b")});
  trace.resize(trace.size() - 3);
  EXPECT_EQ(Describe(Import(trace)), "a 10+10\nperfetto.truncated 1\n");
}

TEST(Perfetto, AnyCutOrFlippedByteIsSurvived) {
  const std::string good =
      Trace({kThread, Begin(10, 7, "outer"), Begin(20, 7, "inner"), End(25, 7), End(50, 7)});
  for (size_t i = 0; i < good.size(); ++i) {
    (void)Import(good.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_LE(Import(flipped).tables.Get<TimelineSliceTable>().size(), 4U) << "one an event";
    }
  }
}

std::string Zlib(std::string bytes) {
  std::string packed(bytes.size() + 1000, '\0');
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_ZLIB;
  stream.next_in = reinterpret_cast<uint8_t*>(bytes.data());
  stream.avail_in = static_cast<uint32_t>(bytes.size());
  stream.next_out = reinterpret_cast<uint8_t*>(packed.data());
  stream.avail_out = static_cast<uint32_t>(packed.size());
  stream.end_of_stream = 1;
  EXPECT_EQ(isal_deflate_stateless(&stream), COMP_OK);
  packed.resize(stream.total_out);
  return packed;
}

TEST(Perfetto, CompressedPacketsAreUnpacked) {
  const std::string packed = Zlib(Trace({Begin(10, 7, "a"), End(20, 7)}));
  EXPECT_EQ(Describe(Import(Trace({Bytes(50, packed)}))), "a 10+10\n");
  std::string broken = packed.substr(0, packed.size() / 2);
  EXPECT_EQ(Describe(Import(Trace({Bytes(50, broken), Begin(1, 7, "b"), End(2, 7)}))),
            "b 1+1\nperfetto.bad_compression 1\n");
}

TEST(Perfetto, ClocksAreRelatedToTheTimeSince1970) {
  auto clock = [](uint64_t id, uint64_t time) { return Bytes(1, Int(1, id) + Int(2, time)); };
  const std::string snapshot =
      Bytes(6, clock(6, 1000) + clock(1, 1'700'000'000'000'001'000) + clock(3, 400));
  const std::string monotonic =
      Int(8, 410) + Int(58, 3) + Bytes(11, Int(9, 3) + Bytes(23, "mono") + Int(11, 7));
  const Part part = Import(Trace({snapshot, Begin(1500, 7, "a"), End(1600, 7), monotonic}));
  EXPECT_EQ(Describe(part), "mono 1700000000000001010+0\na 1700000000000001500+100\n");
  EXPECT_EQ(part.tables.Get<TimelineTable>().base_ns[0], 1'700'000'000'000'000'000);
}

TEST(Perfetto, IncrementalClocksOfASequenceAddUp) {
  inputs::perfetto::Clocks clocks;
  const inputs::perfetto::ClockReading readings[] = {
      {.id = 6, .time = 5000}, {.id = 64, .time = 0, .unit_ns = 1000, .is_incremental = true}};
  clocks.AddSnapshot(3, readings, std::nullopt);
  EXPECT_EQ(clocks.ToTraceTime(3, 64, 2), 7000);
  EXPECT_EQ(clocks.ToTraceTime(3, 64, 1), 8000);
  EXPECT_EQ(clocks.ToTraceTime(4, 64, 1), std::nullopt) << "of another sequence";
  EXPECT_EQ(clocks.ToTraceTime(3, 6, uint64_t{1} << 63), std::nullopt);
  EXPECT_EQ(clocks.Base(), kNone64);
}

TEST(Perfetto, CountersOfBothKinds) {
  const std::string descriptor =
      Bytes(60, Int(1, 9) + Bytes(2, "memory") + Bytes(8, Bytes(6, "bytes") + Int(4, 10)));
  const std::string counter = Int(8, 5) + Bytes(11, Int(9, 4) + Int(11, 9) + Int(30, 12));
  const std::string extra =
      Int(8, 6) + Bytes(11, Int(9, 1) + Int(11, 7) + Bytes(23, "a") + Int(31, 9) + Int(12, 13));
  const Part part = Import(Trace({descriptor, counter, extra, End(8, 7)}));
  const auto& counters = part.tables.Get<TimelineCounterTable>();
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters.number[0], 120);
  EXPECT_EQ(counters.number[1], 130);
  EXPECT_EQ(part.pools.Text(counters.series[0]), "bytes");
  const auto& tracks = part.tables.Get<TimelineTrackTable>();
  EXPECT_EQ(part.pools.Text(tracks.tid[static_cast<size_t>(counters.track[0])]), "memory");
}

TEST(Perfetto, FlowsStartAtTheEarliestAndEndWhereTold) {
  const std::string late =
      Int(8, 30) + Bytes(11, Int(9, 3) + Int(11, 7) + Bytes(23, "late") + Fixed(48, 5));
  const std::string early =
      Int(8, 10) + Bytes(11, Int(9, 3) + Int(11, 7) + Bytes(23, "early") + Fixed(47, 5));
  const Part part = Import(Trace({late, early}));
  const auto& flows = part.tables.Get<TimelineFlowTable>();
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(part.pools.Text(flows.phase[0]), "end");
  EXPECT_EQ(part.pools.Text(flows.phase[1]), "start");
  EXPECT_EQ(flows.id[0], 5);
}

TEST(Perfetto, AnnotationsBecomeColumnsOfDeviceWork) {
  const std::string args = Bytes(10, "args") + Bytes(11, Bytes(10, "stream") + Int(4, 7));
  const std::string kernel =
      Int(8, 10) + Bytes(11, Int(9, 1) + Int(11, 7) + Bytes(22, "kernel") + Bytes(23, "gemm") +
                                 Bytes(4, args) + Bytes(4, Bytes(10, "correlation") + Int(4, 42)));
  const Part part = Import(Trace({kernel, End(20, 7)}));
  const auto& slices = part.tables.Get<TimelineSliceTable>();
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_EQ(slices.correlation[0], 42);
  EXPECT_EQ(part.pools.Text(slices.kind[0]), "kernel");
  ASSERT_EQ(part.tables.Get<TimelineDeviceWorkTable>().size(), 1U);
  EXPECT_EQ(part.tables.Get<TimelineDeviceWorkTable>().stream[0], 7);
  EXPECT_EQ(part.pools.Text(part.tables.Get<TimelineTrackTable>().kind[0]), "stream");
}

TEST(Perfetto, TheOldFormOfTimesAndPhases) {
  const std::string thread = Int(10, 1) + Bytes(44, Int(1, 100) + Int(2, 101) + Int(6, 50));
  auto old = [](uint64_t delta, char phase, uint64_t duration) {
    return Int(10, 1) +
           Bytes(11, Int(1, delta) + Bytes(23, "x") +
                         Bytes(6, Int(2, static_cast<uint64_t>(phase)) + Int(3, duration)));
  };
  const Part part = Import(Trace({thread, old(10, 'X', 3), old(5, 'B', 0), old(5, 'E', 0)}));
  EXPECT_EQ(Describe(part), "x 60000+3000\nx 65000+5000\n");
  EXPECT_EQ(part.pools.Text(part.tables.Get<TimelineTrackTable>().tid[0]), "101");
}

TEST(Perfetto, PacketsOfOtherKindsAreCounted) {
  const Part part = Import(Trace({Bytes(1, "ftrace"), Begin(1, 7, "a"), End(2, 7)}));
  EXPECT_EQ(Describe(part), "a 1+1\nperfetto.other_packet 1\n");
}

// As another program tells them: lists of sizes, of which the columns have the products.
TEST(PerfettoImporter, KnowsGridsAndBlocks) {
  const auto sizes = [](const std::string& name, uint64_t a, uint64_t b) {
    return Bytes(4, Bytes(10, name) + Bytes(12, Int(4, a)) + Bytes(12, Int(4, b)));
  };
  const std::string kernel = Bytes(22, "kernel") + Bytes(4, Bytes(10, "stream") + Int(4, 7)) +
                             sizes("grid", 2, 3) + sizes("block", 32, 4);
  const Part part =
      Import(Trace({kThread, Int(8, 10) + Bytes(11, Int(9, 1) + Int(11, 7) + kernel), End(20, 7)}));
  const auto& work = part.tables.Get<TimelineDeviceWorkTable>();
  ASSERT_EQ(work.size(), 1U);
  EXPECT_EQ(work.blocks[0], 6);
  EXPECT_EQ(work.threads[0], 128);
}

// Debug annotations: 1 number of an interned name, 2 bool, 3 unsigned, 4 int, 5 double, 6 text, 9
// JSON, 10 name, 11 entries, 12 elements, 17 number of an interned text.
TEST(PerfettoImporter, KeepsAnnotationsOfEveryType) {
  const auto own = [](const std::string& name, const std::string& value) {
    return Bytes(4, Bytes(10, name) + value);
  };
  const uint64_t half = std::bit_cast<uint64_t>(0.5);
  const std::string interned =
      Bytes(12, Bytes(3, Int(1, 5) + Bytes(2, "by number")) + Bytes(29, Int(1, 6) + Bytes(2, "x")));
  const std::string list = Bytes(12, Int(4, 1)) + Bytes(12, Bytes(6, "two"));
  const std::string event = own("flag", Int(2, 1)) + own("all bits", Int(3, ~uint64_t{0})) +
                            own("below", Int(4, static_cast<uint64_t>(-3))) +
                            own("half", Fixed(5, half)) + own("text", Bytes(6, "a\"b")) +
                            own("json", Bytes(9, "{\"k\": [1]}")) + own("broken", Bytes(9, "{no")) +
                            own("list", list) +
                            own("dict", Bytes(11, Bytes(10, "in") + Int(4, 2))) +
                            own("stream", Int(4, 7)) + Bytes(4, Int(1, 5) + Int(17, 6)) +
                            own("args", Bytes(11, Bytes(10, "correlation") + Int(4, 9)) +
                                            Bytes(11, Bytes(10, "mine") + Int(4, 1)));
  const std::string packet = Int(8, 10) + Int(10, 1) + interned +
                             Bytes(11, Int(9, 1) + Int(11, 7) + Bytes(23, "op") + event);
  const std::string bytes = Trace({kThread, packet, End(20, 7)});
  const Part part = Import(bytes, 1 << 20, /*keeps_args=*/true);
  const auto& args = part.tables.Get<TimelineArgsTable>();
  ASSERT_EQ(args.size(), 1U);
  EXPECT_EQ(part.pools.Text(args.args[0]),
            R"({"flag": true, "all bits": 18446744073709551615, "below": -3, "half": 0.5, )"
            R"("text": "a\"b", "json": {"k": [1]}, "broken": "{no", "list": [1, "two"], )"
            R"("dict": {"in": 2}, "stream": 7, "by number": "x", "mine": 1})");
  EXPECT_EQ(part.tables.Get<TimelineSliceTable>().correlation[0], 9);
  EXPECT_EQ(Import(bytes).tables.Get<TimelineArgsTable>().size(), 0U) << "only where asked for";
}

}  // namespace perfetto_test
}  // namespace debrief

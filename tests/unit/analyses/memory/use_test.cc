// The replay on traces made by hand.
#include <gtest/gtest.h>

#include "analyses/analysis.h"
#include "tables/memory_annotation.h"
#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_holder.h"
#include "tables/memory_segment.h"
#include "tables/memory_snapshot.h"
#include "tables/memory_timeline.h"
#include "tables/memory_use.h"

namespace debrief {
namespace analyses::memory_use {
const Analysis& Describe();
}
namespace memory_use_test {

constexpr int64_t kGiB = int64_t{1} << 30;

class MemoryUse : public ::testing::Test {
 protected:
  MemoryUse() { AddSnapshot(true); }

  void AddSnapshot(bool whole) {
    auto& table = model_.tables.Edit<MemorySnapshotTable>();
    if (table.size() > 0) {
      table.whole[0] = whole;
      return;
    }
    auto row = Part::RowOf<MemorySnapshotRow>(kWho);
    row.input = kWho.input;
    row.whole = whole;
    table.Add(row);
  }

  void Segment(int32_t number, int64_t bytes) {
    auto row = Part::RowOf<MemorySegmentRow>(kWho);
    row.input = kWho.input;
    row.segment = number;
    row.device = 0;
    row.bytes = bytes;
    row.pool = model_.pools.Intern("(0, 0)");
    model_.tables.Edit<MemorySegmentTable>().Add(row);
  }

  void Block(int32_t segment, int64_t address, int64_t bytes, std::string_view state,
             std::string_view file = "") {
    auto row = Part::RowOf<MemoryBlockRow>(kWho);
    row.input = kWho.input;
    row.segment = segment;
    row.device = 0;
    row.address = address;
    row.bytes = bytes;
    row.requested_bytes = bytes;
    row.state = model_.pools.Intern(state);
    row.stack = Stack(file);
    model_.tables.Edit<MemoryBlockTable>().Add(row);
  }

  void Event(std::string_view action, int64_t address, int64_t bytes, std::string_view file = "") {
    auto row = Part::RowOf<MemoryEventRow>(kWho);
    row.input = kWho.input;
    row.device = 0;
    row.time_ns = ++time_;
    row.action = model_.pools.Intern(action);
    row.address = address;
    row.bytes = bytes;
    row.stack = Stack(file);
    model_.tables.Edit<MemoryEventTable>().Add(row);
  }

  StackId Stack(std::string_view file) {
    if (file.empty()) return StackId::kNone;
    std::array<FrameId, 2> frames = {
        model_.pools.AddFrame({.file = model_.pools.Intern("??"),
                               .function = model_.pools.Intern("torch::unwind::unwind()")}),
        model_.pools.AddFrame({.file = model_.pools.Intern(file),
                               .function = model_.pools.Intern("step"),
                               .line = 4})};
    return model_.pools.AddStack(frames);
  }

  void Run() {
    result_ = AnalysisResult();
    ASSERT_TRUE(analyses::memory_use::Describe().run(model_, result_).ok());
    ASSERT_EQ(Use().size(), 1u);
  }

  const MemoryUseTable& Use() const { return result_.part.tables.Get<MemoryUseTable>(); }
  // "frame bytes count;" of a moment.
  std::string Holders(std::string_view moment) const {
    const auto& rows = result_.part.tables.Get<MemoryHolderTable>();
    std::string text;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (result_.part.pools.Text(rows.moment[i]) != moment) continue;
      text += std::string(result_.part.pools.Text(rows.frame[i])) + " " +
              std::to_string(rows.bytes[i]) + " " + std::to_string(rows.count[i]) + ";";
    }
    return text;
  }
  std::string Headline(std::string_view rule) const {
    for (const Finding& finding : result_.findings) {
      if (finding.rule == rule) return finding.headline;
    }
    return "";
  }

  static constexpr Identity kWho = {.input = 2, .job = 0, .attempt = 0, .rank = 3};
  Model model_;
  AnalysisResult result_;
  int64_t time_ = 0;
};

TEST_F(MemoryUse, FindsThePeakAndWhatLivedThen) {
  Event("segment_alloc", 1000, 500);
  Event("alloc", 1000, 100, "a.py");
  Event("alloc", 1100, 200, "b.py");
  Event("alloc", 1300, 50, "a.py");
  Event("free_requested", 1100, 200);
  Event("free_completed", 1100, 200);
  Event("alloc", 1100, 10, "c.py");
  Segment(0, 500);
  Block(0, 1000, 100, "active_allocated", "a.py");
  Block(0, 1100, 10, "active_allocated", "c.py");
  Block(0, 1110, 190, "inactive");
  Block(0, 1300, 50, "active_allocated", "a.py");
  Block(0, 1350, 150, "inactive");
  Run();
  EXPECT_EQ(Use().peak_allocated_bytes[0], 350);
  EXPECT_EQ(Use().peak_event[0], 3);
  EXPECT_EQ(Use().peak_ns[0], 4);
  EXPECT_EQ(Use().peak_reserved_bytes[0], 500);
  EXPECT_EQ(Use().peak_unused_bytes[0], 150);
  EXPECT_EQ(Use().start_allocated_bytes[0], 0);
  EXPECT_EQ(Use().start_reserved_bytes[0], 0);
  EXPECT_EQ(Use().end_allocated_bytes[0], 160);
  EXPECT_EQ(Use().end_free_bytes[0], 340);
  EXPECT_EQ(Use().end_split_bytes[0], 340);
  EXPECT_EQ(Use().largest_free_bytes[0], 190);
  EXPECT_EQ(Holders("peak"), "b.py:4 step 200 1;a.py:4 step 150 2;");
  EXPECT_EQ(Holders("end"), "a.py:4 step 150 2;c.py:4 step 10 1;");
  EXPECT_EQ(Headline("memory.peak"),
            "GPU 0 of rank 3 peaks at 350 bytes in use and 500 bytes reserved");
  EXPECT_EQ(Headline("memory.fragmentation"), "");
}

// The ring begins late: one allocation of before is freed in it, another lives to the end.
TEST_F(MemoryUse, CountsWhatWasThereBeforeTheTrace) {
  Event("alloc", 10, 100, "a.py");
  Event("free_requested", 20, 1000, "free.py");
  Event("segment_free", 500, 4000);
  Event("alloc", 30, 50, "b.py");
  Segment(0, 3000);
  Block(0, 10, 100, "active_allocated", "a.py");
  Block(0, 30, 50, "active_allocated", "b.py");
  Block(0, 40, 7, "active_allocated", "old.py");
  Run();
  EXPECT_EQ(Use().start_allocated_bytes[0], 1007);
  EXPECT_EQ(Use().start_reserved_bytes[0], 7000);
  EXPECT_EQ(Use().peak_allocated_bytes[0], 1107);
  EXPECT_EQ(Use().peak_event[0], 0);
  EXPECT_EQ(Use().most_reserved_bytes[0], 7000);
  EXPECT_EQ(Holders("peak"), " 1000 1;a.py:4 step 100 1;old.py:4 step 7 1;");
  const auto& timeline = result_.part.tables.Get<MemoryTimelineTable>();
  ASSERT_EQ(timeline.size(), 4u);
  EXPECT_EQ(timeline.allocated_bytes[1], 107);
  EXPECT_EQ(timeline.allocated_bytes[3], 157);
  EXPECT_EQ(timeline.reserved_bytes[2], 3000);
}

TEST_F(MemoryUse, ThePeakMayBeBeforeTheTrace) {
  Event("free_requested", 20, 1000);
  Event("alloc", 20, 10, "a.py");
  Run();
  EXPECT_EQ(Use().peak_allocated_bytes[0], 1000);
  EXPECT_EQ(Use().peak_event[0], kNone64);
  EXPECT_EQ(Holders("peak"), " 1000 1;");
}

// Of a cut snapshot the end of the trace is missing, so blocks may be younger than it.
TEST_F(MemoryUse, BlocksOfACutSnapshotTellNothingOfTheStart) {
  AddSnapshot(false);
  Event("alloc", 10, 100, "a.py");
  Segment(0, 3000);
  Block(0, 40, 7, "active_allocated", "young.py");
  Run();
  EXPECT_EQ(Use().start_allocated_bytes[0], 0);
  EXPECT_EQ(Use().start_reserved_bytes[0], 0);
  EXPECT_EQ(Use().peak_allocated_bytes[0], 100);
}

TEST_F(MemoryUse, AnOomIsAnError) {
  Event("segment_alloc", 0, 4 * kGiB);
  Event("alloc", 0, kGiB, "small.py");
  Event("alloc", 1, 3 * kGiB, "large.py");
  Event("segment_free", 9, 5);
  Event("segment_free", 10, 5);
  Event("segment_alloc", 10, 10);
  Event("oom", kNone64, 2 * kGiB);
  Event("oom", kNone64, kGiB);
  Event("alloc", 2, 4 * kGiB, "later.py");
  model_.tables.Edit<MemoryEventTable>().device_free_bytes[6] = kGiB / 2;
  Run();
  EXPECT_EQ(Headline("memory.oom"),
            "GPU 0 of rank 3 ran out of memory: 2.00 GiB requested, 512.0 MiB left");
  EXPECT_EQ(result_.findings[0].evidence[1].text,
            "the largest holder is large.py:4 step: 3.00 GiB of the 4.00 GiB in use");
  EXPECT_EQ(result_.findings[0].ranks, std::vector<int32_t>{3});
  EXPECT_EQ(result_.findings[0].severity, Severity::kError);
  EXPECT_EQ(result_.findings[0].source.at(0).file, "large.py");
  EXPECT_EQ(Use().ooms[0], 2);
  EXPECT_EQ(Use().retries[0], 1);
  EXPECT_EQ(Use().segment_allocs[0], 2);
  EXPECT_EQ(Use().segment_frees[0], 2);
  EXPECT_EQ(Holders("oom"), "large.py:4 step 3221225472 1;small.py:4 step 1073741824 1;");
}

TEST_F(MemoryUse, WarnsOfFragmentationFromAQuarterAndAGiBOn) {
  Event("segment_alloc", 0, 8 * kGiB);
  Event("alloc", 0, 6 * kGiB, "a.py");
  Segment(0, 8 * kGiB);
  Block(0, 0, 6 * kGiB, "active_allocated", "a.py");
  Block(0, 6 * kGiB, 2 * kGiB, "inactive");
  Run();
  EXPECT_EQ(
      Headline("memory.fragmentation"),
      "GPU 0 of rank 3 has 2.00 GiB (25 %) of its 8.00 GiB reserved but not in use at the peak");
  Event("alloc", 6 * kGiB, 1, "a.py");
  Run();
  EXPECT_EQ(Headline("memory.fragmentation"), "");
}

TEST_F(MemoryUse, NamesTheRangeOfThePeak) {
  auto annotate = [&](std::string_view stage, std::string_view name) {
    auto row = Part::RowOf<MemoryAnnotationRow>(kWho);
    row.input = kWho.input;
    row.device = 0;
    row.time_ns = ++time_;
    row.stage = model_.pools.Intern(stage);
    row.name = model_.pools.Intern(name);
    model_.tables.Edit<MemoryAnnotationTable>().Add(row);
  };
  annotate("START", "outer");
  annotate("START", "done");
  annotate("END", "done");
  annotate("START", "inner");
  Event("alloc", 0, 10, "a.py");
  annotate("START", "later");
  Run();
  EXPECT_EQ(result_.part.pools.Text(Use().peak_annotation[0]), "inner");
}

// Addresses without an alloc, twice allocated, absurd sizes: sums stay where they are.
TEST_F(MemoryUse, OddTracesStayBounded) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Event("alloc", 1, kMost, "a.py");
  Event("alloc", 1, kMost, "b.py");
  Event("alloc", 2, kMost, "b.py");
  Event("alloc", kNone64, kNone64);
  Event("free_requested", 3, kNone64 + 1);
  Event("segment_alloc", 1, kMost);
  Event("segment_alloc", 1, kMost);
  Event("segment_free", 1, kNone64);
  Event("no_such_action", 1, 1);
  Run();
  EXPECT_EQ(Use().events[0], 9);
  EXPECT_EQ(Use().segment_allocs[0], 2);
}

TEST_F(MemoryUse, TheTimelineHasAtMostAThousandSpans) {
  for (int i = 0; i < 2501; ++i) Event("alloc", i, 1, "a.py");
  Run();
  const auto& timeline = result_.part.tables.Get<MemoryTimelineTable>();
  ASSERT_EQ(timeline.size(), 834u);
  EXPECT_EQ(timeline.events[0], 3);
  EXPECT_EQ(timeline.events[833], 2);
  EXPECT_EQ(timeline.allocated_bytes[833], 2501);
  EXPECT_EQ(timeline.begin_ns[1], 4);
}

}  // namespace memory_use_test
}  // namespace debrief

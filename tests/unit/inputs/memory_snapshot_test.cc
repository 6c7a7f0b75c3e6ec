// The memory snapshot reader on pickles made by hand: docs/formats/memory_snapshot.md.
#include "tables/memory_snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inputs/import.h"
#include "tables/memory_annotation.h"
#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_segment.h"
#include "tables/memory_setting.h"
#include "unit/inputs/input_helpers.h"
#include "unit/inputs/pickle_writer.h"

namespace debrief {
namespace memory_snapshot_test {

using testing::Dict;
using testing::Int;
using testing::List;
using testing::Pair;
using testing::Protocol4;
using testing::Text;

class MemorySnapshot : public ::testing::Test {
 protected:
  // Reads the pickle through small windows and through one, which must give the same.
  void Read(const std::string& bytes) {
    part_ = Import(bytes, 1 << 20);
    for (uint64_t window : {1u, 7u, 100u}) {
      Part other = Import(bytes, window);
      EXPECT_EQ(Shown(other), Shown(part_)) << "windows of " << window;
    }
  }

  static Part Import(const std::string& bytes, uint64_t window) {
    return testing::ImportBytes("memory_snapshot", bytes, window);
  }

  static std::string Shown(const Part& part) {
    std::string text;
    const auto& blocks = part.tables.Get<MemoryBlockTable>();
    for (size_t i = 0; i < blocks.size(); ++i) {
      text += fmt::format("{} {} {} {};", blocks.segment[i], blocks.device[i], blocks.address[i],
                          blocks.bytes[i]);
    }
    const auto& events = part.tables.Get<MemoryEventTable>();
    for (size_t i = 0; i < events.size(); ++i) {
      text += fmt::format("{} {} {} {};", events.device[i], part.pools.Text(events.action[i]),
                          events.address[i], events.time_ns[i]);
    }
    return text + Trouble(part);
  }

  static std::string Trouble(const Part& part) { return testing::TroubleOf(part, true); }
  std::string Trouble() const { return Trouble(part_); }

  template <typename T>
  const T& Rows() const {
    return part_.tables.Get<T>();
  }
  std::string Of(StringId id) const { return std::string(part_.pools.Text(id)); }
  // "file:line function" of all frames.
  std::string Of(StackId id) const {
    std::string text;
    for (FrameId frame_id : part_.pools.GetStack(id)) {
      const Frame& frame = part_.pools.GetFrame(frame_id);
      text += fmt::format("{}:{} {};", Of(frame.file), frame.line, Of(frame.function));
    }
    return text;
  }

  Part part_;
};

std::string FrameOf(std::string_view name, int64_t line) {
  return Dict({{"name", Text(name)}, {"filename", Text("train.py")}, {"line", Int(line)}});
}

std::string Block(int64_t address, int64_t size, std::string_view state) {
  return Dict({{"address", Int(address)},
               {"size", Int(size)},
               {"requested_size", Int(size - 12)},
               {"state", Text(state)},
               {"frames", List({FrameOf("step", 10), FrameOf("main", 20)})}});
}

std::string Segment(int64_t device, int64_t address, const std::vector<std::string>& blocks) {
  return Dict({{"device", Int(device)},
               {"address", Int(address)},
               {"total_size", Int(4096)},
               {"allocated_size", Int(1024)},
               {"stream", Int(0)},
               {"segment_type", Text("large")},
               {"segment_pool_id", Pair(Int(0), Int(1))},
               {"is_expandable", "\x88"},
               {"frames", List({})},
               {"blocks", List(blocks)}});
}

std::string Event(std::string_view action, int64_t address, int64_t time_us) {
  return Dict({{"action", Text(action)},
               {"addr", Int(address)},
               {"size", Int(500)},
               {"stream", Int(0)},
               {"time_us", Int(time_us)},
               {"compile_context", Text("N/A")},
               {"user_metadata", Text("")},
               {"frames", List({FrameOf("step", 10)})}});
}

std::string Snapshot(const std::vector<std::string>& segments,
                     const std::vector<std::string>& traces) {
  return Dict({{"segments", List(segments)},
               {"device_traces", List(traces)},
               {"allocator_settings", Dict({{"max_split_size", Int(-1)},
                                            {"expandable_segments", "\x89"},
                                            {"threshold", std::string("G\x3f\xe0\0\0\0\0\0\0", 9)},
                                            {"divisions", Dict({{"1", Int(4)}})}})},
               {"external_annotations", List({Dict({{"stage", Text("START")},
                                                    {"name", Text("step")},
                                                    {"device", Int(0)},
                                                    {"time_us", Int(7)}})})}});
}

TEST_F(MemorySnapshot, ReadsEverything) {
  Read(Protocol4(Snapshot(
      {Segment(1, 8192, {Block(8192, 1024, "active_allocated"), Block(9216, 3072, "inactive")})},
      {List({}), List({Event("alloc", 8192, 6)})})));
  const auto& segments = Rows<MemorySegmentTable>();
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments.rank[0], 5);
  EXPECT_EQ(segments.device[0], 1);
  EXPECT_EQ(segments.bytes[0], 4096);
  EXPECT_EQ(segments.active_bytes[0], kNone64);
  EXPECT_EQ(Of(segments.segment_type[0]), "large");
  EXPECT_EQ(Of(segments.pool[0]), "(0, 1)");
  EXPECT_TRUE(segments.expandable[0]);
  const auto& blocks = Rows<MemoryBlockTable>();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks.segment[1], 0);
  EXPECT_EQ(blocks.device[1], 1);
  EXPECT_EQ(blocks.requested_bytes[1], 3060);
  EXPECT_EQ(Of(blocks.state[1]), "inactive");
  EXPECT_EQ(Of(blocks.stack[1]), "train.py:10 step;train.py:20 main;");
  const auto& events = Rows<MemoryEventTable>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.device[0], 1);
  EXPECT_EQ(events.time_ns[0], 6000);
  EXPECT_EQ(events.bytes[0], 500);
  EXPECT_EQ(events.compile_context[0], StringId::kNone);
  EXPECT_EQ(events.user_metadata[0], StringId::kNone);
  EXPECT_EQ(Of(events.stack[0]), "train.py:10 step;");
  const auto& settings = Rows<MemorySettingTable>();
  std::string shown;
  for (size_t i = 0; i < settings.size(); ++i)
    shown += Of(settings.name[i]) + "=" + Of(settings.value[i]) + ";";
  EXPECT_EQ(shown, "max_split_size=-1;expandable_segments=false;threshold=0.5;divisions.1=4;");
  EXPECT_EQ(Of(Rows<MemoryAnnotationTable>().name.at(0)), "step");
  EXPECT_TRUE(Rows<MemorySnapshotTable>().whole.at(0));
  EXPECT_EQ(Rows<MemorySnapshotTable>().last_ns.at(0), 6000);
  EXPECT_EQ(Trouble(), "");
}

TEST_F(MemorySnapshot, ReadsOldForms) {
  std::string block = Dict({{"size", Int(1024)},
                            {"state", Text("active_allocated")},
                            {"history", List({Dict({{"addr", Int(1)},
                                                    {"real_size", Int(1000)},
                                                    {"frames", List({FrameOf("step", 10)})}})})}});
  std::string free_block = Dict({{"size", Int(3072)}, {"state", Text("inactive")}});
  Read(Protocol4(List({Segment(0, 8192, {block, free_block})})));
  const auto& blocks = Rows<MemoryBlockTable>();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks.address[0], 8192);
  EXPECT_EQ(blocks.address[1], 9216);
  EXPECT_EQ(blocks.requested_bytes[0], 1000);
  EXPECT_EQ(Of(blocks.stack[0]), "train.py:10 step;");
  EXPECT_EQ(blocks.stack[1], StackId::kNone);
  EXPECT_EQ(Trouble(), "memory_snapshot.no_trace 1 ;");
}

TEST_F(MemorySnapshot, ListsLongerThanOnePieceKeepTheirDevice) {
  std::vector<std::string> first(2500, Event("alloc", 1, 1));
  std::vector<std::string> second(1000, Event("alloc", 2, 1));
  Read(Protocol4(Snapshot({}, {List(first), List({}), List(second)})));
  const auto& events = Rows<MemoryEventTable>();
  ASSERT_EQ(events.size(), 3500u);
  for (size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events.device[i], i < 2500 ? 0 : 2) << i;
}

TEST_F(MemorySnapshot, AnOomTellsWhatWasLeft) {
  std::string oom = Dict({{"action", Text("oom")},
                          {"device_free", Int(77)},
                          {"size", Int(500)},
                          {"stream", Int(0)},
                          {"frames", List({})}});
  Read(Protocol4(Snapshot({}, {List({oom})})));
  const auto& events = Rows<MemoryEventTable>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.address[0], kNone64);
  EXPECT_EQ(events.time_ns[0], kNone64);
  EXPECT_EQ(events.device_free_bytes[0], 77);
}

// Wherever the file is cut, what is whole before is kept: rows only grow with the length.
TEST_F(MemorySnapshot, CutAnywhere) {
  std::string bytes = Protocol4(
      Snapshot({Segment(1, 8192, {Block(8192, 1024, "active_allocated")})},
               {List({}), List({Event("alloc", 8192, 6), Event("free_requested", 8192, 7)})}));
  size_t rows = 0;
  for (size_t length = 1; length < bytes.size(); ++length) {
    Part part = Import(bytes.substr(0, length), 1 << 20);
    size_t now =
        part.tables.Get<MemoryBlockTable>().size() + part.tables.Get<MemoryEventTable>().size();
    EXPECT_GE(now, rows) << length;
    rows = now;
    ASSERT_TRUE(Trouble(part).starts_with("memory_snapshot.truncated 1 ")) << length;
    ASSERT_FALSE(part.tables.Get<MemorySnapshotTable>().whole.at(0));
    for (int32_t device : part.tables.Get<MemoryEventTable>().device) EXPECT_EQ(device, 1);
  }
  EXPECT_EQ(rows, 3u);
}

TEST_F(MemorySnapshot, FlippedBytesBreakNothing) {
  std::string good =
      Protocol4(Snapshot({Segment(1, 8192, {Block(8192, 1024, "active_allocated")})},
                         {List({Event("alloc", 8192, 6), Event("free_requested", 8192, 7)})}));
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit : {0, 3, 7}) {  // the fuzzer tries the others
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      Part part = Import(bytes, 64);
      EXPECT_LE(part.tables.Get<MemoryEventTable>().size(), 2u);
    }
  }
}

TEST_F(MemorySnapshot, CodeIsRefused) {
  Read("\x80\x04" + Event("alloc", 1, 1) + "cos\nsystem\n.");
  EXPECT_EQ(Rows<MemoryEventTable>().size(), 1u);
  EXPECT_EQ(
      Trouble(),
      "memory_snapshot.unsafe 1 opcode GLOBAL could run code and is refused; kept: 0 segments, "
      "0 blocks, 1 trace entries;");
}

// The same entry in two lists: no writer makes it, and rows cannot say it.
TEST_F(MemorySnapshot, SharedEntriesAreOdd) {
  std::string event = Event("alloc", 1, 1);
  Read(Protocol4(
      Dict({{"segments", List({})}, {"device_traces", List({List({event + "2", event})})}})));
  EXPECT_EQ(Rows<MemoryEventTable>().size(), 2u);
  EXPECT_EQ(Trouble(), "memory_snapshot.odd_rows 1 ;");
}

}  // namespace memory_snapshot_test
}  // namespace debrief

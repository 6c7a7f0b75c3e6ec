#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "inputs/importer.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_op.h"
#include "tables/comm_status.h"

namespace debrief::inputs::flight_recorder {

const Importer& Describe();

namespace flight_recorder_test {

using namespace std::string_literals;

// Reads a dump the way the framework does.
Part Import(const std::string& bytes, uint64_t chunk_bytes = 1 << 20) {
  auto source = MakeMemorySource(bytes);
  auto reader = Describe().open({.who = {.input = 0, .job = 0, .attempt = 0, .rank = 3},
                                 .path = "nccl_trace_rank_3",
                                 .chunk_bytes = chunk_bytes});
  Part whole;
  auto ranges = reader->Split(*source);
  EXPECT_TRUE(ranges.ok());
  for (ByteRange range : ranges.value()) {
    Part part;
    EXPECT_TRUE(reader->Read(*source, range, part).ok());
    EXPECT_TRUE(reader->Merge(std::move(part), whole).ok());
  }
  EXPECT_TRUE(reader->Finish(whole).ok());
  return whole;
}

// Writes pickles as PyTorch does: u32 lengths, one MARK..SETITEMS per dict; no memo.
std::string Text(std::string_view text) {
  auto size = static_cast<uint32_t>(text.size());
  std::string bytes = "X....";
  std::memcpy(bytes.data() + 1, &size, 4);
  return bytes + std::string(text);
}
std::string Int(int64_t value) {
  std::string bytes = "\x8a\x08........";
  std::memcpy(bytes.data() + 2, &value, 8);
  return bytes;
}
std::string List(const std::string& items) { return "](" + items + "e"; }
std::string Dict(const std::string& items) { return "}(" + items + "u"; }
std::string Field(std::string_view key, const std::string& value) { return Text(key) + value; }
std::string Proto2(const std::string& value) { return "\x80\x02" + value + "."; }

std::string FrameOf(std::string_view name, int line) {
  return Dict(Field("name", Text(name)) + Field("filename", Text("train.py")) +
              Field("line", Int(line)));
}

std::string EntryOf(int record, std::string_view name, const std::string& more = "") {
  return Dict(Field("frames", List(FrameOf("all_reduce", 10) + FrameOf("step", record))) +
              Field("record_id", Int(record)) + Field("pg_id", Int(1)) +
              Field("process_group", Text("9") + Text("mesh_tp") + "\x86") +
              Field("collective_seq_id", Int(record + 1)) + Field("p2p_seq_id", Int(0)) +
              Field("op_id", Int(record + 1)) + Field("profiling_name", Text(name)) +
              Field("time_created_ns", Int(1'000'000 + record)) +
              Field("input_sizes", List(List(Int(4) + Int(4)) + List(Int(8)))) +
              Field("input_dtypes", List(Text("Float") + Text("Half"))) +
              Field("output_sizes", List("")) + Field("output_dtypes", List("")) +
              Field("state", Text("completed")) + Field("time_discovered_started_ns", "N") +
              Field("time_discovered_completed_ns", Int(77)) + Field("retired", "\x88") +
              Field("timeout_ms", Int(600'000)) + Field("is_p2p", "\x89") + more);
}

std::string HeaderOf() {
  std::string group = Dict(Field("name", Text("9")) + Field("desc", Text("mesh_tp")) +
                           Field("ranks", Text("[3, 1, 2]")));
  std::string status =
      Dict(Field("last_enqueued_collective", Int(5)) + Field("last_started_collective", Int(-1)) +
           Field("last_completed_collective", Int(4)));
  return Field("version", Text("2.10")) + Field("pg_config", Dict(Text("9") + group)) +
         Field("comm_lib_version", Text("2.28.9")) + Field("pg_status", Dict(Text("1") + status));
}

std::string DumpOf(const std::string& entries) {
  return Proto2(Dict(HeaderOf() + Field("entries", List(entries))));
}

const CommOpTable& Ops(const Part& part) { return part.tables.Get<CommOpTable>(); }

int64_t CountOf(const Part& part, std::string_view name) {
  int64_t count = 0;
  for (const Diagnostic& diagnostic : part.diagnostics.all()) {
    EXPECT_FALSE(diagnostic.kind->remedy.empty());
    if (diagnostic.kind->name == name) count += diagnostic.count;
  }
  return count;
}

std::string Show(const Part& part, ListId id) {
  return fmt::format("{}", fmt::join(part.pools.lists.Get(id), " "));
}

TEST(FlightRecorderTest, EveryColumn) {
  Part part = Import(
      DumpOf(EntryOf(0, "nccl:all_reduce",
                     Field("duration_ms", "G\x3f\xf8\0\0\0\0\0\0"s) +
                         Field("thread_name", Text("py")) + Field("thread_id", Text("12")))));
  const CommOpTable& ops = Ops(part);
  auto text = [&](StringId id) { return part.pools.Text(id); };
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops.rank[0], 3);
  EXPECT_EQ(ops.input[0], 0);
  EXPECT_EQ(ops.record[0], 0);
  EXPECT_EQ(ops.pg_id[0], 1);
  EXPECT_EQ(text(ops.group_name[0]), "9");
  EXPECT_EQ(text(ops.group_desc[0]), "mesh_tp");
  EXPECT_EQ(Show(part, ops.members[0]), "1 2 3");
  EXPECT_EQ(text(ops.backend[0]), "nccl");
  EXPECT_EQ(text(ops.op[0]), "all_reduce");
  EXPECT_EQ(ops.src[0], kNone32);
  EXPECT_EQ(ops.collective_seq[0], 1);
  EXPECT_EQ(ops.p2p_seq[0], 0);
  EXPECT_EQ(ops.op_id[0], 1);
  EXPECT_EQ(ops.is_p2p[0], 0);
  EXPECT_EQ(text(ops.input_sizes[0]), "[[4, 4], [8]]");
  EXPECT_EQ(text(ops.output_sizes[0]), "[]");
  EXPECT_EQ(text(ops.input_dtypes[0]), "Float, Half");
  EXPECT_EQ(text(ops.output_dtypes[0]), "");
  EXPECT_NE(ops.output_dtypes[0], StringId::kNone);
  EXPECT_EQ(text(ops.state[0]), "completed");
  EXPECT_EQ(ops.retired[0], 1);
  EXPECT_EQ(ops.created_ns[0], 1'000'000);
  EXPECT_EQ(ops.started_ns[0], kNone64);
  EXPECT_EQ(ops.completed_ns[0], 77);
  EXPECT_EQ(ops.duration_ns[0], 1'500'000);
  EXPECT_EQ(ops.timeout_ms[0], 600'000);
  EXPECT_EQ(text(ops.thread[0]), "py (12)");
  auto stack = part.pools.GetStack(ops.stack[0]);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(text(part.pools.GetFrame(stack[0]).function), "all_reduce");
  EXPECT_EQ(part.pools.GetFrame(stack[0]).line, 10);
  EXPECT_EQ(text(part.pools.GetFrame(stack[1]).file), "train.py");
}

TEST(FlightRecorderTest, TheDumpItsGroupsAndCounters) {
  Part part = Import(DumpOf(EntryOf(7, "nccl:all_reduce") + EntryOf(8, "nccl:all_reduce")));
  const auto& dump = part.tables.Get<CommDumpTable>();
  ASSERT_EQ(dump.size(), 1u);
  EXPECT_EQ(part.pools.Text(dump.version[0]), "2.10");
  EXPECT_EQ(part.pools.Text(dump.form[0]), "pickle");
  EXPECT_EQ(part.pools.Text(dump.library[0]), "2.28.9");
  EXPECT_EQ(dump.entries[0], 2);
  EXPECT_EQ(dump.first_record[0], 7);
  EXPECT_EQ(dump.whole[0], 1);
  EXPECT_EQ(dump.has_stacks[0], 1);
  const auto& group = part.tables.Get<CommGroupTable>();
  ASSERT_EQ(group.size(), 1u);
  EXPECT_EQ(part.pools.Text(group.description[0]), "mesh_tp");
  EXPECT_EQ(Show(part, group.members[0]), "1 2 3");
  const auto& status = part.tables.Get<CommStatusTable>();
  ASSERT_EQ(status.size(), 1u);
  EXPECT_EQ(status.pg_id[0], 1);
  EXPECT_EQ(status.last_enqueued[0], 5);
  EXPECT_EQ(status.last_started[0], kNone64);
  EXPECT_EQ(status.last_completed[0], 4);
  EXPECT_EQ(CountOf(part, "flight_recorder.not_from_start"), 1);
}

TEST(FlightRecorderTest, NamesOfOps) {
  struct Case {
    std::string_view name, backend, op;
    int32_t src, dst;
  };
  for (const Case& c :
       {Case{"nccl:send 1->2", "nccl", "send", 1, 2}, Case{"nccl:recv 3<-0", "nccl", "recv", 0, 3},
        Case{"nccl2:recv 1<-?", "nccl2", "recv", kNone32, 1},
        Case{"weird:backend:all_reduce", "weird:backend", "all_reduce", kNone32, kNone32},
        Case{"no colon here", "", "no colon here", kNone32, kNone32},
        Case{"gloo:", "gloo", "", kNone32, kNone32},
        Case{"nccl:send x->y", "nccl", "send", kNone32, kNone32},
        Case{"nccl:send 99999999999->1", "nccl", "send", kNone32, 1},
        Case{"nccl:_broadcast_oop", "nccl", "_broadcast_oop", kNone32, kNone32}}) {
    SCOPED_TRACE(c.name);
    Part part = Import(DumpOf(EntryOf(0, c.name)));
    ASSERT_EQ(Ops(part).size(), 1u);
    EXPECT_EQ(part.pools.Text(Ops(part).backend[0]), c.backend);
    EXPECT_EQ(part.pools.Text(Ops(part).op[0]), c.op);
    EXPECT_EQ(Ops(part).src[0], c.src);
    EXPECT_EQ(Ops(part).dst[0], c.dst);
  }
}

TEST(FlightRecorderTest, OldestDumpsAreAListOfEntries) {
  std::string entry =
      Dict(Field("pg_id", Int(0)) + Field("seq_id", Int(5)) +
           Field("profiling_name", Text("nccl:send 0->1")) + Field("time_created_us", Int(3)) +
           Field("state", Text("scheduled")) + Field("input_sizes", List(List(Int(2)))));
  Part part = Import(Proto2(List(entry + entry)));
  ASSERT_EQ(Ops(part).size(), 2u);
  EXPECT_EQ(Ops(part).collective_seq[0], 5);
  EXPECT_EQ(Ops(part).record[0], kNone32);
  EXPECT_EQ(Ops(part).is_p2p[0], 1) << "the name tells, where no key does";
  EXPECT_EQ(Ops(part).created_ns[0], 3000);
  EXPECT_EQ(Ops(part).members[0], ListId::kNone);
  EXPECT_EQ(Ops(part).output_sizes[0], StringId::kNone);
  EXPECT_EQ(part.tables.Get<CommDumpTable>().version[0], StringId::kNone);
}

TEST(FlightRecorderTest, GroupsOfVersion12AreListsUnderNumbers) {
  std::string entry =
      Dict(Field("process_group_name", Text("0")) + Field("state", Text("started")) +
           Field("profiling_name", Text("nccl:all_reduce")));
  std::string config = Dict(Int(0) + List(Int(1) + Int(0)));
  // Entries first: Python writes keys in the order they were set.
  Part part = Import(Proto2(Dict(Field("entries", List(entry)) + Field("version", Text("1.2")) +
                                 Field("pg_config", config))));
  ASSERT_EQ(Ops(part).size(), 1u);
  EXPECT_EQ(Show(part, Ops(part).members[0]), "0 1");
  EXPECT_EQ(part.tables.Get<CommGroupTable>().description[0], StringId::kNone);
}

TEST(FlightRecorderTest, LaterVersionsAreRead) {
  std::string entry = EntryOf(0, "nccl:all_reduce",
                              Field("new_key", Dict(Text("a") + List(Dict(Text("b") + "N")))));
  Part part = Import(Proto2(Dict(Field("version", Text("3.1")) + Field("entries", List(entry)))));
  EXPECT_EQ(Ops(part).size(), 1u);
  EXPECT_EQ(CountOf(part, "flight_recorder.unknown_version"), 1);
  part = Import(DumpOf(entry));
  EXPECT_EQ(CountOf(part, "flight_recorder.unknown_version"), 0) << "2.10 is above 2.9";
}

TEST(FlightRecorderTest, NumbersMayBeTexts) {
  std::string entry =
      Dict(Field("profiling_name", Text("nccl:all_reduce")) +
           Field("collective_seq_id", Text("12")) + Field("op_id", Text("x")) +
           Field("input_dtypes", Text("Float")) + Field("record_id", Int(1LL << 40)));
  Part part = Import(DumpOf(entry));
  ASSERT_EQ(Ops(part).size(), 1u);
  EXPECT_EQ(Ops(part).collective_seq[0], 12);
  EXPECT_EQ(Ops(part).op_id[0], kNone32);
  EXPECT_EQ(Ops(part).record[0], kNone32);
  EXPECT_EQ(part.pools.Text(Ops(part).input_dtypes[0]), "Float");
}

// Every prefix of a dump gives its whole entries, and members where the groups are before the cut.
TEST(FlightRecorderTest, CutAnywhereKeepsWholeEntries) {
  std::vector<std::string> entries;
  for (int i = 0; i < 3; ++i) entries.push_back(EntryOf(i, "nccl:all_reduce"));
  std::string whole = DumpOf(entries[0] + entries[1] + entries[2]);
  size_t first = whole.find(entries[0]);
  for (size_t size = 1; size < whole.size(); ++size) {
    Part part = Import(whole.substr(0, size));
    size_t expected = 0;
    for (size_t end = first; expected < 3 && (end += entries[expected].size()) <= size;) ++expected;
    ASSERT_EQ(Ops(part).size(), expected) << size;
    ASSERT_EQ(CountOf(part, "flight_recorder.truncated"), 1) << size;
    ASSERT_EQ(part.tables.Get<CommDumpTable>().whole[0], 0);
    if (expected > 0) {
      ASSERT_EQ(Show(part, Ops(part).members[0]), "1 2 3");
    }
  }
}

TEST(FlightRecorderTest, FlippedBitsNeverHarm) {
  std::string bytes = DumpOf(EntryOf(0, "nccl:send 0->1") + EntryOf(1, "nccl:all_reduce"));
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {  // the fuzzer tries the others
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    (void)Import(bytes);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(FlightRecorderTest, NothingOfAHostilePickleIsReadOrRun) {
  std::string bytes =
      DumpOf(EntryOf(0, "nccl:all_reduce") + "cos\nsystem\n" + Text("id") + "\x85R");
  Part part = Import(bytes);
  EXPECT_EQ(Ops(part).size(), 0u);
  EXPECT_EQ(part.tables.Get<CommDumpTable>().size(), 0u);
  EXPECT_EQ(CountOf(part, "flight_recorder.unsafe"), 1);
}

TEST(FlightRecorderTest, CorruptAndBadEntriesAreReported) {
  Part part = Import(Proto2(Dict(HeaderOf() + Field("entries", List(EntryOf(0, "a:b") + "\xff")))));
  EXPECT_EQ(Ops(part).size(), 1u);
  EXPECT_EQ(CountOf(part, "flight_recorder.corrupt"), 1);
  part = Import(DumpOf(Dict(Field("state", Text("completed"))) + EntryOf(0, "a:b")));
  EXPECT_EQ(Ops(part).size(), 1u);
  EXPECT_EQ(CountOf(part, "flight_recorder.bad_entry"), 1);
  part = Import(DumpOf(""));
  int64_t empty = CountOf(part, "flight_recorder.no_entries") +
                  CountOf(part, "flight_recorder.before_first_collective") +
                  CountOf(part, "flight_recorder.nothing_active");
  EXPECT_EQ(empty, 1);
}

constexpr std::string_view kJsonEntry =
    R"({"collective_seq_id":1,"input_dtypes":["Float"],"input_sizes":[[32,256],[1]],"is_p2p":false,)"
    R"("op_id":1,"output_dtypes":[],"output_sizes":[],"p2p_seq_id":0,"pg_id":3,)"
    R"("process_group":["9","mesh_tp"],"profiling_name":"nccl:all_reduce","record_id":)";
constexpr std::string_view kJsonRest =
    R"(,"retired":true,"state":"completed","time_created_ns":5,"time_discovered_completed_ns":6,)"
    R"("time_discovered_started_ns":0,"timeout_ms":7,"duration_ms":0.25})";

std::string JsonEntry(int record) { return fmt::format("{}{}{}", kJsonEntry, record, kJsonRest); }

std::string JsonDumpOf(const std::string& entries) {
  return R"({"comm_lib_version":"2.28","entries":[)" + entries +
         R"(],"nccl_comm_state":{},"pg_config":{"9":{"desc":"mesh_tp","name":"9","ranks":"[1, 0]"}},)"
         R"("pg_status":{"3":{"last_completed_collective":"2","last_enqueued_collective":"4",)"
         R"("last_started_collective":"-1"}},"version":"2.10"})";
}

TEST(FlightRecorderTest, JsonInBatchesOfAnySize) {
  for (uint64_t chunk : std::vector<uint64_t>{1, 7, 100, 1 << 20}) {
    Part part = Import(JsonDumpOf(JsonEntry(0) + "," + JsonEntry(1) + ",5," + JsonEntry(2)), chunk);
    const CommOpTable& ops = Ops(part);
    ASSERT_EQ(ops.size(), 3u);
    EXPECT_EQ(CountOf(part, "flight_recorder.bad_entry"), 1);
    EXPECT_EQ(ops.record[2], 2);
    EXPECT_EQ(ops.started_ns[0], kNone64) << "0 is not known";
    EXPECT_EQ(ops.completed_ns[0], 6);
    EXPECT_EQ(ops.duration_ns[0], 250'000);
    EXPECT_EQ(part.pools.Text(ops.input_sizes[0]), "[[32, 256], [1]]");
    EXPECT_EQ(part.pools.Text(ops.input_dtypes[0]), "Float");
    EXPECT_EQ(part.pools.Text(ops.group_desc[0]), "mesh_tp");
    EXPECT_EQ(Show(part, ops.members[2]), "0 1");
    const auto& status = part.tables.Get<CommStatusTable>();
    ASSERT_EQ(status.size(), 1u);
    EXPECT_EQ(status.last_enqueued[0], 4);
    EXPECT_EQ(status.last_started[0], kNone64);
  }
}

TEST(FlightRecorderTest, JsonCutAnywhereKeepsWholeEntries) {
  std::string whole = JsonDumpOf(JsonEntry(0) + "," + JsonEntry(1));
  size_t first_end = whole.find(JsonEntry(0)) + JsonEntry(0).size();
  size_t second_end = first_end + 1 + JsonEntry(1).size();
  for (size_t size = 1; size < whole.size(); ++size) {
    Part part = Import(whole.substr(0, size));
    ASSERT_EQ(Ops(part).size(), size < first_end ? 0u : size < second_end ? 1u : 2u) << size;
    ASSERT_EQ(CountOf(part, "flight_recorder.truncated"), 1) << size;
  }
}

TEST(FlightRecorderTest, ABrokenJsonEntryIsLeftOutAlone) {
  Part part = Import(JsonDumpOf(JsonEntry(0) + R"(,{"record_id":nope,"a" 1},)" + JsonEntry(1)));
  EXPECT_EQ(Ops(part).size(), 2u);
  EXPECT_EQ(CountOf(part, "flight_recorder.bad_entry"), 1);
}

std::vector<bool> Settle(std::vector<Part>& parts) {
  std::vector<Twin> twins;
  for (size_t i = 0; i < parts.size(); ++i) twins.push_back({static_cast<int32_t>(i), &parts[i]});
  Describe().settle(twins);
  std::vector<bool> kept;
  for (const Twin& twin : twins) kept.push_back(twin.keep);
  return kept;
}

std::string PickleTwin() {  // what JsonEntry tells, with a stack
  return Dict(Field("frames", List(FrameOf("f", 1))) + Field("record_id", Int(0)) +
              Field("process_group", Text("9") + Text("mesh_tp") + "\x86") +
              Field("collective_seq_id", Int(1)) + Field("p2p_seq_id", Int(0)) +
              Field("op_id", Int(1)) + Field("profiling_name", Text("nccl:all_reduce")) +
              Field("time_created_ns", Int(5)) + Field("state", Text("completed")) +
              Field("input_sizes", List(List(Int(32) + Int(256)) + List(Int(1)))) +
              Field("input_dtypes", List(Text("Float"))) + Field("output_sizes", List("")) +
              Field("output_dtypes", List("")) + Field("retired", "\x88"));
}

TEST(FlightRecorderTest, OfTwinsTheOneWithStacksIsKept) {
  std::vector<Part> parts;
  parts.push_back(Import(JsonDumpOf(JsonEntry(0) + "," + JsonEntry(1))));
  parts.push_back(Import(DumpOf(PickleTwin())));
  EXPECT_EQ(Settle(parts), (std::vector<bool>{false, true}));
  EXPECT_EQ(CountOf(parts[0], "flight_recorder.twin"), 1);
  EXPECT_EQ(CountOf(parts[0], "flight_recorder.twin_differs"), 0);
}

TEST(FlightRecorderTest, TwinsThatDifferAreReported) {
  std::string other = JsonEntry(0);
  other.replace(other.find("completed"), 9, "scheduled");
  std::vector<Part> parts;
  parts.push_back(Import(JsonDumpOf(other)));
  parts.push_back(Import(DumpOf(PickleTwin())));
  EXPECT_EQ(Settle(parts), (std::vector<bool>{false, true}));
  EXPECT_EQ(CountOf(parts[0], "flight_recorder.twin_differs"), 1);
}

TEST(FlightRecorderTest, MoreEntriesThenWholeDecideTwins) {
  std::string two = JsonDumpOf(JsonEntry(0) + "," + JsonEntry(1));
  std::vector<Part> parts;
  parts.push_back(Import(two.substr(0, two.find("pg_status"))));
  parts.push_back(Import(JsonDumpOf(JsonEntry(0))));
  parts.push_back(Import(two));
  EXPECT_EQ(Settle(parts), (std::vector<bool>{false, false, true}));
}

TEST(FlightRecorderTest, DumpsOfOtherRecordersAreKept) {
  std::vector<Part> parts;
  parts.push_back(Import(DumpOf(EntryOf(0, "gloo:barrier"))));
  parts.push_back(Import(DumpOf(EntryOf(0, "nccl:all_reduce") + EntryOf(1, "nccl:all_reduce"))));
  EXPECT_EQ(Settle(parts), (std::vector<bool>{true, true}));
}

}  // namespace flight_recorder_test
}  // namespace debrief::inputs::flight_recorder

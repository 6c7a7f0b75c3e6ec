// The op trace reader on documents made by hand: docs/formats/op_trace.md row by row.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text/strings.h"
#include "inputs/import.h"
#include "tables/recorded_op.h"
#include "tables/recording_note.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace op_trace_test {

class OpTrace : public ::testing::Test {
 protected:
  // Reads the document with small chunks and with one, which must give the same.
  void Read(std::string_view text) {
    part_ = Import(text, 1 << 20);
    for (uint64_t chunk : {1u, 7u, 100u}) {
      Part other = Import(text, chunk);
      EXPECT_EQ(Ops(other), Ops(part_)) << "chunks of " << chunk << ": " << text;
      EXPECT_EQ(Trouble(other), Trouble(part_)) << "chunks of " << chunk << ": " << text;
    }
  }
  void ReadEntry(std::string_view entry) { Read(fmt::format("{{\"entries\": [{}]}}", entry)); }

  static Part Import(std::string_view text, uint64_t chunk) {
    return testing::ImportBytes("op_trace", text, chunk);
  }

  static std::string Ops(const Part& part) {
    const auto& ops = part.tables.Get<RecordedOpTable>();
    std::string text;
    for (size_t i = 0; i < ops.size(); ++i) {
      text += fmt::format("{} {} {} {};", ops.step[i], part.pools.Text(ops.operation[i]),
                          part.pools.Text(ops.device[i]), ops.duration_ns[i]);
    }
    return text;
  }
  // "name count first-offset;" of all diagnostics.
  static std::string Trouble(const Part& part) {
    return std::string(Trimmed(testing::TroubleOf(part), ";"));
  }
  std::string Trouble() const { return Trouble(part_); }
  int64_t FirstOffset() const { return part_.diagnostics.all().at(0).first.at(0).offset; }
  std::string FirstDetail() const { return part_.diagnostics.all().at(0).first.at(0).detail; }
  const RecordedOpTable& ops() const { return part_.tables.Get<RecordedOpTable>(); }
  std::string Text(StringId id) const { return std::string(part_.pools.Text(id)); }

  Part part_;
};

TEST_F(OpTrace, EveryField) {
  Read(R"({"entries": [{"step": 4, "operation": "matmul", "device_id": "gpu:0",
           "input_shapes": [[64, 128], [128,10]], "output_shape": [64, 10], "duration_us": 12.5,
           "output_elements": 640, "memory_bytes": 5120}],
           "total_duration_us": 12.5, "metadata": {"model": "tiny", "n": 3, "o": {"a": [1]}}})");
  EXPECT_EQ(Trouble(), "");
  ASSERT_EQ(ops().size(), 1u);
  EXPECT_EQ(ops().job[0], 1);
  EXPECT_EQ(ops().attempt[0], 2);
  EXPECT_EQ(ops().rank[0], 5);
  EXPECT_EQ(ops().input[0], 3);
  EXPECT_EQ(ops().step[0], 4);
  EXPECT_EQ(Text(ops().operation[0]), "matmul");
  EXPECT_EQ(Text(ops().device[0]), "gpu:0");
  EXPECT_EQ(Text(ops().input_shapes[0]), "[[64,128],[128,10]]");
  auto shape = part_.pools.lists.Get(ops().output_shape[0]);
  EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()), (std::vector<int64_t>{64, 10}));
  EXPECT_EQ(ops().duration_ns[0], 12500);
  EXPECT_EQ(ops().output_elements[0], 640);
  EXPECT_EQ(ops().memory_bytes[0], 5120);
  const auto& notes = part_.tables.Get<RecordingNoteTable>();
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(Text(notes.key[0]) + "=" + Text(notes.value[0]), "model=tiny");
  EXPECT_EQ(Text(notes.value[1]), "3");
  EXPECT_EQ(Text(notes.value[2]), R"({"a": [1]})");
}

// What the reference recorder writes for an empty trace, and for an op without shapes.
TEST_F(OpTrace, ReferenceRecorder) {
  Read(R"({"entries": [], "total_duration_us": 0.0, "metadata": {}})");
  EXPECT_EQ(Trouble(), "");
  EXPECT_EQ(ops().size(), 0u);
  Read(R"({
  "entries": [
    {
      "step": 0,
      "operation": "relu",
      "device_id": null,
      "input_shapes": [],
      "output_shape": [],
      "duration_us": 0.0,
      "output_elements": 1,
      "memory_bytes": 8
    }
  ],
  "total_duration_us": 0.0,
  "metadata": {}
})");
  EXPECT_EQ(Trouble(), "");
  ASSERT_EQ(ops().size(), 1u);
  EXPECT_EQ(ops().device[0], StringId::kNone);
  EXPECT_EQ(Text(ops().input_shapes[0]), "[]");
  EXPECT_EQ(ops().duration_ns[0], 0);
}

TEST_F(OpTrace, KeysInAnyOrderAndUnknownKeys) {
  Read(R"({"metadata": {"z": ""}, "x": [{"entries": [1]}], "total_duration_us": 3,
           "entries": [{"memory_bytes": 1, "new": {"operation": "no"}, "duration_us": 3,
                        "operation": "a", "more": [1, [2, {"step": 9}]]}], "y": null})");
  EXPECT_EQ(Trouble(), "");
  EXPECT_EQ(Ops(part_), fmt::format("{} a  3000;", kNone64));
  EXPECT_EQ(part_.tables.Get<RecordingNoteTable>().size(), 1u);
}

TEST_F(OpTrace, NoOperation) {
  for (auto entry : {R"({"step": 1})", R"({"operation": null})", R"({"operation": 3})", "{}", "1",
                     "null", "[]", "\"x\"", "[{\"operation\": \"a\"}]"}) {
    ReadEntry(entry);
    EXPECT_EQ(Trouble(), "op_trace.bad_entry 1") << entry;
    EXPECT_EQ(FirstOffset(), 13) << entry;
    EXPECT_EQ(ops().size(), 0u) << entry;
  }
}

TEST_F(OpTrace, NoDuration) {
  for (auto value : {"null", "NaN", "\"12\"", "Infinity", "-Infinity", "1e400", "[1]", "{}", "true",
                     "9.1e15", "-1e300"}) {
    ReadEntry(fmt::format(R"({{"operation": "a", "duration_us": {}, "step": 7}})", value));
    EXPECT_EQ(Trouble(), "op_trace.no_duration 1") << value;
    ASSERT_EQ(ops().size(), 1u) << value;
    EXPECT_EQ(ops().duration_ns[0], kNone64) << value;
    EXPECT_EQ(ops().step[0], 7) << value;
    EXPECT_EQ(FirstDetail(), value);
  }
  ReadEntry(R"({"operation": "a"})");
  EXPECT_EQ(Trouble(), "") << "absent is no trouble";
}

TEST_F(OpTrace, DurationsAreRounded) {
  ReadEntry(R"({"operation": "a", "duration_us": 0.0014}, {"operation": "a", "duration_us": 0.0016},
               {"operation": "a", "duration_us": 7}, {"operation": "a", "duration_us": 1e3})");
  const auto& durations = ops().duration_ns;
  EXPECT_EQ(std::vector<int64_t>(durations.begin(), durations.end()),
            (std::vector<int64_t>{1, 2, 7000, 1'000'000}));
}

TEST_F(OpTrace, OutOfRange) {
  for (auto value : {"-1", "9223372036854775808", "18446744073709551616", "1e30", "1.5", "\"3\"",
                     "99999999999999999999999999999999999999999999999999999999"}) {
    for (auto key : {"output_elements", "memory_bytes", "step"}) {
      ReadEntry(fmt::format(R"({{"{}": {}, "operation": "a", "duration_us": 1}})", key, value));
      EXPECT_EQ(Trouble(), "op_trace.out_of_range 1") << key << value;
      ASSERT_EQ(ops().size(), 1u);
      EXPECT_EQ(ops().output_elements[0], kNone64);
      EXPECT_EQ(ops().memory_bytes[0], kNone64);
      EXPECT_EQ(ops().step[0], kNone64);
      EXPECT_EQ(ops().duration_ns[0], 1000);
    }
  }
  ReadEntry(R"({"operation": "a", "memory_bytes": 9223372036854775807})");
  EXPECT_EQ(Trouble(), "");
  EXPECT_EQ(ops().memory_bytes[0], 9223372036854775807);
}

TEST_F(OpTrace, OddShapes) {
  for (auto value : {"7", "null", "\"x\"", "{}", "NaN"}) {
    ReadEntry(
        fmt::format(R"({{"output_shape": {0}, "input_shapes": {0}, "operation": "a"}})", value));
    ASSERT_EQ(ops().size(), 1u) << value;
    EXPECT_EQ(ops().output_shape[0], ListId::kNone) << value;
  }
  ReadEntry(R"({"output_shape": [2, -1, null, [3], {"a": 1}], "operation": "a"})");
  ASSERT_EQ(ops().size(), 1u);
  auto shape = part_.pools.lists.Get(ops().output_shape[0]);
  EXPECT_EQ(std::vector<int64_t>(shape.begin(), shape.end()),
            (std::vector<int64_t>{2, kNone64, kNone64, kNone64, kNone64}));
  EXPECT_EQ(Trouble(), "op_trace.out_of_range 4");
}

TEST_F(OpTrace, TotalIsCompared) {
  auto with_total = [&](std::string_view total) {
    Read(fmt::format(R"({{"entries": [{{"operation": "a", "duration_us": 1}},
                                      {{"operation": "b", "duration_us": 2}}],
                          "total_duration_us": {}}})",
                     total));
    return Trouble();
  };
  EXPECT_EQ(with_total("3"), "");
  EXPECT_EQ(with_total("3.001"), "");
  EXPECT_EQ(with_total("null"), "");
  EXPECT_EQ(with_total("NaN"), "");
  EXPECT_EQ(with_total("\"x\""), "");
  EXPECT_EQ(with_total("3.1"), "op_trace.total_disagrees 1");
  EXPECT_EQ(with_total("0"), "op_trace.total_disagrees 1");
  EXPECT_EQ(with_total("1e300"), "op_trace.total_disagrees 1");
}

TEST_F(OpTrace, Escapes) {
  ReadEntry("{\"oper\\u0061tion\": \"a\\n\\u00e4\\\"\\\\\", \"device_id\": \"\\ud83d\\ude00\"}");
  ASSERT_EQ(ops().size(), 1u);
  EXPECT_EQ(Text(ops().operation[0]), "a\n\xc3\xa4\"\\");
  EXPECT_EQ(Text(ops().device[0]), "\xf0\x9f\x98\x80");
}

TEST_F(OpTrace, BrokenEntryCostsOnlyItself) {
  for (auto broken : {"{\"operation\": \"x\" 1}", "{\"operation\": }", "{operation: 1}", "nul",
                      "1 2", "{\"operation\" \"x\"}", "{\"operation\": \"x\",, \"step\": 1}",
                      "{\"operation\": \"x\", \"output_shape\": [1 2]}"}) {
    std::string front = R"({"operation": "a", "step": 1})";
    ReadEntry(fmt::format(R"({}, {}, {{"operation": "b", "step": 2}})", front, broken));
    EXPECT_EQ(Ops(part_), fmt::format("1 a  {0};2 b  {0};", kNone64)) << broken;
    EXPECT_EQ(Trouble(), "op_trace.bad_entry 1") << broken;
    EXPECT_EQ(FirstOffset(), static_cast<int64_t>(13 + front.size() + 2)) << broken;
  }
}

TEST_F(OpTrace, NoEntries) {
  for (auto text :
       {"{}", "[]", R"({"entries": 3})", R"({"entries": {}})", R"({"x": {"entries": []}})"}) {
    Read(text);
    EXPECT_EQ(Trouble(), "op_trace.no_entries 1") << text;
  }
}

TEST_F(OpTrace, CutAtEveryByte) {
  std::string text =
      R"({"metadata": {"k": "v"}, "entries": [{"operation": "a\"]}", "duration_us": 1.5, "output_shape": [1, 2]},
 {"operation": "b", "device_id": null}, {"operation": "c"}], "total_duration_us": 1.5})";
  std::vector<size_t> ends;  // behind each entry
  for (auto last : {"[1, 2]}", "null}", "\"c\"}"}) {
    ends.push_back(text.find(last) + std::string_view(last).size());
  }
  size_t closed = text.find(']', ends[2]) + 1;
  for (size_t size = 0; size <= text.size(); ++size) {
    Read(text.substr(0, size));
    size_t whole = static_cast<size_t>(
        std::count_if(ends.begin(), ends.end(), [&](size_t end) { return end <= size; }));
    EXPECT_EQ(ops().size(), whole) << text.substr(0, size);
    bool complains = Trouble().find("op_trace.truncated 1") != std::string::npos ||
                     Trouble().find("op_trace.no_entries 1") != std::string::npos;
    EXPECT_EQ(complains, size < closed) << text.substr(0, size);
  }
}

TEST_F(OpTrace, EveryByteReplaced) {
  const std::string text =
      R"({"entries": [{"operation": "a", "output_shape": [1, 2], "duration_us": 1}, {"operation": "b"}]})";
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : {'"', '{', '}', '[', ']', ',', '\\', '\0', '\xff', '1'}) {
      std::string changed = text;
      changed[i] = c;
      Read(changed);
    }
  }
}

TEST_F(OpTrace, DeepNesting) {
  ReadEntry("{\"operation\": \"a\", \"x\": " + std::string(5000, '[') + std::string(5000, ']') +
            "}, {\"operation\": \"b\"}");
  EXPECT_GE(ops().size(), 1u);
}

}  // namespace op_trace_test
}  // namespace debrief

// What single records look like: their sizes, and shapes of every size.
#include <bit>

#include "unit/recorder/recording_fixture.h"

namespace debrief::recorder {
namespace records_test {

TEST_F(RecorderTest, NotesStepsAndMemoryComeBack) {
  Open();
  const dbr_id key = Name("loss"), value = Name("nan"), gpu = Name("cuda:1"), cpu = Name("cpu");
  dbr_set_device(cpu);
  dbr_note_i64(key, -7);
  dbr_note_f64(key, 0.25);
  dbr_note_str(key, value);
  dbr_set_step(41);
  dbr_alloc(gpu, 0xdead0000, 512);
  dbr_free(0, 0xdead0000, 512);
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(keeper.kept.size(), 6u);
  EXPECT_EQ(std::bit_cast<int64_t>(keeper.kept[0].values[1]), -7);
  EXPECT_EQ(keeper.kept[0].flags, kNoteI64);
  EXPECT_EQ(*read.Text(keeper.kept[0].name), "loss");
  EXPECT_EQ(std::bit_cast<double>(keeper.kept[1].values[1]), 0.25);
  EXPECT_EQ(keeper.kept[1].flags, kNoteF64);
  EXPECT_EQ(*read.Text(static_cast<uint32_t>(keeper.kept[2].values[1])), "nan");
  EXPECT_EQ(keeper.kept[2].flags, kNoteText);
  EXPECT_EQ(keeper.kept[3].type, RecordType::kStep);
  EXPECT_EQ(keeper.kept[3].values[1], 41u);
  EXPECT_EQ(keeper.kept[4].type, RecordType::kAlloc);
  EXPECT_EQ(keeper.kept[4].values[1], 0xdead0000u);
  EXPECT_EQ(keeper.kept[4].values[2], 512u);
  EXPECT_EQ(*read.Text(keeper.kept[4].track), "cuda:1");
  EXPECT_EQ(*read.Text(keeper.kept[5].track), "cpu") << "no device told: the thread's";
}

// Bytes of the file that one call takes.
template <typename Call>
uint64_t BytesOf(const std::string& path, Call call) {
  const auto published = [&] {
    uint64_t sum = 0;
    std::ifstream file(path, std::ios::binary);
    for (uint64_t chunk = 0; chunk < 8; ++chunk) {
      uint64_t head = 0;
      file.seekg(static_cast<std::streamoff>(kFileHeaderBytes + chunk * kChunkBytes +
                                             offsetof(ChunkHeader, head)));
      file.read(reinterpret_cast<char*>(&head), sizeof head);
      sum += PublishedIn(head);
    }
    return sum;
  };
  const uint64_t before = published();
  call();
  return published() - before;
}

TEST_F(RecorderTest, SizesAreThoseOfTheFormat) {
  Open();
  const uint64_t dims[] = {64, 128, 10};
  const dbr_shape inputs[] = {{dims, 2}, {dims + 1, 2}}, output = {dims + 1, 2};
  const dbr_op_info six = {inputs, 2, DBR_F32, &output, 0};
  dbr_span(0, 1, 2);
  EXPECT_EQ(BytesOf(path_, [] { dbr_span(0, 1, 2); }), 24u);
  EXPECT_EQ(BytesOf(path_, [&] { dbr_op(0, 1, 2, &six); }), 48u);
  EXPECT_EQ(BytesOf(path_, [&] { dbr_end_op(&six); }), 40u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_begin(0); }), 16u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_end(); }), 16u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_instant(0); }), 16u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_counter(0, 1); }), 24u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_flow(0, DBR_FLOW_STEP, 1); }), 24u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_note_i64(0, 1); }), 24u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_set_step(1); }), 24u);
  EXPECT_EQ(BytesOf(path_, [] { dbr_alloc(0, 1, 1); }), 32u);
}

struct ShapeCase {
  uint32_t inputs, rank, output_rank;
  uint64_t dim;
  bool kept;
};

class ShapesTest : public RecorderTest, public testing::WithParamInterface<ShapeCase> {};

TEST_P(ShapesTest, ComeBackOrAreReportedAsLeftOut) {
  const ShapeCase& c = GetParam();
  Open();
  std::vector<uint64_t> dims(std::max(c.rank, c.output_rank));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = c.dim + i;
  const std::vector<dbr_shape> inputs(c.inputs, {dims.data(), c.rank});
  const dbr_shape output = {dims.data(), c.output_rank};
  const dbr_op_info info = {inputs.data(), c.inputs, DBR_I64, &output, 77};
  dbr_op(Name("before"), 1, 2, &info);
  dbr_end_op(&info);
  dbr_span(Name("behind"), 3, 4);
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  EXPECT_TRUE(read.problems.empty());
  ASSERT_EQ(keeper.kept.size(), 3u);
  EXPECT_EQ(*read.Text(keeper.kept[2].name), "behind");
  for (const OpShapes& op : keeper.ops) {
    EXPECT_EQ(op.left_out, !c.kept);
    EXPECT_EQ(op.bytes, 77u);
    if (!c.kept) continue;
    const std::vector<uint64_t> each(dims.begin(), dims.begin() + c.rank);
    EXPECT_EQ(op.inputs, std::vector<std::vector<uint64_t>>(c.inputs, each));
    EXPECT_TRUE(op.has_output);
    EXPECT_EQ(op.output, std::vector<uint64_t>(dims.begin(), dims.begin() + c.output_rank));
  }
}

constexpr uint64_t kHuge = uint64_t{1} << 40;
INSTANTIATE_TEST_SUITE_P(Shapes, ShapesTest,
                         ::testing::Values(ShapeCase{0, 0, 0, 0, true},          // a scalar
                                           ShapeCase{1, 2, 2, 0, true},          // a size of 0
                                           ShapeCase{1, 2, 2, kHuge, true},      // 2^40
                                           ShapeCase{11, 14, 14, 5, true},       // the short form's
                                           ShapeCase{12, 1, 1, 5, true},         // one more input
                                           ShapeCase{1, 15, 3, 5, true},         // one more dim
                                           ShapeCase{1, 3, 64, 5, true},         // 64 dims
                                           ShapeCase{32, 4, 4, kHuge, true},     // 32 inputs
                                           ShapeCase{32, 64, 64, 5, true},       // 3 kMore records
                                           ShapeCase{32, 64, 64, kHuge, true},   // 8
                                           ShapeCase{200, 64, 0, kHuge, false},  // above a chunk
                                           ShapeCase{5000, 0, 0, 0, false},      // too many
                                           ShapeCase{1, 5000, 1, 0, false}));    // likewise

TEST_F(RecorderTest, CountsThatMakeNoSenseAreNotFollowed) {
  Open();
  const dbr_shape endless = {nullptr, UINT32_MAX};
  const dbr_op_info rank = {&endless, 1, DBR_F32, &endless, 0};
  const dbr_op_info count = {nullptr, UINT32_MAX, DBR_F32, nullptr, 0};
  dbr_op(0, 1, 2, &rank);
  dbr_op(0, 1, 2, &count);
  Keeper keeper;
  EXPECT_TRUE(Read(path_, keeper).problems.empty());
  ASSERT_EQ(keeper.ops.size(), 2u);
  EXPECT_TRUE(keeper.ops[0].left_out && keeper.ops[1].left_out);
}

}  // namespace records_test
}  // namespace debrief::recorder

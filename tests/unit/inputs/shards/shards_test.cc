// Shares of inputs, and parts as bytes. Whole shards: tests/scale.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/version.h"
#include "inputs/flight_recorder/member_lists.h"
#include "inputs/shards/codec.h"
#include "inputs/shards/shard.h"
#include "tables/recorded_op.h"

namespace debrief::shards {
namespace shards_test {

FoundInput Found(int32_t rank, uint64_t bytes) {
  FoundInput input;
  input.path = "job/file";
  input.bytes = bytes;
  input.who = {.input = 0, .job = 0, .attempt = 0, .rank = rank};
  return input;
}

TEST(Shards, DivideNeverSplitsARank) {
  std::vector<FoundInput> inputs;
  for (uint64_t file = 0; file < 3; ++file) {
    for (int32_t rank = 0; rank < 20; ++rank) inputs.push_back(Found(rank, 1000 + 10 * file));
  }
  for (uint32_t shares : {1u, 2u, 3u, 7u, 64u}) {
    const std::vector<uint32_t> share_of = Divide(inputs, shares);
    ASSERT_EQ(share_of.size(), inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(share_of[i], share_of[i % 20]);
    const std::set<uint32_t> used(share_of.begin(), share_of.end());
    EXPECT_EQ(used.size(), std::min(shares, 20u));
    EXPECT_LT(*used.rbegin(), shares);
  }
}

TEST(Shards, DivideGoesByBytes) {
  std::vector<FoundInput> inputs;
  inputs.push_back(Found(0, 3'000'000));
  for (int32_t rank = 1; rank < 4; ++rank) inputs.push_back(Found(rank, 1'000'000));
  EXPECT_EQ(Divide(inputs, 2), (std::vector<uint32_t>{0, 1, 1, 1}));
}

Part SmallPart(const Identity& who) {
  Part part;
  auto row = Part::RowOf<RecordedOpRow>(who);
  row.operation = part.pools.Intern("matmul");
  part.tables.Edit<RecordedOpTable>().Add(row);
  std::vector<int64_t> ranks(1000);
  part.pools.lists.Intern(ranks);
  const Frame frame{part.pools.Intern("a.py"), part.pools.Intern("f"), 7, StringId::kNone};
  const FrameId frames[] = {part.pools.AddFrame(frame)};
  part.pools.AddStack(frames);
  return part;
}

TEST(Shards, PartComesBackWithItsNewIdentity) {
  LongLists lists;
  ByteWriter out, lists_out;
  const Identity then{.input = 3, .job = 0, .attempt = 0, .rank = 5};
  const Identity now{.input = 9, .job = 1, .attempt = 2, .rank = 5};
  WritePart(SmallPart(then), then, lists, out);
  lists.Write(lists_out);
  LongLists read_lists;
  ByteReader lists_in(lists_out.bytes());
  ASSERT_TRUE(read_lists.Read(lists_in));
  Part part;
  ByteReader in(out.bytes());
  ASSERT_TRUE(ReadPart(in, now, read_lists, part));
  const auto& ops = part.tables.Get<RecordedOpTable>();
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops.job[0], 1);
  EXPECT_EQ(ops.attempt[0], 2);
  EXPECT_EQ(ops.rank[0], 5);
  EXPECT_EQ(part.pools.Text(ops.operation[0]), "matmul");
  EXPECT_EQ(part.pools.lists.Get(ListId{1}).size(), 1000u);
  EXPECT_EQ(part.pools.GetFrame(part.pools.GetStack(StackId{1}).front()).line, 7);
}

TEST(Shards, AnyByteMayBeWrong) {
  LongLists lists;
  ByteWriter out;
  const Identity who{.input = 0, .job = 0, .attempt = 0, .rank = 0};
  WritePart(SmallPart(who), who, lists, out);
  const std::string whole(out.bytes());
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    Part part;
    ByteReader in(bytes);
    (void)ReadPart(in, who, lists, part);  // no more than its bytes are read
    ByteReader cut(std::string_view(whole).substr(0, at));
    EXPECT_FALSE(ReadPart(cut, who, lists, part));
  }
}

TEST(Shards, AnyByteOfAnIndexMayBeWrong) {
  const Section section{.of = 3,
                        .shares = {0, 2},
                        .is_local = true,
                        .host = "n1",
                        .listing = "abc",
                        .found = FoundBytes({}),
                        .share_of = {0, 2},
                        .records = {{.input = 1, .long_lists = 0, .part = {}, .source = {}}}};
  const ShardIndex index{
      .version = std::string(kVersion), .long_lists = {Piece()}, .sections = {section}};
  const std::string whole = IndexBytes(index);
  ShardIndex read;
  ASSERT_TRUE(ReadIndex(whole, read));
  ASSERT_EQ(read.sections.size(), 1u);
  EXPECT_EQ(read.sections[0].shares, section.shares);
  EXPECT_EQ(read.sections[0].host, "n1");
  EXPECT_EQ(read.sections[0].records[0].input, 1u);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    ShardIndex wrong, cut;
    (void)ReadIndex(bytes, wrong);  // no more than its bytes are read
    EXPECT_FALSE(ReadIndex(std::string_view(whole).substr(0, at), cut));
  }
}

TEST(MemberLists, LongTextsAreReadOnce) {
  using inputs::flight_recorder::MemberList;
  std::string text = "[";
  for (int rank = 4000; rank-- > 0;) text += std::to_string(rank) + (rank > 0 ? ", " : "]");
  Pools first, second;
  const ListId one = MemberList::OfText(text).InternInto(first);
  const ListId two = MemberList::OfText(std::string(text)).InternInto(second);
  ASSERT_EQ(first.lists.Get(one).size(), 4000u);
  EXPECT_EQ(first.lists.Get(one)[17], 17);
  EXPECT_EQ(first.lists.Get(one).data(), second.lists.Get(two).data()) << "one copy serves both";
  Pools all;
  EXPECT_EQ(all.Absorb(first)(one), all.Absorb(second)(two));
  text[2000] = 'x';
  EXPECT_TRUE(first.lists.Get(MemberList::OfText(text).InternInto(first)).empty());
}

}  // namespace shards_test
}  // namespace debrief::shards

#include "base/bytes/archive.h"

#include <gtest/gtest.h>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace archive_test {

using testing::Drain;
using testing::Drained;
using testing::Gzip;
using testing::MakeArchive;
using testing::Noise;
using testing::SomeText;
using testing::TestMember;
using testing::TrickleStream;

constexpr int kTar = ARCHIVE_FORMAT_TAR_USTAR;
constexpr int kPax = ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE;
constexpr int kZip = ARCHIVE_FORMAT_ZIP;

struct Seen {
  ArchiveMember member;
  Drained body;
};

struct Walk {
  std::vector<Seen> members;
  Status status;
};

Walk WalkAll(std::string bytes, size_t step = 1 << 20, ArchiveLimits limits = {}) {
  TrickleStream in(std::move(bytes), step);
  Walk walk;
  walk.status = WalkArchive(in, limits, [&](const ArchiveMember& member, ByteStream& body) {
    walk.members.push_back({member, Drain(body, 10'000)});
    return Status();
  });
  return walk;
}

class Archives : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(All, Archives, ::testing::Values(kTar, kPax, kZip));

TEST_P(Archives, MembersInOrder) {
  const std::vector<TestMember> members = {
      {"a.log", SomeText(100'000)}, {"empty", ""},         {"deep/er/b.bin", Noise(300'000)},
      {"../../x", "evil"},          {"a/../../y", "evil"}, {"/etc/passwd", "evil"},
      {"..fine/...", "good"}};
  const std::string bytes = MakeArchive(GetParam(), members);
  ASSERT_TRUE(LooksLikeArchive(bytes));
  for (size_t step : {size_t{1}, size_t{511}, size_t{1} << 20}) {
    Walk walk = WalkAll(bytes, step);
    ASSERT_TRUE(walk.status.ok()) << walk.status.ToString();
    ASSERT_EQ(walk.members.size(), members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(walk.members[i].member.name, members[i].name);
      EXPECT_EQ(walk.members[i].member.type, ArchiveMember::Type::kFile);
      EXPECT_TRUE(walk.members[i].body.bytes == members[i].body) << i;
      EXPECT_TRUE(walk.members[i].body.status.ok());
      EXPECT_EQ(walk.members[i].member.unsafe_name, members[i].body == "evil");
    }
  }
}

TEST_P(Archives, BodiesNeedNotBeRead) {
  std::vector<TestMember> members;
  for (int i = 0; i < 50; ++i) members.push_back({std::to_string(i), SomeText(20'000)});
  TrickleStream in(MakeArchive(GetParam(), members), 1000);
  size_t count = 0;
  Status status = WalkArchive(in, {}, [&](const ArchiveMember& member, ByteStream& body) {
    EXPECT_EQ(member.name, std::to_string(count++));
    if (count % 3 == 0) {
      EXPECT_EQ(ReadHead(body, 100).value(), SomeText(20'000).substr(0, 100));
    }
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(count, 50u);
}

TEST_P(Archives, Empty) {
  Walk walk = WalkAll(MakeArchive(GetParam(), {}));
  EXPECT_EQ(walk.members.size(), 0u);
}

TEST(Archive, EmptyZip) {
  const std::string zip = MakeArchive(kZip, {});
  EXPECT_TRUE(LooksLikeArchive(zip));
  EXPECT_TRUE(WalkAll(zip).status.ok()) << WalkAll(zip).status.ToString();
}

TEST_P(Archives, VisitorStopsTheWalk) {
  TrickleStream in(MakeArchive(GetParam(), {{"a", "1"}, {"b", "2"}}), 1000);
  int visits = 0;
  Status status = WalkArchive(in, {}, [&](const ArchiveMember&, ByteStream&) {
    ++visits;
    return Status(Code::kUsage, "enough");
  });
  EXPECT_EQ(visits, 1);
  EXPECT_EQ(status.message(), "enough");
}

TEST_P(Archives, MemberCountIsBounded) {
  std::vector<TestMember> members(20, TestMember{"same", "x"});
  ArchiveLimits limits;
  limits.max_members = 10;
  Walk walk = WalkAll(MakeArchive(GetParam(), members), 1 << 20, limits);
  EXPECT_EQ(walk.members.size(), 10u);
  EXPECT_EQ(walk.status.code(), Code::kLimit);
}

// Cut at every byte: whole members before the cut are whole, the last one is a beginning.
TEST_P(Archives, CutEverywhere) {
  const std::vector<TestMember> members = {
      {"a", SomeText(700)}, {"b", SomeText(1500)}, {"c", "end"}};
  const std::string bytes = MakeArchive(GetParam(), members);
  size_t before = 0;
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    Walk walk = WalkAll(bytes.substr(0, cut));
    ASSERT_LE(walk.members.size(), 3u);
    size_t got = 0;
    for (size_t i = 0; i < walk.members.size(); ++i) {
      const Seen& seen = walk.members[i];
      got += seen.body.bytes.size();
      ASSERT_EQ(seen.member.name, members[i].name);
      ASSERT_TRUE(members[i].body.starts_with(seen.body.bytes));
      // The cut may lie in what follows a whole body: padding, a checksum.
      const bool whole = seen.body.bytes == members[i].body;
      ASSERT_TRUE(whole || !seen.body.status.ok()) << cut;
      ASSERT_TRUE(seen.body.status.ok() || seen.body.status.code() == Code::kTruncated) << cut;
    }
    // libarchive drops the last piece of a zip body when the cut lies in the 16 bytes after it.
    if (GetParam() != kZip) {
      ASSERT_GE(got, before) << cut;
    }
    before = std::max(before, got);
    if (walk.members.size() < 3) {
      ASSERT_FALSE(walk.status.ok()) << cut;
    }
  }
  EXPECT_EQ(before, 2203u);
}

TEST(Archive, TarCutBetweenMembersIsNoticed) {
  const std::string tar = MakeArchive(kTar, {{"a", "1"}, {"b", "2"}});
  Walk walk = WalkAll(tar.substr(0, 1024));
  EXPECT_EQ(walk.members.size(), 1u);
  EXPECT_TRUE(walk.members[0].body.status.ok());
  EXPECT_EQ(walk.status.code(), Code::kTruncated);
}

TEST_P(Archives, FlippedEverywhere) {
  const std::string bytes = MakeArchive(GetParam(), {{"a", SomeText(300)}, {"b", SomeText(600)}});
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (size_t bit : {i % 8, (i + 3) % 8}) {
      std::string broken = bytes;
      broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
      Walk walk = WalkAll(broken);
      for (const Seen& seen : walk.members) ASSERT_LT(seen.body.bytes.size(), 100u << 20);
    }
  }
}

TEST_P(Archives, ErrorOfTheInputComesThrough) {
  const std::string bytes = MakeArchive(GetParam(), {{"a", Noise(5000)}, {"b", Noise(5000)}});
  TrickleStream in(bytes.substr(0, 9000), 100, Status(Code::kIo, "disk on fire"));
  std::vector<Drained> bodies;
  Status status = WalkArchive(in, {}, [&](const ArchiveMember&, ByteStream& body) {
    bodies.push_back(Drain(body));
    return Status();
  });
  ASSERT_EQ(bodies.size(), 2u);
  EXPECT_EQ(bodies[0].bytes.size(), 5000u);
  EXPECT_GT(bodies[1].bytes.size(), 2000u);
  EXPECT_EQ(bodies[1].status.message(), "disk on fire");
  EXPECT_EQ(status.message(), "disk on fire");
}

TEST(Archive, TypesOfMembers) {
  for (int format : {kTar, kPax}) {
    Walk walk = WalkAll(
        MakeArchive(format, {{"d/", "", AE_IFDIR}, {"l", "", AE_IFLNK}, {"p", "", AE_IFIFO}}));
    ASSERT_EQ(walk.members.size(), 3u);
    EXPECT_EQ(walk.members[0].member.type, ArchiveMember::Type::kDirectory);
    EXPECT_EQ(walk.members[1].member.type, ArchiveMember::Type::kLink);
    EXPECT_EQ(walk.members[2].member.type, ArchiveMember::Type::kOther);
  }
}

TEST(Archive, TarGz) {
  const std::string tar = MakeArchive(kTar, {{"a", SomeText(100'000)}, {"b", SomeText(50)}});
  auto packed = std::make_unique<TrickleStream>(Gzip(tar), 777);
  auto in = Decompress(Packing::kGzip, std::move(packed), {});
  std::string names;
  Status status = WalkArchive(*in, {}, [&](const ArchiveMember& member, ByteStream& body) {
    names += member.name + std::to_string(Drain(body).bytes.size()) + " ";
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(names, "a100000 b50 ");
}

// Names in UTF-8, and names that are nothing, in the "C" locale of the test.
TEST(Archive, NamesThatAreNotAscii) {
  const std::string utf8 = "gr\xc3\xbc\xc3\x9f/\xe2\x82\xac.log";
  const std::string latin1 = "gr\xfc\xdf.log";
  for (int format : {kTar, kZip}) {
    Walk walk = WalkAll(MakeArchive(format, {{utf8, "1"}, {latin1, "2"}}));
    ASSERT_EQ(walk.members.size(), 2u) << walk.status.ToString();
    EXPECT_EQ(walk.members[0].member.name, utf8);
    EXPECT_EQ(walk.members[1].member.name, latin1);
  }
}

// The same with the flag that says UTF-8 (bit 11 of the flags of local headers).
TEST(Archive, ZipNamesMarkedAsUtf8) {
  const std::string utf8 = "gr\xc3\xbc\xc3\x9f.log";
  for (const std::string& name : {utf8, std::string("gr\xfc\xdf.log")}) {
    std::string zip = MakeArchive(kZip, {{name, "1"}});
    zip[7] = static_cast<char>(zip[7] | 0x08);
    Walk walk = WalkAll(zip);
    ASSERT_EQ(walk.members.size(), 1u) << walk.status.ToString();
    EXPECT_EQ(walk.members[0].body.bytes, "1");
    EXPECT_EQ(walk.members[0].member.name, name == utf8 ? utf8 : "member-1");
  }
}

TEST(Archive, PaxNamesInUtf8) {
  // A pax header by hand: the writer of libarchive would need a UTF-8 locale.
  const std::string name = "gr\xc3\xbc\xc3\x9f.log";
  const std::string record = "19 path=" + name + "\n";
  ASSERT_EQ(record.size(), 19u);
  std::string header = MakeArchive(kTar, {{"h", record}}).substr(0, 1024);
  header[156] = 'x';
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < 512; ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(header[i]);
  }
  char octal[9];
  std::snprintf(octal, sizeof(octal), "%06o", sum);
  header.replace(148, 6, octal);
  Walk walk = WalkAll(header + MakeArchive(kTar, {{"short", "body"}}));
  ASSERT_EQ(walk.members.size(), 1u) << walk.status.ToString();
  EXPECT_EQ(walk.members[0].member.name, name);
  EXPECT_EQ(walk.members[0].body.bytes, "body");
}

TEST(Archive, ZipBomb) {
  std::vector<TestMember> members = {{"small", "x"}, {"bomb", std::string(50 << 20, '\0')}};
  for (bool size_known : {true, false}) {
    members[1].size_known = size_known;
    const std::string zip = MakeArchive(kZip, members);
    ASSERT_LT(zip.size(), 1u << 20);
    ArchiveLimits limits;
    limits.expansion.free_bytes = 1 << 20;
    limits.expansion.max_ratio = 100;
    Walk walk = WalkAll(zip, 1 << 20, limits);
    ASSERT_EQ(walk.members.size(), 2u);
    EXPECT_EQ(walk.members[1].body.status.code(), Code::kLimit);
    EXPECT_LT(walk.members[1].body.bytes.size(), 2u << 20);
    // A visitor that reads nothing is safe, too.
    TrickleStream in(zip, 1 << 20);
    Status status =
        WalkArchive(in, limits, [](const ArchiveMember&, ByteStream&) { return Status(); });
    EXPECT_EQ(status.code(), size_known ? Code::kOk : Code::kLimit) << status.ToString();
  }
}

TEST(Archive, ZipWithoutSizesInFront) {
  std::vector<TestMember> members = {{"a", SomeText(50'000)}, {"b", SomeText(100)}};
  for (TestMember& member : members) member.size_known = false;
  Walk walk = WalkAll(MakeArchive(kZip, members));
  ASSERT_TRUE(walk.status.ok()) << walk.status.ToString();
  ASSERT_EQ(walk.members.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(walk.members[i].member.size, -1);
    EXPECT_TRUE(walk.members[i].body.bytes == members[i].body) << i;
  }
}

TEST(Archive, ZipChecksumIsCheckedAndTheNextMemberComes) {
  std::string zip = MakeArchive(kZip, {{"a", SomeText(5000)}, {"b", "next"}});
  const size_t descriptor = zip.find("PK\7\x8");
  ASSERT_NE(descriptor, std::string::npos);
  zip[descriptor + 4] = static_cast<char>(zip[descriptor + 4] ^ 1);
  Walk walk = WalkAll(zip);
  ASSERT_EQ(walk.members.size(), 2u) << walk.status.ToString();
  EXPECT_TRUE(walk.members[0].body.bytes == SomeText(5000));
  EXPECT_EQ(walk.members[0].body.status.code(), Code::kInvalid);
  EXPECT_EQ(walk.members[1].body.bytes, "next");
  EXPECT_TRUE(walk.members[1].body.status.ok());
  EXPECT_TRUE(walk.status.ok()) << walk.status.ToString();
}

TEST(Archive, EncryptedMember) {
  const std::string zip = MakeArchive(kZip, {{"a", "secret body"}}, "zip:encryption=zipcrypt");
  Walk walk = WalkAll(zip);
  ASSERT_EQ(walk.members.size(), 1u);
  EXPECT_EQ(walk.members[0].body.bytes, "");
  EXPECT_EQ(walk.members[0].body.status.code(), Code::kUnsupported);
}

TEST(Archive, LooksLike) {
  EXPECT_FALSE(LooksLikeArchive(""));
  EXPECT_FALSE(LooksLikeArchive("PK"));
  EXPECT_FALSE(LooksLikeArchive(std::string(1024, '\0')));
  EXPECT_FALSE(LooksLikeArchive(SomeText(5000)));
  EXPECT_FALSE(LooksLikeArchive(Noise(5000)));
  // An old tar has no magic, only its checksum; the fields after it are zero.
  std::string old = MakeArchive(ARCHIVE_FORMAT_TAR_USTAR, {{"old.log", "text"}});
  std::fill(old.begin() + 257, old.begin() + 512, '\0');
  EXPECT_FALSE(LooksLikeArchive(old));
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < 512; ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(old[i]);
  }
  char octal[9];
  std::snprintf(octal, sizeof(octal), "%06o", sum);
  old.replace(148, 6, octal);
  EXPECT_TRUE(LooksLikeArchive(old));
  EXPECT_EQ(WalkAll(old).members.size(), 1u);
}

TEST(Archive, NotAnArchive) {
  EXPECT_FALSE(WalkAll(SomeText(5000)).status.ok());
  EXPECT_FALSE(WalkAll("").status.ok());
}

}  // namespace archive_test
}  // namespace debrief

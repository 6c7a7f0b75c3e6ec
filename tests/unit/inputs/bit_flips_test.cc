// Every bit of small packed files, flipped: nothing may crash, and what is read as whole must be
// what was packed.
#include <gtest/gtest.h>

#include <functional>

#include "base/bytes/archive.h"
#include "base/bytes/decompress.h"
#include "inputs/open_input.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace bit_flips_test {

using namespace std::string_view_literals;  // NOLINT
using testing::Drain;
using testing::Drained;
using testing::Gzip;
using testing::MakeArchive;
using testing::NotesOf;
using testing::SomeText;
using testing::TempFolder;
using testing::TestMember;
using testing::WriteBytes;
using testing::Zstd;

void ForEveryFlip(std::string bytes,
                  const std::function<void(const std::string& flipped, size_t bit)>& visit) {
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << bit % 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    visit(bytes, bit);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
  }
}

Drained Unpack(Packing packing, const std::string& bytes) {
  return Drain(
      *Decompress(packing, std::make_unique<testing::TrickleStream>(bytes, bytes.size() + 1), {}));
}

// What is packed stands in the name of the test: short streams end within what a decoder reads
// ahead.
TEST(BitFlips, ShortStreams) {
  for (size_t size : {0U, 1U, 5U, 11U, 16U, 40U, 300U}) {
    const std::string text = SomeText(size);
    for (Packing packing : {Packing::kGzip, Packing::kZstd}) {
      const std::string packed = packing == Packing::kGzip ? Gzip(text) : Zstd(text);
      ForEveryFlip(packed, [&](const std::string& flipped, size_t bit) {
        Drained drained = Unpack(packing, flipped);
        if (drained.status.ok()) {
          ASSERT_EQ(drained.bytes, text) << size << " bytes, bit " << bit;
        }
      });
    }
  }
}

// Two of which one bit is wrong; they ended the program.
TEST(BitFlips, GzipThatBreaksInWhatIsReadAhead) {
  const std::string_view packed[] = {
      "\x1f\x8b\x08\0\xba\x41\xfa\x6a\x04\xff\x4b\x4e\x4c\xce\x58\x4d\x51\x48\x86\x50\x29\xf9\0\x70"
      "\x78\x0b\x9a\x10\0\0\0"sv,
      "\x1f\x8b\x08\0\x9f\x39\xfa\x6a\x02\xff\x4b\x4e\x2c\x4e\x55\x48\x4e\x4c\xde\x48\x55\x48\xc9"
      "\xcf"
      "\x4b\xe5\x02\0\x62\x91\x24\x60\x10\0\0\0"sv};
  for (std::string_view one : packed)
    EXPECT_FALSE(Unpack(Packing::kGzip, std::string(one)).status.ok());
}

struct Walked {
  std::vector<TestMember> whole;  // members whose body came to its end
  Status status;
};

// As FindInputs does it: all members, then the stream to its end.
Walked Walk(Packing packing, const std::string& bytes) {
  Walked walked;
  auto stream =
      Decompress(packing, std::make_unique<testing::TrickleStream>(bytes, bytes.size() + 1), {});
  walked.status = WalkArchive(*stream, {}, [&](const ArchiveMember& member, ByteStream& body) {
    Drained drained = Drain(body, 10'000);
    if (drained.status.ok()) walked.whole.push_back({member.name, drained.bytes});
    return Status();
  });
  int64_t rest = 0;
  if (walked.status.ok()) walked.status = ReadToEnd(*stream, rest);
  return walked;
}

const std::vector<TestMember> kMembers = {{"a.log", SomeText(60)}, {"b/c.json", SomeText(20)}};

TEST(BitFlips, Tar) {
  ForEveryFlip(MakeArchive(ARCHIVE_FORMAT_TAR_USTAR, kMembers),
               [](const std::string& flipped, size_t) {
                 EXPECT_LE(Walk(Packing::kNone, flipped).whole.size(), kMembers.size());
               });
}

// A zip has a checksum a member. One bit makes a member look as if it had no size: it is empty
// then, which FindInputs reports.
TEST(BitFlips, Zip) {
  ForEveryFlip(MakeArchive(ARCHIVE_FORMAT_ZIP, kMembers),
               [](const std::string& flipped, size_t bit) {
                 for (const TestMember& member : Walk(Packing::kNone, flipped).whole) {
                   for (const TestMember& packed : kMembers) {
                     if (member.name == packed.name && !member.body.empty()) {
                       EXPECT_EQ(member.body, packed.body) << bit;
                     }
                   }
                 }
               });
}

TEST(BitFlips, PackedTar) {
  const std::string tar = MakeArchive(ARCHIVE_FORMAT_TAR_USTAR, kMembers);
  for (Packing packing : {Packing::kGzip, Packing::kZstd}) {
    ForEveryFlip(packing == Packing::kGzip ? Gzip(tar) : Zstd(tar),
                 [&](const std::string& flipped, size_t bit) {
                   Walked walked = Walk(packing, flipped);
                   if (!walked.status.ok()) return;
                   ASSERT_EQ(walked.whole.size(), kMembers.size()) << bit;
                   for (size_t i = 0; i < kMembers.size(); ++i)
                     EXPECT_EQ(walked.whole[i].body, kMembers[i].body) << bit;
                 });
  }
}

TEST(BitFlips, WrongChecksumOfTarGzIsTold) {
  TempFolder folder;
  std::string packed = Gzip(MakeArchive(ARCHIVE_FORMAT_TAR_USTAR, kMembers));
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  WriteBytes(folder.File("job.tar.gz"), packed);
  ThreadPool pool(1);
  SpillBudget budget;
  NoProgress progress;
  auto found = FindInputs({.paths = {folder.path()}}, pool, budget, progress);
  ASSERT_EQ(found.size(), kMembers.size() + 1);
  EXPECT_EQ(NotesOf(found.back()), "gzip.corrupt");
  EXPECT_EQ(found.back().state, InputState::kFailed);
}

}  // namespace bit_flips_test
}  // namespace debrief

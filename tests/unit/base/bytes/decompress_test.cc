#include "base/bytes/decompress.h"

#include <gtest/gtest.h>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace decompress_test {

using testing::Drain;
using testing::Drained;
using testing::Gzip;
using testing::Noise;
using testing::SomeText;
using testing::TrickleStream;
using testing::Zstd;

Drained Unpack(Packing packing, std::string bytes, size_t in_step = 1 << 20,
               size_t out_step = 1 << 20, ExpansionLimits limits = {}) {
  auto in = std::make_unique<TrickleStream>(std::move(bytes), in_step);
  return Drain(*Decompress(packing, std::move(in), limits), out_step);
}

struct Kind {
  Packing packing;
  std::string (*pack)(std::string_view);
};

class Unpacking : public ::testing::TestWithParam<Kind> {
 protected:
  std::string Pack(std::string_view text) { return GetParam().pack(text); }
  Drained Open(std::string bytes, size_t in_step = 1 << 20, size_t out_step = 1 << 20) {
    return Unpack(GetParam().packing, std::move(bytes), in_step, out_step);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Both, Unpacking, ::testing::Values(Kind{Packing::kGzip, &Gzip}, Kind{Packing::kZstd, &Zstd}),
    [](const auto& info) { return info.param.packing == Packing::kGzip ? "Gzip" : "Zstd"; });

TEST_P(Unpacking, AllSizesOfBuffers) {
  const std::string text = SomeText(700'000) + Noise(100'000) + std::string(600'000, 'z');
  const std::string packed = Pack(text);
  ASSERT_EQ(DetectPacking(packed), GetParam().packing);
  for (size_t in_step : {size_t{7}, size_t{1000}, size_t{1} << 20}) {
    for (size_t out_step : {size_t{13}, size_t{4096}, size_t{256} << 10, size_t{4} << 20}) {
      Drained drained = Open(packed, in_step, out_step);
      ASSERT_TRUE(drained.status.ok()) << drained.status.ToString();
      ASSERT_TRUE(drained.bytes == text) << in_step << " " << out_step;
    }
  }
}

TEST_P(Unpacking, SeveralMembers) {
  std::string packed;
  std::string text;
  for (size_t size : std::vector<size_t>{0, 1, 300'000, 0, 5, 100}) {
    packed += Pack(SomeText(size));
    text += SomeText(size);
  }
  for (size_t in_step = 1; in_step < 20; ++in_step) {
    Drained drained = Open(packed, in_step);
    ASSERT_TRUE(drained.status.ok()) << drained.status.ToString();
    ASSERT_TRUE(drained.bytes == text);
  }
}

TEST_P(Unpacking, NothingIsTruncated) { EXPECT_EQ(Open("").status.code(), Code::kTruncated); }

// Cut at every byte: what comes is a beginning of the text, more of it the later the cut.
TEST_P(Unpacking, CutEverywhere) {
  const std::string text = SomeText(1200);
  const std::string packed = Pack(text);
  const std::string twice = packed + packed;
  size_t before = 0;
  for (size_t cut = 0; cut < twice.size(); ++cut) {
    Drained drained = Open(twice.substr(0, cut));
    if (cut == packed.size()) {
      ASSERT_TRUE(drained.status.ok());
    } else {
      ASSERT_EQ(drained.status.code(), Code::kTruncated) << cut;
      ASSERT_EQ(drained.status.place().offset, static_cast<int64_t>(cut));
    }
    ASSERT_TRUE((text + text).starts_with(drained.bytes));
    ASSERT_GE(drained.bytes.size(), before);
    before = drained.bytes.size();
    ASSERT_EQ(Open(twice.substr(0, cut), 1, 1).bytes, drained.bytes) << cut;
  }
  // Deflate gives single bytes, zstd a block when all of it is there.
  EXPECT_GE(before, GetParam().packing == Packing::kGzip ? 2 * text.size() : text.size());
}

TEST(Gzip, CutLongStreamGivesNearlyAll) {
  const std::string text = SomeText(2'000'000);
  const std::string packed = Gzip(text);
  Drained drained = Unpack(Packing::kGzip, packed.substr(0, packed.size() - 20));
  EXPECT_EQ(drained.status.code(), Code::kTruncated);
  EXPECT_GT(drained.bytes.size(), text.size() - 200);
  EXPECT_TRUE(text.starts_with(drained.bytes));
}

TEST_P(Unpacking, FlippedEverywhere) {
  const std::string text = SomeText(500);
  const std::string packed = Pack(text) + Pack(text);
  int found = 0;
  for (size_t i = 0; i < packed.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = packed;
      broken[i] = static_cast<char>(broken[i] ^ (1 << bit));
      Drained drained = Open(broken, bit == 0 ? 3 : 1 << 20, bit == 1 ? 3 : 1 << 20);
      ASSERT_LT(drained.bytes.size(), 1u << 20);
      if (!drained.status.ok()) ++found;
    }
  }
  EXPECT_GT(found, static_cast<int>(packed.size()) * 4);
}

// What is good before the broken byte is delivered, however small the buffers of the caller are.
TEST_P(Unpacking, BrokenInTheMiddle) {
  const std::string text = SomeText(4'000'000);
  std::string packed = Pack(text);
  for (size_t i = packed.size() / 2; i < packed.size() / 2 + 40; ++i) packed[i] = '\xff';
  for (size_t out_step : {size_t{100}, size_t{256} << 10, size_t{1} << 20}) {
    Drained drained = Open(packed, 1 << 20, out_step);
    EXPECT_EQ(drained.status.code(), Code::kInvalid);
    EXPECT_GT(drained.bytes.size(), text.size() / 4);
    EXPECT_GT(drained.status.place().offset, 0);
  }
}

TEST(Gzip, ChecksumIsChecked) {
  std::string packed = Gzip("hello world");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);
  Drained drained = Unpack(Packing::kGzip, packed);
  EXPECT_EQ(drained.bytes, "hello world");
  EXPECT_EQ(drained.status.code(), Code::kInvalid);
  EXPECT_NE(drained.status.message().find("checksum"), std::string::npos);
  packed = Gzip("hello world");
  packed[packed.size() - 2] = '\x01';  // the length
  EXPECT_EQ(Unpack(Packing::kGzip, packed).status.code(), Code::kInvalid);
}

TEST(Gzip, WhatMayFollow) {
  const std::string packed = Gzip("hello");
  for (size_t step : {size_t{1}, size_t{1} << 20}) {
    Drained padded = Unpack(Packing::kGzip, packed + std::string(700'000, '\0'), step);
    EXPECT_TRUE(padded.status.ok()) << padded.status.ToString();
    EXPECT_EQ(padded.bytes, "hello");
    std::string apart = packed;
    apart.append(10, '\0').append(packed);
    Drained more = Unpack(Packing::kGzip, apart, step);
    EXPECT_TRUE(more.status.ok());
    EXPECT_EQ(more.bytes, "hellohello");
    for (const char* junk : {"garbage", "\x1fgarbage and more", "\x1f\x8bgarbage and more of it"}) {
      Drained garbage = Unpack(Packing::kGzip, packed + junk, step);
      EXPECT_EQ(garbage.bytes, "hello");
      EXPECT_EQ(garbage.status.code(), Code::kInvalid) << junk;
    }
  }
}

// Header fields that gzip(1) writes: name, comment, extra field, header checksum.
TEST(Gzip, HeaderFields) {
  const std::string plain = Gzip("hello");
  std::string header = plain.substr(0, 10);
  header[3] = '\x1c';  // extra, name, comment
  header += std::string("\x05\0", 2) + "12345" + std::string("a.log\0why\0", 10);
  for (size_t step : {size_t{1}, size_t{2}, size_t{100}}) {
    Drained drained = Unpack(Packing::kGzip, header + plain.substr(10), step);
    EXPECT_TRUE(drained.status.ok()) << drained.status.ToString();
    EXPECT_EQ(drained.bytes, "hello");
  }
  std::string name = plain.substr(0, 10);
  name[3] = '\x08';
  name += std::string(1'000'000, 'n');  // a name that never ends
  EXPECT_EQ(Unpack(Packing::kGzip, name).status.code(), Code::kTruncated);
}

TEST(Zstd, SkippableFrames) {
  const std::string skip = std::string("\x5a\x2a\x4d\x18\x04\0\0\0", 8) + "skip";
  EXPECT_EQ(DetectPacking(skip), Packing::kZstd);
  Drained drained = Unpack(Packing::kZstd, skip + Zstd("hello ") + skip + Zstd("world") + skip, 3);
  EXPECT_TRUE(drained.status.ok()) << drained.status.ToString();
  EXPECT_EQ(drained.bytes, "hello world");
}

TEST(Zstd, GarbageAfter) {
  Drained drained = Unpack(Packing::kZstd, Zstd("hello") + "garbage");
  EXPECT_EQ(drained.bytes, "hello");
  EXPECT_EQ(drained.status.code(), Code::kInvalid);
}

TEST(Zstd, HugeWindowIsRefused) {
  // Magic, descriptor without content size, window descriptor 2^31, an empty last raw block.
  const std::string frame("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9);
  EXPECT_EQ(Unpack(Packing::kZstd, frame).status.code(), Code::kLimit);
}

TEST_P(Unpacking, BombStops) {
  const std::string bomb = Pack(std::string(200 << 20, '\0'));
  ExpansionLimits limits;
  limits.free_bytes = 1 << 20;
  limits.max_ratio = 50;
  Drained drained = Unpack(GetParam().packing, bomb, 100, 1 << 20, limits);
  EXPECT_EQ(drained.status.code(), Code::kLimit);
  EXPECT_LT(drained.bytes.size(), 3u << 20);
  limits.max_ratio = 1'000'000;
  limits.max_bytes = 10 << 20;
  drained = Unpack(GetParam().packing, bomb, 1 << 20, 1000, limits);
  EXPECT_EQ(drained.status.code(), Code::kLimit);
  EXPECT_LE(drained.bytes.size(), 11u << 20);
}

TEST_P(Unpacking, ErrorOfTheInputComesThrough) {
  const std::string text = SomeText(100'000);
  const std::string packed = Pack(text);
  auto in = std::make_unique<TrickleStream>(packed.substr(0, packed.size() - 10), 100,
                                            Status(Code::kIo, "disk on fire"));
  Drained drained = Drain(*Decompress(GetParam().packing, std::move(in), {}));
  EXPECT_EQ(drained.status.message(), "disk on fire");
  EXPECT_TRUE(text.starts_with(drained.bytes));
}

TEST(Packing, Detect) {
  EXPECT_EQ(DetectPacking(""), Packing::kNone);
  EXPECT_EQ(DetectPacking("\x1f"), Packing::kNone);
  EXPECT_EQ(DetectPacking("{\"a\""), Packing::kNone);
  EXPECT_EQ(Unpack(Packing::kNone, "as it is").bytes, "as it is");
  EXPECT_EQ(Unpack(Packing::kGzip, "no gzip at all").status.code(), Code::kInvalid);
  EXPECT_EQ(Unpack(Packing::kZstd, "no zstd at all").status.code(), Code::kInvalid);
}

}  // namespace decompress_test
}  // namespace debrief

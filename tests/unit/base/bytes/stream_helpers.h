// Packed bytes, awkward streams and readers for the tests of base/'s input.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/byte_stream.h"
#include "base/paths.h"

namespace debrief::testing {

// Gives at most `step` bytes a call, then `end`.
class TrickleStream final : public ByteStream {
 public:
  TrickleStream(std::string bytes, size_t step, Status end = {})
      : bytes_(std::move(bytes)), step_(step), end_(std::move(end)) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    const size_t count = std::min({capacity, step_, bytes_.size() - used_});
    if (count == 0 && !end_.ok()) return end_;
    bytes_.copy(out, count, used_);
    used_ += count;
    return count;
  }

 private:
  std::string bytes_;
  size_t step_;
  size_t used_ = 0;
  Status end_;
};

struct Drained {
  std::string bytes;
  Status status;
};

// Reads to the end with calls of `step` bytes, checking that nothing is written past the buffer and
// that the end stays the end.
inline Drained Drain(ByteStream& in, size_t step = 1 << 20) {
  constexpr char kCanary = '\x5a';
  Drained drained;
  std::string buffer(step + 64, kCanary);
  for (;;) {
    Result<size_t> got = in.Read(buffer.data(), step);
    EXPECT_EQ(buffer.find_first_not_of(kCanary, step), std::string::npos);
    if (got.ok() && got.value() > 0) {
      EXPECT_LE(got.value(), step);
      drained.bytes.append(buffer, 0, got.value());
      continue;
    }
    if (!got.ok()) drained.status = got.status();
    Result<size_t> again = in.Read(buffer.data(), step);
    EXPECT_EQ(again.ok(), got.ok());
    if (again.ok()) {
      EXPECT_EQ(again.value(), 0u);
    } else {
      EXPECT_EQ(again.status().code(), got.status().code());
    }
    return drained;
  }
}

// Text of lines that packs about as well as a log.
inline std::string SomeText(size_t bytes) {
  std::string text;
  uint32_t state = 12345;
  while (text.size() < bytes) {
    state = state * 1664525 + 1013904223;
    text +=
        "{\"rank\": " + std::to_string(state >> 28) + ", \"t\": " + std::to_string(state) + "}\n";
  }
  text.resize(bytes);
  return text;
}

inline std::string Noise(size_t bytes) {
  std::string noise(bytes, '\0');
  uint64_t state = 88172645463325252u;
  for (char& byte : noise) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    byte = static_cast<char>(state >> 32);
  }
  return noise;
}

// One gzip member.
inline std::string Gzip(std::string_view text) {
  auto stream = std::make_unique<isal_zstream>();
  isal_deflate_init(stream.get());
  std::vector<uint8_t> level(ISAL_DEF_LVL1_DEFAULT);
  stream->level = 1;
  stream->level_buf = level.data();
  stream->level_buf_size = static_cast<uint32_t>(level.size());
  stream->gzip_flag = IGZIP_GZIP;
  stream->end_of_stream = 1;
  stream->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  stream->avail_in = static_cast<uint32_t>(text.size());
  std::string packed(text.size() + text.size() / 8 + 4096, '\0');
  stream->next_out = reinterpret_cast<uint8_t*>(packed.data());
  stream->avail_out = static_cast<uint32_t>(packed.size());
  EXPECT_EQ(isal_deflate(stream.get()), COMP_OK);
  packed.erase(stream->total_out);
  return packed;
}

// One zstd frame with a checksum.
inline std::string Zstd(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

struct TestMember {
  std::string name;
  std::string body;
  mode_t type = AE_IFREG;
  bool size_known = true;
};

// A tar or zip of `members`; `format` is one of libarchive's ARCHIVE_FORMAT_*.
inline std::string MakeArchive(int format, const std::vector<TestMember>& members,
                               const char* options = nullptr) {
  struct archive* out = archive_write_new();
  archive_write_set_format(out, format);
  if (options != nullptr) {
    EXPECT_EQ(archive_write_set_options(out, options), ARCHIVE_OK);
    archive_write_set_passphrase(out, "secret");
  }
  archive_write_set_bytes_per_block(out, 0);
  std::string bytes;
  auto write = [](struct archive*, void* to, const void* data, size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), size);
    return static_cast<la_ssize_t>(size);
  };
  EXPECT_EQ(archive_write_open(out, &bytes, nullptr, write, nullptr), ARCHIVE_OK);
  for (const TestMember& member : members) {
    archive_entry* entry = archive_entry_new();
    archive_entry_copy_pathname(entry, member.name.c_str());
    archive_entry_set_filetype(entry, member.type);
    archive_entry_set_perm(entry, 0644);
    if (member.type == AE_IFLNK) archive_entry_copy_symlink(entry, "elsewhere");
    if (member.size_known)
      archive_entry_set_size(entry, static_cast<la_int64_t>(member.body.size()));
    EXPECT_GE(archive_write_header(out, entry), ARCHIVE_WARN) << archive_error_string(out);
    archive_write_data(out, member.body.data(), member.body.size());
    archive_entry_free(entry);
  }
  archive_write_free(out);
  return bytes;
}

// A folder that is removed with everything in it.
class TempFolder : public ScratchFolder {
 public:
  TempFolder() : ScratchFolder(::testing::TempDir() + "/debrief-test-") {}

  std::string File(std::string_view name) const { return path() + "/" + std::string(name); }
};

}  // namespace debrief::testing
